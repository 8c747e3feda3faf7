// SPDX-License-Identifier: Apache-2.0
//
// A list element is looked up, then used; another thread removes it in between. Or a worker finds the queue
// open and puts something in when it is closed.
//
// BUG free_while_used: -DLOOKUP
// BUG closed_while_used: -DQUEUE
// CORRECT closed_under_lock: -DLOCKED
#include <cstdlib>

#include "parallel.h"

static std::mutex mutex;
static int* element = new int(1);
static std::atomic<bool> closed;
static std::atomic<int> late;

static void use() {
#ifdef LOOKUP
  mutex.lock();
  int* found = element;
  mutex.unlock();
  if (found != nullptr && *found != 1) abort();
#elif defined(QUEUE)
  if (closed) return;
  mutex.lock();
  if (closed) ++late;
  mutex.unlock();
#else
  Guard guard(mutex);
  if (!closed && late != 0) abort();
#endif
}

static void take_away() {
  Guard guard(mutex);
  closed = true;
  *element = -1;
  int* old = element;
  element = nullptr;
  delete old;
}

int main() {
  in_parallel(use, use, take_away);
  assert(late == 0);
}
