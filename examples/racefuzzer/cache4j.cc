// SPDX-License-Identifier: Apache-2.0
//
// RaceFuzzer, table 1, cache4j: a cleaner removes old objects from a cache and then sleeps. Who wants it to
// work interrupts it, but only if it says that it sleeps; it says so a little before it is ready to be
// interrupted. Two real races; runs that are directed at either throw (in the paper, at one of them).
//
// cache4j [ordered]: the cleaner comes first in every run.
//
// EXPECT-PAIR: CacheCleaner::sleep @look @asleep real exception
// EXPECT-PAIR: CacheCleaner::sleep @look @awake real exception
// EXPECT-RACE: CacheCleaner::sleep
// RUN-ARGS: ordered
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "invisible_barrier.h"

using namespace std::chrono_literals;

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

/// A thread that others can wake by an exception, as threads of Java can be.
class Interruptible {
 public:
  void interrupt() {
    std::lock_guard lock(mutex_);
    interrupted_ = true;
    changed_.notify_one();
  }
  void sleep_for(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [this] { return interrupted_; });
    throw_if_interrupted();
  }

 private:
  void throw_if_interrupted() {
    if (!interrupted_) return;
    interrupted_ = false;
    throw Interrupted();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool interrupted_ = false;
};

class Cache {
 public:
  void put(int key, int time) {
    std::lock_guard lock(mutex_);
    objects_[key] = time;
  }
  void remove_older_than(int time) {
    std::lock_guard lock(mutex_);
    std::erase_if(objects_, [time](const auto& object) { return object.second < time; });
  }
  size_t size() {
    std::lock_guard lock(mutex_);
    return objects_.size();
  }

 private:
  std::mutex mutex_;
  std::map<int, int> objects_;
};

class CacheCleaner : Interruptible {
 public:
  explicit CacheCleaner(Cache& cache) : cache_(cache) {}

  void run() {
    cache_.remove_older_than(4);
    sleep = true;  // @asleep
    write_log();
    try {
      sleep_for(10ms);
    } catch (const Interrupted&) {
    }
    sleep = false;  // @awake
  }
  void wake() {
    if (sleep) interrupt();  // @look
  }

 private:
  /// Waits for a disk: whatever waits can be interrupted.
  void write_log() { sleep_for(1ms); }

  Cache& cache_;
  bool sleep = false;
};

int cleaned = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  Cache cache;
  for (int i = 0; i < 8; ++i) cache.put(i, i);
  CacheCleaner cleaner(cache);
  std::thread cleaning([&] {
    cleaner.run();
    if (ordered) invisible_signal(&cleaned);
  });
  if (ordered) invisible_wait(&cleaned, 1);
  cleaner.wake();
  cleaning.join();
  std::printf("%zu objects\n", cache.size());
  return cache.size() == 4 ? 0 : 1;
}
