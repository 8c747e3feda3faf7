// SPDX-License-Identifier: Apache-2.0
// Every way to pass arguments that a tail call to another body must keep: variadic, structures by value and returned,
// many arguments, long double, vectors, function pointers, recursion.
#include <complex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct Big {
  long a[9];
  double d;
};
struct Small {
  int x;
  float y;
};
struct Mixed {
  double d;
  char c;
  short s[3];
};
typedef int Vector __attribute__((vector_size(16)));
typedef float Wide __attribute__((vector_size(32)));

int global_sum;

static double sum(const char *kinds, ...) {
  va_list list, copy;
  va_start(list, kinds);
  va_copy(copy, list);
  double result = 0;
  for (const char *k = kinds; *k; ++k) {
    if (*k == 'i') result += va_arg(list, int);
    if (*k == 'd') result += va_arg(list, double);
    if (*k == 'l') result += va_arg(list, long);
    if (*k == 'L') result += (double)va_arg(list, long double);
    if (*k == 'b') result += va_arg(list, struct Big).a[8];
  }
  if (*kinds == 'i') global_sum += va_arg(copy, int);
  va_end(copy);
  va_end(list);
  return result;
}
static void show(char *out, size_t n, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(out, n, format, list);
  va_end(list);
}
struct Big make(int v) {
  struct Big b;
  memset(&b, 0, sizeof b);
  for (int i = 0; i < 9; ++i) b.a[i] = v * i;
  b.d = v / 2.0;
  return b;
}
long use(struct Big b, struct Small s, struct Mixed m, struct Big *p) {
  b.a[0] += 100;
  p->a[1] += s.x;
  return b.a[0] + b.a[8] + s.x + (long)s.y + (long)m.d + m.c + m.s[2] + p->a[1];
}
struct Small pair(int x, float y) {
  struct Small s = {x, y};
  return s;
}
struct Mixed mixed(double d) {
  struct Mixed m = {d, 'x', {1, 2, 3}};
  return m;
}
long many(long a, long b, long c, long d, long e, long f, long g, long h, double i, double j, double k,
          double l, double m, double n, double o, double p, double q, int r) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h +
         (long)(i + j + k + l + m + n + o + p + q) + r;
}
long double wide(long double x, long double *y) {
  *y += x;
  return *y * 2;
}
Vector add(Vector a, Vector *b) {
  *b = *b + a;
  return *b;
}
Wide add8(Wide a, Wide *b) {
  *b = *b + a;
  return *b;
}
double complex turn(double complex z, double complex *w) {
  *w *= z;
  return *w;
}
__int128 shift(__int128 v, __int128 *slot) {
  *slot = v << 70;
  return *slot >> 3;
}
_Bool flip(_Bool *b) {
  *b = !*b;
  return *b;
}
unsigned char narrow(signed char *c, unsigned short *s) {
  *c = (signed char)(*c - 1);
  *s += 40000;
  return (unsigned char)*c;
}

struct Bits {
  unsigned a : 3, b : 9, c : 20;
  long d : 40;
} bits;
static int ackermann(int m, int n) {
  global_sum++;
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
static int (*table[3])(int, int) = {ackermann, ackermann, ackermann};

int main(void) {
  char text[64];
  printf("%.1f %d\n", sum("idlLb", 1, 2.5, 3L, 4.25L, make(5)), global_sum);
  show(text, sizeof text, "%d %s %.2f %c %ld", 1, "two", 3.0, '4', 5L);
  puts(text);
  struct Big big = make(3), other = make(7);
  struct Mixed m = mixed(9.5);
  printf("%ld %ld\n", use(big, pair(4, 5.5f), m, &other), other.a[1]);
  printf("%ld\n", many(1, 2, 3, 4, 5, 6, 7, 8, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10));
  long double y = 1.5L;
  printf("%.2Lf\n", wide(2.25L, &y));
  Vector v = {1, 2, 3, 4}, w = {10, 20, 30, 40};
  v = add(v, &w);
  printf("%d %d %d %d\n", v[0], v[1], v[2], w[3]);
  Wide e = {1, 2, 3, 4, 5, 6, 7, 8}, f = e;
  e = add8(e, &f);
  printf("%g %g\n", e[0], f[7]);
  double complex z = 1 + 2 * I;
  double complex t = turn(3 - 1 * I, &z);
  printf("%g %g\n", creal(t), cimag(z));
  __int128 slot;
  printf("%llx\n", (unsigned long long)(shift(0x123456789, &slot) >> 60));
  _Bool b = 0;
  signed char c = -128;
  unsigned short s = 30000;
  printf("%d %d %d %d\n", flip(&b), b, narrow(&c, &s), s);
  bits.a = 5;
  bits.b = 300;
  bits.c = 70000;
  bits.d = -3;
  bits.b += bits.a;
  printf("%d %d %d %ld\n", bits.a, bits.b, bits.c, (long)bits.d);
  global_sum = 0;
  printf("%d %d\n", table[global_sum % 3](2, 5), global_sum);
  struct {
    char pad;
    int v[2];
    long l;
  } __attribute__((packed)) packed[3];
  memset(packed, 1, sizeof packed);
  for (int i = 0; i < 3; ++i) {
    packed[i].v[1] += i;
    packed[i].l ^= packed[i].v[1];
  }
  memmove(&packed[1], &packed[0], sizeof packed[0] * 2);
  printf("%d %lx %lx\n", packed[2].v[1], packed[1].l, packed[2].l);
  return 0;
}
