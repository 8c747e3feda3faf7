// SPDX-License-Identifier: Apache-2.0
//
// Once and function-local statics: the release comes before anybody else can see that it is done.
#include <pthread.h>

#include <mutex>

#include "fake_sync.h"

extern "C" int __cxa_guard_acquire(unsigned long*);
extern "C" void __cxa_guard_release(unsigned long*);
extern "C" void __cxa_guard_abort(unsigned long*);

static int runs = 0;
static pthread_once_t inner = PTHREAD_ONCE_INIT, outer = PTHREAD_ONCE_INIT;

static void posix_once() {
  auto nested = [] { CHECK(pthread_once(&inner, [] { ++runs; }) == 0); };
  CHECK(pthread_once(&outer, nested) == 0);
  EXPECT_EVENTS({"acquire", &outer}, {"acquire", &inner}, {"release", &inner}, {"acquire", &inner},
                {"release", &outer}, {"acquire", &outer});
  CHECK(pthread_once(&outer, nested) == 0 && runs == 1);
  EXPECT_EVENTS({"acquire", &outer});
}

static void standard_once() {
  static std::once_flag flag;
  int tries = 0;
  try {
    std::call_once(flag, [&] {
      ++tries;
      throw 7;
    });
    CHECK(false);
  } catch (int value) {
    CHECK(value == 7);
  }
  // Not EXPECT_EVENTS: the unwinder uses pthread_once for itself.
  CHECK(fake_find("release", &flag, fake_find("acquire", &flag, 0)) > 0);
  fake_clear();
  std::call_once(flag, [&] { ++tries; });
  std::call_once(flag, [&] { ++tries; });
  CHECK(tries == 2);
  EXPECT_EVENTS({"acquire", &flag}, {"release", &flag}, {"acquire", &flag}, {"acquire", &flag});
}

static void guard() {
  unsigned long g = 0;
  const void* p = &g;
  CHECK(__cxa_guard_acquire(&g) == 1);
  __cxa_guard_abort(&g);
  CHECK(g == 0);
  EXPECT_EVENTS({"acquire", p}, {"release", p});
  CHECK(__cxa_guard_acquire(&g) == 1);
  __cxa_guard_release(&g);
  CHECK((g & 0xff) == 1);
  CHECK(__cxa_guard_acquire(&g) == 0);
  EXPECT_EVENTS({"acquire", p}, {"atomic_store", p}, {"atomic_load", p});
}

struct Slow {
  Slow() { ++made; }
  static inline int made = 0;
};

static const void* instance() {
  static Slow slow;
  return &slow;
}

static void contended_static() {
  pthread_t threads[4];
  auto body = [](void*) -> void* { return const_cast<void*>(instance()); };
  for (auto& t : threads) CHECK(pthread_create(&t, nullptr, body, nullptr) == 0);
  for (auto& t : threads) {
    void* value;
    CHECK(pthread_join(t, &value) == 0 && value == instance());
  }
  CHECK(Slow::made == 1 && fake_count("atomic_store") == 1);
  int store = fake_find("atomic_store", nullptr, 0);
  CHECK(fake_count("atomic_load") == 0 || fake_find("atomic_load", nullptr, 0) > store);
  fake_clear();
}

int main() {
  fake_set_awake(1);
  fake_clear();
  posix_once();
  standard_once();
  guard();
  contended_static();
}
