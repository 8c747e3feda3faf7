// SPDX-License-Identifier: Apache-2.0
// Control flow that a second body makes hard: setjmp and longjmp, computed goto, inline assembly with labels,
// asm goto, switch tables, tail recursion.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf point;
static volatile int steps;
int shared[8];

static void deep(int n) {
  shared[n & 7]++;
  if (n == 0) longjmp(point, 3);
  deep(n - 1);
  shared[0] = -1;
}

static int jump(void) {
  int volatile tries = 0;
  int got = setjmp(point);
  if (got != 0 && tries > 4) return got + tries;
  tries = tries + 1;
  deep(tries * 5);
  return -1;
}

/// A byte-code interpreter with a table of labels.
static long interpret(const unsigned char *code, long *memory) {
  static void *const labels[] = {&&add, &&store, &&load, &&loop, &&stop};
  long a = 0;
  const unsigned char *pc = code;
#define NEXT goto *labels[*pc++]
  NEXT;
add:
  a += *pc++;
  NEXT;
store:
  memory[*pc++] = a;
  NEXT;
load:
  a = memory[*pc++];
  NEXT;
loop:
  if (--memory[pc[0]] > 0)
    pc = code + pc[1];
  else
    pc += 2;
  NEXT;
stop:
  return a;
}

static int assembly(int x, int *p) {
  int r;
  __asm__ volatile("duress_test_label: leal 3(%1), %0\n\t1: testl %0, %0\n\tjs 1b" : "=r"(r) : "r"(x) : "cc");
  __asm__("addl %1, %0" : "+m"(*p) : "r"(r) : "cc");
  return r;
}

static int asm_goto(int x, int *p) {
  __asm__ goto("testl %0, %0\n\tjs %l1" : : "r"(x) : "cc" : negative);
  *p += 1;
  return 1;
negative:
  *p -= 1;
  return -1;
}

static int sw(int v, int *counts) {
  switch (v) {
    case 0:
      counts[0]++;
      return 10;
    case 1:
      counts[1] += 2;  // fall through
    case 2:
      counts[2] += 3;
      return 20;
    case 3:
      counts[0] = counts[1];
      return 30;
    case 9:
      return counts[2];
    default:
      return -1;
  }
}

static int loops(int *p, int n) {
  return n == 0 ? *p : (*p += n, loops(p, n - 1));
}

static void on_signal(int number) {
  steps = steps + number;
  shared[7]++;
}

int main(void) {
  printf("%d\n", jump());
  for (int i = 0; i < 8; ++i) printf("%d ", shared[i]);
  unsigned char code[] = {0, 5, 1, 0, 0, 7, 3, 1, 4, 2, 0, 0, 1, 4};
  long memory[4] = {0, 6, 0, 0};
  printf("\n%ld %ld %ld\n", interpret(code, memory), memory[0], memory[1]);
  int value = 4;
  printf("%d %d\n", assembly(10, &value), value);
  printf("%d %d %d\n", asm_goto(5, &value), asm_goto(-5, &value), value);
  int counts[3] = {0, 0, 0};
  for (int i = -1; i < 11; ++i) printf("%d ", sw(i, counts));
  printf("\n%d\n", loops(&value, 1000));
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  raise(SIGUSR1);
  printf("%d\n", steps == 2 * SIGUSR1);
  return 0;
}
