// SPDX-License-Identifier: Apache-2.0
//
// Mutual exclusion with plain variables, by Peterson, Dekker and Szymanski: right if memory is sequentially consistent, and
// each waits for plain variables.
//
// RUN-ARGS: 0
// RUN-ARGS: 1
// RUN-ARGS: 2
// EXPECT-NO-FAILURE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int algorithm;
static int flag[2], turn, inside;

static void peterson(int me) {
  flag[me] = 1;
  turn = 1 - me;
  while (flag[1 - me] && turn == 1 - me) {
  }
}

static void dekker(int me) {
  flag[me] = 1;
  while (flag[1 - me]) {
    if (turn == me) continue;
    flag[me] = 0;
    while (turn != me) {
    }
    flag[me] = 1;
  }
}

static void szymanski(int me) {
  flag[me] = 1;
  while (flag[1 - me] >= 3) {
  }
  flag[me] = 3;
  if (flag[1 - me] == 1) {
    flag[me] = 2;
    while (flag[1 - me] != 4) {
    }
  }
  flag[me] = 4;
  while (me == 1 && flag[0] >= 2) {
  }
}

static void enter(int me) {
  if (algorithm == 0) peterson(me);
  if (algorithm == 1) dekker(me);
  if (algorithm == 2) szymanski(me);
}

static void leave(int me) {
  // Who comes later and stands behind the door must have passed it. One read: it may go from 3 to 2 between two.
  for (int other; algorithm == 2 && me == 0 && ((other = flag[1]) == 2 || other == 3);) {
  }
  if (algorithm == 1) turn = 1 - me;
  flag[me] = 0;
}

static void* thread(void* number) {
  int me = number != NULL;
  enter(me);
  ++inside;
  assert(inside == 1);
  --inside;
  leave(me);
  return NULL;
}

int main(int argc, char** argv) {
  algorithm = argc > 1 ? atoi(argv[1]) : 0;
  pthread_t a, b;
  pthread_create(&a, NULL, thread, NULL);
  pthread_create(&b, NULL, thread, &flag);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  return 0;
}
