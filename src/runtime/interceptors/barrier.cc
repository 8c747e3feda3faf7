// SPDX-License-Identifier: Apache-2.0
//
// Barriers: everything before → everything after. The obvious way, releasing to and acquiring from the
// barrier's address, is wrong twice. A fast thread arrives at the next round while a slow one has not yet
// acquired: the slow one would see too much, and a race is missed. And the thread that gets
// PTHREAD_BARRIER_SERIAL_THREAD may destroy the barrier while others are still on their way out: they would
// see too little, a false alarm. So each round has an object of its own, in our memory, which lives until the
// last of its threads has acquired it.
#include <pthread.h>

#include "base/arena.h"
#include "runtime/control.h"
#include "runtime/interceptors/object.h"
#include "runtime/object_errors.h"

namespace duress {
namespace {

struct Round {
  u32 arrived;
  u32 left;
};

struct Barrier {
  const void* address;
  u32 count;
  Round* current;  // threads are arriving here; null before the first
  Barrier* next;
};

constexpr u32 kBuckets = 256;

/// Guards everything below. The runtime is called under it, so that a round's arrivals are complete when the
/// last one goes on to the real barrier.
constinit SpinLock barriers_lock;
constinit Arena arena;
constinit Barrier* buckets[kBuckets];

Barrier** find(const void* address) {
  Barrier** link = &buckets[(reinterpret_cast<uptr>(address) >> 4) % kBuckets];
  while (*link && (*link)->address != address) link = &(*link)->next;
  return link;
}

void add_barrier(const void* address, u32 count) {
  SpinGuard guard(barriers_lock);
  Barrier** link = find(address);
  if (!*link) *link = arena.make<Barrier>(Barrier{address, 0, nullptr, nullptr});
  (*link)->count = count;
  (*link)->current = nullptr;
}

void remove_barrier(const void* address) {
  SpinGuard guard(barriers_lock);
  Barrier** link = find(address);
  Barrier* barrier = *link;
  if (!barrier) return;
  *link = barrier->next;
  arena.free(barrier, sizeof(Barrier));
}

ObjectState state_of(const void* address) {
  SpinGuard guard(barriers_lock);
  const Barrier* barrier = *find(address);
  return {barrier != nullptr, barrier && barrier->current && barrier->current->arrived != 0};
}

/// Null if nobody saw the barrier being made (it lies in memory shared with another process).
Round* arrive(const void* address, u32* count, uptr pc) {
  SpinGuard guard(barriers_lock);
  Barrier* barrier = *find(address);
  if (!barrier) return nullptr;
  if (!barrier->current) barrier->current = arena.make<Round>(Round{0, 0});
  Round* round = barrier->current;
  *count = barrier->count;
  sync_release_join(round, pc);
  if (++round->arrived == barrier->count) barrier->current = nullptr;
  return round;
}

void leave(Round* round, u32 count, uptr pc) {
  sync_acquire(round, pc);
  SpinGuard guard(barriers_lock);
  if (++round->left < count) return;
  sync_forget(round);
  arena.free(round, sizeof(Round));
}

}  // namespace

void lock_barriers() {
  barriers_lock.lock();
}
void unlock_barriers() {
  barriers_lock.unlock();
}

}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(int, pthread_barrier_init,
                   (pthread_barrier_t * barrier, const pthread_barrierattr_t* attributes, unsigned count)) {
  DURESS_OBJECT_CHANGED(barrier);
  if (controlled()) check_object_init(barrier, state_of(barrier), DURESS_CALLER_PC);
  int result = DURESS_REAL(pthread_barrier_init)(barrier, attributes, count);
  if (awake() && result == 0) add_barrier(barrier, count);
  return result;
}

DURESS_INTERCEPTOR(int, pthread_barrier_destroy, (pthread_barrier_t * barrier)) {
  DURESS_OBJECT_CHANGED(barrier);
  if (controlled()) check_object_destroy(barrier, state_of(barrier), DURESS_CALLER_PC);
  // Before the real one: afterwards the memory may hold another thread's new barrier.
  if (awake()) remove_barrier(barrier);
  return DURESS_REAL(pthread_barrier_destroy)(barrier);
}

/// The last one to come is the one that POSIX singles out.
static int wait_strand(const pthread_barrier_t* barrier, const Round* round, u32 count, uptr pc) {
  if (round->arrived == count) {
    scheduler().wake(address_of(round));
    scheduler().changed();
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  Operation operation = {OpKind::kBarrier, 0, address_of(barrier), 0, pc};
  while (scheduler().block(operation, address_of(round)) != sched::Wake::kWoken) {
  }
  return 0;
}

DURESS_INTERCEPTOR(int, pthread_barrier_wait, (pthread_barrier_t * barrier)) {
  DURESS_OBJECT_USED(barrier);
  if (!awake()) return DURESS_REAL(pthread_barrier_wait)(barrier);
  uptr pc = DURESS_CALLER_PC;
  if (controlled()) {
    control_point(OpKind::kBarrier, barrier, pc);
    check_object_use(barrier, state_of(barrier), pc);
  }
  u32 count = 0;
  Round* round = arrive(barrier, &count, pc);
  if (!round) {
    incomplete("a barrier that was made outside this process");
    sync_release_join(barrier, pc);
  }
  int result;
  if (round && controlled()) {
    result = wait_strand(barrier, round, count, pc);
  } else {
    result = DURESS_REAL(pthread_barrier_wait)(barrier);
  }
  if (round) {
    leave(round, count, pc);
  } else {
    sync_acquire(barrier, pc);
  }
  return result;
}
