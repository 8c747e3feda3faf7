// SPDX-License-Identifier: Apache-2.0
//
// RaceFuzzer, table 1, hedc: a crawler. A search is given up by interrupting the thread that works on it;
// when the work is done, the task forgets its thread before it says that it is done. One real race, which
// follows a null pointer.
//
// hedc [ordered]: the search is given up before it is done, in every run.
//
// EXPECT-PAIR: Task::thread @cancel @finished real signal:SIGSEGV
// EXPECT-RACE: Task::thread
// RUN-ARGS: ordered
#include <atomic>
#include <cstdio>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "invisible_barrier.h"

struct Page {
  const char* text;
  std::vector<int> links;
};
const std::vector<Page> kPages = {
    {"solar flares", {1, 2}}, {"data of 1998", {3}}, {"flares seen from space", {0, 3}}, {"flares", {}}};

class Worker {
 public:
  void interrupt() { interrupted_.store(true, std::memory_order_relaxed); }
  bool interrupted() const { return interrupted_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> interrupted_{false};
};

std::atomic<int> pages_read{0};  // of all tasks

class Task {
 public:
  explicit Task(Worker& worker) : thread(&worker) {}

  void run(Worker& worker, const std::string& word) {
    std::vector<int> open = {0};
    std::set<int> seen;
    while (!open.empty() && !worker.interrupted()) {
      const int at = open.back();
      open.pop_back();
      if (!seen.insert(at).second) continue;
      pages_read.fetch_add(1, std::memory_order_relaxed);
      found_ += std::string(kPages[at].text).find(word) != std::string::npos;
      open.insert(open.end(), kPages[at].links.begin(), kPages[at].links.end());
    }
    thread = nullptr;  // @finished
    valid_.store(false, std::memory_order_relaxed);
  }
  void cancel() {
    if (valid_.load(std::memory_order_relaxed)) thread->interrupt();  // @cancel
  }
  int found() const { return found_; }

 private:
  Worker* thread;
  std::atomic<bool> valid_{true};
  int found_ = 0;
};

int cancelled = 0;

int main(int count, char**) {
  const bool ordered = count > 1;
  Worker worker;
  Task task(worker);
  std::thread searching([&] {
    if (ordered) invisible_wait(&cancelled, 1);
    task.run(worker, "flares");
  });
  task.cancel();
  if (ordered) invisible_signal(&cancelled);
  searching.join();
  const bool right = task.found() <= 3 && pages_read.load() <= 4;
  std::printf("%s\n", right ? "ended" : "too much");
  return right ? 0 : 1;
}
