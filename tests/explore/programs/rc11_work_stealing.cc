// SPDX-License-Identifier: Apache-2.0
//
// Chase and Lev's work-stealing deque without the fence in take(): the owner and a thief may both get the last
// task. The ends are as in the C11 version of Lê and others; nothing is ever overwritten here.
//
// EXPECT-FAILURE: assertion
// OPTIONS: --model rc11
// PASSES: --model sc
// PASSES: --model rc11 -- fences
// WITHIN: 1000
#include <atomic>
#include <cassert>
#include <thread>

class Deque {
 public:
  explicit Deque(bool fences) : fences_(fences) {}

  void push(int task) {
    long b = bottom_.load(std::memory_order_relaxed);
    tasks_[b].store(task, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    bottom_.store(b + 1, std::memory_order_relaxed);
  }
  int take() {
    long b = bottom_.load(std::memory_order_relaxed) - 1;
    bottom_.store(b, std::memory_order_relaxed);
    if (fences_) std::atomic_thread_fence(std::memory_order_seq_cst);
    long t = top_.load(std::memory_order_relaxed);
    if (t > b) {
      bottom_.store(b + 1, std::memory_order_relaxed);
      return 0;
    }
    int task = tasks_[b].load(std::memory_order_relaxed);
    if (t == b) {
      if (!top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed))
        task = 0;
      bottom_.store(b + 1, std::memory_order_relaxed);
    }
    return task;
  }
  int steal() {
    long t = top_.load(std::memory_order_acquire);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    long b = bottom_.load(std::memory_order_acquire);
    if (t >= b) return 0;
    int task = tasks_[t].load(std::memory_order_relaxed);
    bool mine = top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed);
    return mine ? task : 0;
  }

 private:
  bool fences_;
  std::atomic<long> top_{0}, bottom_{0};
  std::atomic<int> tasks_[8] = {};
};

int main(int argc, char**) {
  Deque deque(argc > 1);
  std::atomic<int> done[3] = {};
  deque.push(1);
  deque.push(2);
  std::thread thief([&] {
    for (int i = 0; i < 2; ++i) done[deque.steal()].fetch_add(1);
  });
  for (int i = 0; i < 2; ++i) done[deque.take()].fetch_add(1);
  thief.join();
  assert(done[1] <= 1 && done[2] <= 1);
}
