// SPDX-License-Identifier: Apache-2.0
//
// A block is larger than what was asked for, and a program may use all of it. What another thread did to those bytes
// while they belonged to a block that it freed is no race with the new block.
//
// EXPECT-NO-RACE
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "invisible_barrier.h"

enum { kBlocks = 200 };
static void* blocks[kBlocks];
static int freed = 0;

static void* free_all(void* unused) {
  for (int i = 0; i < kBlocks; i++) free(blocks[i]);
  invisible_signal(&freed);
  return unused;
}

int main(void) {
  for (int i = 0; i < kBlocks; i++) {
    blocks[i] = malloc(3000);
    memset(blocks[i], 1, malloc_usable_size(blocks[i]));
  }
  pthread_t thread;
  pthread_create(&thread, 0, free_all, 0);
  invisible_wait(&freed, 1);
  for (int i = 0; i < kBlocks; i++) {
    char* p = malloc(20 + i % 64);
    memset(p, 2, malloc_usable_size(p));
    p = realloc(p, 30 + i % 64);
    memset(p, 3, malloc_usable_size(p));
  }
  pthread_join(thread, 0);
  return 0;
}
