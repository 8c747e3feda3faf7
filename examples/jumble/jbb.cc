// SPDX-License-Identifier: Apache-2.0
//
// JUMBLE, figure 9, jbb (SPEC JBB2000): a company with warehouses. Terminals run transactions, a timer leads
// the company from one mode to the next and notes how long the recording took, and the main thread waits
// until all terminals have told it that it is over. Nothing orders the timer's writes.
//   - A transaction manager asks twice whether the company is in its last mode: to stop working, and to wake
//   the main
//     thread. If the second answer is old, the main thread is never woken.
//   - The main thread may read an elapsed time of 0, or half of it (--tear 4).
//
// jbb [TRANSACTIONS]; exits with 1 if the books or the statistics are wrong.
//
// EXPECT-VERDICT: Company::mode destructive deadlock
// EXPECT-VERDICT: Company::elapsed_time destructive exit:1
// EXPECT-RACE: Company::mode
// EXPECT-RACE: Company::elapsed_time
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

constexpr int kTerminals = 3, kItems = 64;
constexpr long kTicks = 3'000'000'019;  // of a transaction: both halves of a sum of them matter

enum Mode { kRampUp, kRecording, kRampDown };

struct Company {
  Mode mode = kRampUp;
  long elapsed_time = 0;
  std::atomic<long> warm{0}, done{0};  // terminals that have warmed up; transactions recorded
  std::mutex mutex;
  std::condition_variable stopped;
  int terminals_stopped = 0;
};

/// What one terminal works on.
class Warehouse {
 public:
  explicit Warehouse(int id) : random_(id * 2654435761u + 1) {
    for (int& stock : stock_) stock = 100;
  }

  void transaction() {
    switch (next() % 10) {
      case 0:
      case 1:
      case 2:
        return payment();
      case 3:
        return delivery();
      default:
        return new_order();
    }
  }

  /// Nothing is lost: what was ordered is delivered or on its way, what is gone from the shelves was ordered.
  bool balanced() const {
    long missing = 0;
    for (int stock : stock_) missing += 100 - stock;
    return missing + restocked_ == ordered_ && ordered_ == delivered_ + on_its_way_ &&
           paid_ + owed_ == billed_;
  }
  long billed() const { return billed_; }

 private:
  unsigned next() { return random_ = random_ * 1664525u + 1013904223u, random_ >> 8; }

  void new_order() {
    for (unsigned lines = 1 + next() % 5; lines > 0; --lines) {
      const unsigned item = next() % kItems;
      const int wanted = 1 + static_cast<int>(next() % 10);
      if (stock_[item] < wanted) stock_[item] += 100, restocked_ += 100;
      stock_[item] -= wanted;
      ordered_ += wanted;
      on_its_way_ += wanted;
      billed_ += wanted * (5L + item);
      owed_ += wanted * (5L + item);
    }
  }
  void payment() {
    const long part = owed_ / 2;
    owed_ -= part;
    paid_ += part;
  }
  void delivery() {
    delivered_ += on_its_way_;
    on_its_way_ = 0;
  }

  unsigned random_;
  int stock_[kItems];
  long ordered_ = 0, restocked_ = 0, on_its_way_ = 0, delivered_ = 0, billed_ = 0, owed_ = 0, paid_ = 0;
};

Company company;

void transaction_manager(Warehouse& warehouse, long transactions) {
  for (long i = 0; i < transactions / 4; ++i) warehouse.transaction();
  company.warm.fetch_add(1, std::memory_order_relaxed);
  for (long i = 0; i < transactions; ++i) {
    warehouse.transaction();
    company.done.fetch_add(1, std::memory_order_relaxed);
  }
  while (company.mode != kRampDown) std::this_thread::yield();
  if (company.mode == kRampDown) {
    std::lock_guard lock(company.mutex);
    ++company.terminals_stopped;
    company.stopped.notify_one();
  }
}

void timer(long transactions) {
  while (company.warm.load(std::memory_order_relaxed) < kTerminals) std::this_thread::yield();
  company.mode = kRecording;
  while (company.done.load(std::memory_order_relaxed) < kTerminals * transactions) std::this_thread::yield();
  company.elapsed_time = kTicks * transactions;
  company.mode = kRampDown;
}

int main(int count, char** arguments) {
  const long transactions = count > 1 ? std::atol(arguments[1]) : 12;
  if (transactions < 1) return 2;
  std::vector<Warehouse> warehouses;
  for (int i = 0; i < kTerminals; ++i) warehouses.emplace_back(i + 1);
  std::vector<std::thread> threads;
  threads.emplace_back(timer, transactions);
  for (Warehouse& warehouse : warehouses)
    threads.emplace_back(transaction_manager, std::ref(warehouse), transactions);
  {
    std::unique_lock lock(company.mutex);
    company.stopped.wait(lock, [] { return company.terminals_stopped == kTerminals; });
  }
  const long elapsed = company.elapsed_time;
  for (std::thread& thread : threads) thread.join();
  long billed = 0;
  bool right = elapsed == kTicks * transactions;
  for (const Warehouse& warehouse : warehouses) {
    billed += warehouse.billed();
    right = right && warehouse.balanced();
  }
  std::printf("billed %ld in %ld ticks: %s\n", billed, elapsed, right ? "valid" : "wrong");
  return right ? 0 : 1;
}
