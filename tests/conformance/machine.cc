// SPDX-License-Identifier: Apache-2.0
//
// A program that does what its seed says: threads that load and store cells of every size, with and without
// locks, and write down what they got. The test then asks of each value whether it was legal.
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "journal.h"

namespace {

union Mixed {
  unsigned long whole;
  unsigned half[2];
  unsigned short quarter[4];
};

struct Record {  // copied as a whole
  long words[3];
};

struct Memory {
  int integer[3];
  double real[2];
  unsigned char byte[4];
  void* pointer[2];
  alignas(16) __int128 wide;
  Mixed mixed[2];
  Record record[2];
} memory;

std::mutex locks[2];
std::atomic<int> updates[2];

struct Random {
  unsigned long state;
  unsigned long next() {
    state += 0x9e3779b97f4a7c15u;
    unsigned long x = state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }
  unsigned below(unsigned n) { return static_cast<unsigned>(next() % n); }
};

unsigned offset_of(const void* p) {
  return static_cast<unsigned>(static_cast<const char*>(p) - reinterpret_cast<const char*>(&memory));
}

template <typename T>
T value_of(unsigned long n) {
  if constexpr (sizeof(T) == 16) return static_cast<T>(n) << 64 | static_cast<T>(n * 3 + 1);
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<T>(n * 8);
  else
    return static_cast<T>(n);
}

template <typename T>
__attribute__((noinline)) void access(unsigned thread, T& cell, bool store, unsigned long n) {
  if (store) {
    T value = value_of<T>(n);
    cell = value;
    journal(kJournalStore, thread, offset_of(&cell), sizeof value, &value);
  } else {
    T value = cell;
    journal(kJournalLoad, thread, offset_of(&cell), sizeof value, &value);
  }
}

__attribute__((noinline)) void access(unsigned thread, Record& cell, bool store, unsigned long n) {
  Record value = {{static_cast<long>(n), static_cast<long>(n + 1), static_cast<long>(n + 2)}};
  if (store) {
    cell = value;
  } else {
    value = cell;
  }
  for (const long& word : value.words) {
    auto at = static_cast<unsigned>(&word - value.words);
    journal(store ? kJournalStore : kJournalLoad, thread, offset_of(&cell.words[at]), sizeof word, &word);
  }
}

void any_access(unsigned thread, Random& random) {
  bool store = random.below(5) < 2;
  unsigned long n = random.below(200) + 1;
  switch (random.below(9)) {
    case 0:
    case 1:
      return access(thread, memory.integer[random.below(3)], store, n);
    case 2:
      return access(thread, memory.real[random.below(2)], store, n);
    case 3:
      return access(thread, memory.byte[random.below(4)], store, n);
    case 4:
      return access(thread, memory.pointer[random.below(2)], store, n);
    case 5:
      return access(thread, memory.wide, store, n);
    case 6:
      return access(thread, memory.mixed[random.below(2)].whole, store, n << 32 | (n + 1));
    case 7:
      return access(thread, memory.record[random.below(2)], store, n);
    default:
      return random.below(2)
                 ? access(thread, memory.mixed[random.below(2)].half[random.below(2)], store, n)
                 : access(thread, memory.mixed[random.below(2)].quarter[random.below(4)], store, n);
  }
}

void run(unsigned thread, unsigned long seed, unsigned steps) {
  Random random{seed};
  unsigned held = 2;
  journal(kJournalAcquire, thread, 100 + thread, 0, nullptr);
  for (unsigned i = 0; i < steps; ++i) {
    unsigned what = random.below(20);
    if (what == 0 && held == 2) {
      held = random.below(2);
      locks[held].lock();
      journal(kJournalAcquire, thread, held, 0, nullptr);
    } else if (what <= 1 && held != 2) {
      journal(kJournalRelease, thread, held, 0, nullptr);
      locks[held].unlock();
      held = 2;
    } else if (what == 2) {
      unsigned which = random.below(2);
      updates[which].fetch_add(1, std::memory_order_acq_rel);
      journal(kJournalUpdate, thread, which, 0, nullptr);
    } else {
      any_access(thread, random);
    }
  }
  if (held != 2) {
    journal(kJournalRelease, thread, held, 0, nullptr);
    locks[held].unlock();
  }
  journal(kJournalRelease, thread, 200 + thread, 0, nullptr);
}

}  // namespace

int main() {
  Random random{journal_seed()};
  unsigned count = 2 + random.below(3);
  for (unsigned i = 0; i < 10; ++i) any_access(0, random);
  std::vector<std::thread> threads;
  for (unsigned t = 1; t <= count; ++t) {
    unsigned long seed = random.next();
    journal(kJournalRelease, 0, 100 + t, 0, nullptr);
    threads.emplace_back(run, t, seed, 400 / count + 20);
    any_access(0, random);
  }
  for (unsigned t = 1; t <= count; ++t) {
    threads[t - 1].join();
    journal(kJournalAcquire, 0, 200 + t, 0, nullptr);
    any_access(0, random);
  }
  journal_write();
}
