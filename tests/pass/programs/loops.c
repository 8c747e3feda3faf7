// SPDX-License-Identifier: Apache-2.0
// Loops whose checks are gathered into ranges: up, down, unrolled, stencils, empty, nested, with early exits.
// The test runtime touches both ends of each range, so a range that is too long crashes at the guard page.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline))

/// n bytes that end exactly where unmapped memory begins, after unmapped memory.
static void *guarded(size_t n) {
  size_t pages = (n + 4095) / 4096 * 4096;
  char *p = mmap(NULL, pages + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(p + 4096, pages, PROT_READ | PROT_WRITE);
  return p + 4096 + pages - n;
}

NOINLINE void up(int *a, long n) {
  for (long i = 0; i < n; ++i) a[i] = (int)i;
}
NOINLINE void down(short *a, int n) {
  for (int i = n; i-- > 0;) a[i] = (short)(a[i] + i);
}
NOINLINE long total(const unsigned char *a, unsigned n) {
  long s = 0;
  while (n--) s += *a++;
  return s;
}
NOINLINE void stencil(double *to, const double *from, int n) {
  for (int i = 1; i < n - 1; ++i) to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
}
NOINLINE void relax(double *a, int n) {
  for (int i = 1; i < n - 1; ++i) a[i] = (a[i - 1] + a[i + 1]) * 0.5;
}
NOINLINE int find(const int *a, int n, int v) {
  for (int i = 0; i < n; ++i)
    if (a[i] == v) return i;
  return -1;
}
NOINLINE void pairs(
    struct {
      int x;
      int y;
    } * p,
    int n) {
  for (int i = 0; i < n; ++i) {
    p[i].x = i;
    p[i].y += p[i].x;
  }
}
NOINLINE void strided(int *a, int n, int step) {
  for (int i = 0; i < n; i += step) a[i] += step;
}
NOINLINE void fixed(int *count, const int *a, int n) {
  for (int i = 0; i < n; ++i) *count += a[i] & 1;
}
NOINLINE void maybe(int *a, const int *b, int n) {
  for (int i = 0; i < n; ++i)
    if (b[i] & 1) a[i] = b[i];
}
NOINLINE void matrix(double *c, const double *a, const double *b, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int k = 0; k < n; ++k) s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
}
NOINLINE long header_exit(int *a, int *limit) {
  long s = 0;
  for (int i = 0; i < *limit; ++i) {
    s += a[i];
    a[i] = 0;
  }
  return s;
}
NOINLINE void reverse_copy(char *to, const char *from, long n) {
  for (long i = 0; i < n; ++i) to[n - 1 - i] = from[i];
}
NOINLINE void overlapping(unsigned char *p, int n) {
  for (int i = 0; i + 8 <= n; ++i) {
    long v;
    memcpy(&v, p + i, 8);
    p[i] ^= (unsigned char)(v >> 56);
  }
}

int main(void) {
  long check = 0;
  for (int n = 0; n < 70; n += (n < 20 ? 1 : 13)) {
    int *a = guarded(n * sizeof(int));
    up(a, n);
    short *s = guarded(n * sizeof(short));
    down(s, n);
    down(s, n);
    unsigned char *b = guarded(n);
    for (int i = 0; i < n; ++i) b[i] = (unsigned char)(i * 7);
    check = check * 31 + total(b, n);
    double *d = guarded(n * sizeof(double)), *e = guarded(n * sizeof(double));
    for (int i = 0; i < n; ++i) {
      d[i] = i;
      e[i] = 0;
    }
    stencil(e, d, n);
    relax(d, n);
    for (int i = 0; i < n; ++i) check += (long)(d[i] * 8 + e[i] * 3);
    check = check * 31 + find(a, n, n / 2) + find(a, n, 1000);
    void *p = guarded(n * 8);
    memset(p, 1, n * 8);
    pairs(p, n);
    for (int i = 0; i < n; ++i) check += ((int *)p)[2 * i + 1];
    strided(a, n, 3);
    int *count = guarded(sizeof(int));
    fixed(count, a, n);
    int *m = guarded(n * sizeof(int));
    maybe(m, a, n);
    check = check * 31 + *count + (n ? s[n - 1] + m[n - 1] : 0);
    int *limit = guarded(sizeof(int));
    *limit = n;
    check += header_exit(a, limit);
    char *r = guarded(n);
    reverse_copy(r, (char *)b, n);
    overlapping(b, n);
    for (int i = 0; i < n; ++i) check += r[i] * i + b[i];
    if (n < 30) {
      double *x = guarded(n * n * 8), *y = guarded(n * n * 8), *z = guarded(n * n * 8);
      for (int i = 0; i < n * n; ++i) {
        x[i] = i % 5;
        y[i] = i % 3;
      }
      matrix(z, x, y, n);
      for (int i = 0; i < n * n; ++i) check += (long)z[i];
    }
    printf("%d %ld\n", n, check);
  }
  return 0;
}
