// SPDX-License-Identifier: Apache-2.0
//
// A flag that is stored once and loaded once by two threads, a counter with a lock, and a condition: what `--coverage` has to name.
// With the argument `ordered` the load comes behind a lock that the storing thread gives away first.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::atomic<int> flag;
static std::mutex mutex;
static std::condition_variable changed;
static bool ready;
static int counter;

static void store() {
  flag.store(1);
  {
    std::lock_guard<std::mutex> guard(mutex);
    ready = true;
    ++counter;
  }
  changed.notify_all();
}

static void load(bool ordered) {
  if (!ordered) flag.load();
  std::unique_lock<std::mutex> lock(mutex);
  while (!ready) changed.wait(lock);
  ++counter;
  lock.unlock();
  if (ordered) flag.load();
}

int main(int count, char**) {
  std::thread first(store), second(load, count > 1);
  first.join();
  second.join();
}
