// SPDX-License-Identifier: Apache-2.0
//
// C: the mutex is a member of the structure, and one function does not take it.
//
// FIX: hold
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct queue {
  pthread_mutex_t lock;
  int length;
};

static struct queue queue = {PTHREAD_MUTEX_INITIALIZER, 0};

static void push(struct queue *q) {
  pthread_mutex_lock(&q->lock);
  q->length++;
  pthread_mutex_unlock(&q->lock);
}

static void push_quickly(struct queue *q) {
  q->length++;
}

static void *work(void *ignored) {
  push(&queue);
  return ignored;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, work, NULL);
  push_quickly(&queue);
  pthread_join(other, NULL);
  assert(queue.length == 2);
  return 0;
}
