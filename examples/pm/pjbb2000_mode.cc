// SPDX-License-Identifier: Apache-2.0
//
// Prescient Memory, table 1, pjbb2000's Company.mode: terminals put the times of their transactions into the
// statistics while the company is recording. While they warm up, transactions are slow and do not count. An
// old mode, read where the terminal tells that it has stopped, lets the main thread wait for ever; a mode
// from the future makes slow transactions count.
//
// pjbb2000_mode [TRANSACTIONS]; exits with 1 if a slow transaction was recorded.
//
// EXPECT-VERDICT: Company::mode destructive deadlock|exit:1
// EXPECT-RACE: Company::mode
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

constexpr int kTerminals = 2;

enum Mode { kRampUp, kRecording, kRampDown };

struct Company {
  Mode mode = kRampUp;
  std::atomic<int> warm{0}, done{0};  // terminals
  std::mutex mutex;
  std::condition_variable stopped;
  int terminals_stopped = 0;
};
Company company;

class TransactionManager {
 public:
  void run(int transactions) {
    for (int i = 0; i < transactions; ++i) transaction(100);  // nothing is in the caches yet
    company.warm.fetch_add(1, std::memory_order_relaxed);
    while (company.mode == kRampUp) std::this_thread::yield();
    for (int i = 0; i < transactions; ++i) transaction(3 + i % 5);
    company.done.fetch_add(1, std::memory_order_relaxed);
    while (company.mode != kRampDown) std::this_thread::yield();
    if (company.mode == kRampDown) {
      std::lock_guard lock(company.mutex);
      ++company.terminals_stopped;
      company.stopped.notify_one();
    }
  }
  int slowest() const { return slowest_; }
  long sum() const { return sum_; }

 private:
  void transaction(int time) {
    for (int i = 0; i < time; ++i) sum_ = (sum_ * 31 + i) % 1000003;
    if (company.mode == kRecording) slowest_ = std::max(slowest_, time);
  }

  long sum_ = 1;
  int slowest_ = 0;
};

void timer() {
  while (company.warm.load(std::memory_order_relaxed) < kTerminals) std::this_thread::yield();
  company.mode = kRecording;
  while (company.done.load(std::memory_order_relaxed) < kTerminals) std::this_thread::yield();
  company.mode = kRampDown;
}

int main(int count, char** arguments) {
  const int transactions = count > 1 ? std::atoi(arguments[1]) : 4;
  if (transactions < 1) return 2;
  std::vector<TransactionManager> managers(kTerminals);
  std::vector<std::thread> threads;
  threads.emplace_back(timer);
  for (TransactionManager& manager : managers)
    threads.emplace_back(&TransactionManager::run, &manager, transactions);
  {
    std::unique_lock lock(company.mutex);
    company.stopped.wait(lock, [] { return company.terminals_stopped == kTerminals; });
  }
  for (std::thread& thread : threads) thread.join();
  bool right = true;
  for (const TransactionManager& manager : managers) right = right && manager.slowest() < 100;
  std::printf("checksum %ld: %s\n", managers[0].sum(), right ? "valid" : "a slow transaction was recorded");
  return right ? 0 : 1;
}
