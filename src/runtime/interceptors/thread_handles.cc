// SPDX-License-Identifier: Apache-2.0
#include "runtime/interceptors/thread_handles.h"

#include <atomic>

#include "base/arena.h"
#include "runtime/interceptors/real.h"

namespace duress {
namespace {

constexpr u32 kBuckets = 1024;

constinit SpinLock handles_lock;
constinit Arena arena;
constinit ThreadHandle* buckets[kBuckets];
constinit u32 on_their_way = 0;  // made, neither enrolled nor abandoned
constinit u32 waiting = 0;       // for one of these, in find_handle()
constinit std::atomic<u32> arrivals{0};

ThreadHandle** bucket_of(pthread_t id) {
  return &buckets[(id >> 8) * 0x9e3779b97f4a7c15u >> 54];
}
static_assert(kBuckets == 1u << (64 - 54));

// The rest is called with the lock held.
void release(ThreadHandle* handle) {
  if (--handle->references == 0) arena.free(handle, sizeof(ThreadHandle));
}

/// Whether somebody has to be woken, without the lock.
bool arrived() {
  --on_their_way;
  arrivals.fetch_add(1, std::memory_order_relaxed);
  return waiting != 0;
}

void unlist(ThreadHandle* handle) {
  if (!handle->listed) return;
  handle->listed = false;
  ThreadHandle** link = bucket_of(handle->id);
  while (*link != handle) link = &(*link)->next;
  *link = handle->next;
  release(handle);
}

}  // namespace

void lock_thread_handles() {
  handles_lock.lock();
}
void unlock_thread_handles() {
  handles_lock.unlock();
}
void forget_other_threads() {
  on_their_way = 0;
  waiting = 0;
  // A new thread may get the number of one that is not here any more, and would be taken for it.
  pthread_t self = pthread_self();
  for (ThreadHandle*& bucket : buckets) {
    for (ThreadHandle** link = &bucket; *link;) {
      ThreadHandle* handle = *link;
      if (handle->id == self) {
        link = &handle->next;
        continue;
      }
      *link = handle->next;
      handle->listed = false;
      release(handle);
    }
  }
}

ThreadHandle* make_handle(Thread* thread, bool detached) {
  auto* handle = arena.make<ThreadHandle>();
  handle->thread = thread;
  handle->detached = detached;
  SpinGuard guard(handles_lock);
  ++on_their_way;
  return handle;
}

void abandon_handle(ThreadHandle* handle) {
  bool wake;
  {
    SpinGuard guard(handles_lock);
    wake = arrived();
    release(handle);
  }
  if (wake) wake_all(arrivals);
}

void enroll_handle(ThreadHandle* handle, pthread_t id) {
  bool wake;
  {
    SpinGuard guard(handles_lock);
    wake = arrived();
    handle->listed = true;
    handle->id = id;
    ++handle->references;
    ThreadHandle** bucket = bucket_of(id);
    handle->next = *bucket;
    *bucket = handle;
  }
  if (wake) wake_all(arrivals);
}

/// Sleeps while threads are on their way: who joins a thread at once would else take the processor from it,
/// and on a busy machine for as long as the kernel lets it.
ThreadHandle* find_handle(pthread_t id) {
  for (bool slept = false;; slept = true) {
    u32 seen;
    {
      SpinGuard guard(handles_lock);
      if (slept) --waiting;
      ThreadHandle* handle = *bucket_of(id);
      while (handle && handle->id != id) handle = handle->next;
      if (handle) ++handle->references;
      if (handle || on_their_way == 0) return handle;
      ++waiting;
      seen = arrivals.load(std::memory_order_relaxed);
    }
    wait_while(arrivals, seen);
  }
}

void drop_handle(ThreadHandle* handle) {
  SpinGuard guard(handles_lock);
  release(handle);
}

void handle_joined(ThreadHandle* handle) {
  SpinGuard guard(handles_lock);
  unlist(handle);
}

void handle_detached(ThreadHandle* handle) {
  SpinGuard guard(handles_lock);
  handle->detached = true;
  if (handle->ended) unlist(handle);
}

void handle_ended(ThreadHandle* handle) {
  SpinGuard guard(handles_lock);
  handle->ended = true;
  if (handle->detached) unlist(handle);
}

}  // namespace duress
