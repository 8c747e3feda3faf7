// SPDX-License-Identifier: Apache-2.0
//
// What the scheduler knows about synchronisation objects, by address: who waits there, who holds the lock.
// The real object (a pthread_mutex_t, a sem_t) keeps its own state; an entry exists only while it is used.
#pragma once

#include "base/arena.h"
#include "base/prng.h"
#include "sched/strand.h"

namespace duress::sched {

class WaitQueues {
 public:
  struct Object {
    uptr address;
    Object* next;   // in its bucket
    Strand* first;  // waiting, in order of arrival
    Strand* last;
    u32 waiting;
    u32 contenders;  // strands that have come to the lock and have not taken it yet
    Strand* holder;
    u32 depth;
  };

  explicit WaitQueues(Arena& arena) : arena_(arena) {}

  /// Null: nothing is known about it.
  Object* find(uptr address) const {
    Object* o = buckets_[mix(address) % kBuckets];
    while (o && o->address != address) o = o->next;
    return o;
  }
  Object& get(uptr address) {
    Object* known = find(address);
    return known ? *known : make(address);
  }
  void drop_if_unused(Object& o) {
    if (!o.waiting && !o.contenders && !o.holder) drop(o);
  }
  Strand* holder_of(uptr lock) const {
    Object* o = find(lock);
    return o ? o->holder : nullptr;
  }

  void enqueue(Strand* s, uptr queue);
  /// Nothing if it does not wait in a queue.
  void dequeue(Strand* s);
  /// The ids of the strands that wait there, a bit each.
  u64 waiting_in(uptr queue) const;

  /// Forgets everything: an abandoned execution left entries.
  void clear();
  /// After fork in the child: no other strand is left to wait.
  void forget_waiting();

 private:
  static constexpr u32 kBuckets = 1024;

  Object& make(uptr address);
  void drop(Object& o);

  Arena& arena_;
  Object* buckets_[kBuckets] = {};
  u32 count_ = 0;
};

}  // namespace duress::sched
