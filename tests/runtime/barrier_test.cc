// SPDX-License-Identifier: Apache-2.0
//
// Barriers: in every round all releases come before the first acquire, and rounds do not mix.
#include <pthread.h>

#include "fake_sync.h"

static constexpr int kThreads = 3, kRounds = 20;
static pthread_barrier_t* barrier;

static void* run(void*) {
  int serial = 0;
  for (int i = 0; i < kRounds; ++i) {
    int result = pthread_barrier_wait(barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    serial += result != 0;
    // The one that is told to may destroy the barrier while the others are on their way out.
    if (i == kRounds - 1 && result == PTHREAD_BARRIER_SERIAL_THREAD)
      CHECK(pthread_barrier_destroy(barrier) == 0);
  }
  return reinterpret_cast<void*>(static_cast<size_t>(serial));
}

int main() {
  fake_set_awake(1);
  pthread_barrier_t b;
  barrier = &b;
  CHECK(pthread_barrier_init(&b, nullptr, kThreads) == 0);
  fake_clear();
  pthread_t threads[kThreads];
  for (auto& t : threads) CHECK(pthread_create(&t, nullptr, run, nullptr) == 0);
  size_t serial = 0;
  for (auto& t : threads) {
    void* value;
    CHECK(pthread_join(t, &value) == 0);
    serial += reinterpret_cast<size_t>(value);
  }
  CHECK(serial == kRounds);
  CHECK(fake_count("release_join") == kThreads * kRounds);
  CHECK(fake_count("acquire") == kThreads * kRounds);
  CHECK(fake_count("forget") == kRounds);

  // Rounds one after the other: each has kThreads releases to one object, then kThreads acquires from it,
  // before that object is forgotten (and may be used again). No release to it comes between its acquires.
  int at = 0;
  for (int round = 0; round < kRounds; ++round) {
    int first = fake_find("release_join", nullptr, at);
    CHECK(first >= 0);
    const void* object = fake_object(first);
    int last = first - 1;
    for (int i = 0; i < kThreads; ++i)
      last = fake_find("release_join", nullptr, last + 1), CHECK(fake_object(last) == object);
    int acquire = fake_find("acquire", object, first);
    CHECK(acquire > last);
    for (int i = 1; i < kThreads; ++i)
      acquire = fake_find("acquire", object, acquire + 1), CHECK(acquire > 0);
    CHECK(fake_find("forget", object, first) > acquire);
    at = last + 1;
  }
  CHECK(fake_find("release_join", nullptr, at) < 0);
  CHECK(fake_count("incomplete") == 0);
}
