// SPDX-License-Identifier: Apache-2.0
//
// A heap whose collector moves objects (__tsan_java_...): a monitor keeps its order when it is moved, an object that
// takes another's place is another one, and a search finds the live objects. The wrong half uses two monitors.
//
// WRONG: shared_value
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <thread>

extern "C" {
using jptr = std::uintptr_t;
void __tsan_java_init(jptr begin, jptr size);
int __tsan_java_fini();
void __tsan_java_alloc(jptr p, jptr size);
void __tsan_java_free(jptr p, jptr size);
void __tsan_java_move(jptr from, jptr to, jptr size);
jptr __tsan_java_find(jptr* from, jptr to);
void __tsan_java_mutex_lock(jptr monitor);
void __tsan_java_mutex_unlock(jptr monitor);
void __tsan_java_mutex_lock_rec(jptr monitor, int levels);
int __tsan_java_mutex_unlock_rec(jptr monitor);
}

alignas(8) static char heap[1024];
static int shared_value;

/// Two threads take turns without being ordered.
static int turn;
static void wait_for(int number) {
  while (__atomic_load_n(&turn, __ATOMIC_RELAXED) != number) std::this_thread::yield();
}
static void pass_on(int number) {
  __atomic_store_n(&turn, number, __ATOMIC_RELAXED);
}

int main() {
  const jptr begin = reinterpret_cast<jptr>(heap);
  __tsan_java_init(begin, sizeof heap);
  const jptr monitor = begin + 64, moved = begin + 512;
#ifdef WRONG
  const jptr second = begin + 128;
#else
  const jptr second = moved;
#endif
  __tsan_java_alloc(begin + 32, 16);
  __tsan_java_alloc(monitor, 32);
  std::thread other([=] {
    __tsan_java_mutex_lock_rec(monitor, 2);
    __tsan_java_mutex_lock(monitor);
    shared_value = 1;
    *reinterpret_cast<int*>(begin + 32) = 1;
    int levels = __tsan_java_mutex_unlock_rec(monitor);
    assert(levels == 3);
    pass_on(1);
    wait_for(3);
  });
  std::thread collector([=] {
    wait_for(1);
    // An object goes, another takes its place; the monitor moves, to where it overlaps at first.
    __tsan_java_free(begin + 32, 16);
    __tsan_java_alloc(begin + 32, 8);
    *reinterpret_cast<int*>(begin + 32) = 2;
    __tsan_java_move(monitor, monitor + 16, 32);
    __tsan_java_move(monitor + 16, moved, 32);
    jptr at = begin;
    jptr size = __tsan_java_find(&at, begin + sizeof heap);
    assert(at == begin + 32 && size == 8);
    at += 8;
    size = __tsan_java_find(&at, begin + sizeof heap);
    assert(at == moved && size == 32);
    at += 8;
    assert(__tsan_java_find(&at, begin + sizeof heap) == 0);
    pass_on(2);
  });
  wait_for(2);
  __tsan_java_mutex_lock(second);
  shared_value++;
  __tsan_java_mutex_unlock(second);
  pass_on(3);
  other.join();
  collector.join();
  return __tsan_java_fini();
}
