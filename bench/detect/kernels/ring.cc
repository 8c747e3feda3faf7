// SPDX-License-Identifier: Apache-2.0
//
// Messages around a ring of threads, each link a lock-free single-producer single-consumer queue with
// acquire and release indices; every hop works on the message's plain data.
// `work` hops over links that have `data` places altogether.
#include <algorithm>
#include <atomic>

#include "../kernel.h"

namespace {
struct Message {
  uint64_t data[30];
};
struct Link {
  alignas(64) std::atomic<unsigned> head{0};
  alignas(64) std::atomic<unsigned> tail{0};
  std::vector<Message> slots;

  void push(const Message& message) {
    unsigned t = tail.load(std::memory_order_relaxed);
    while (t - head.load(std::memory_order_acquire) == slots.size()) std::this_thread::yield();
    slots[t % slots.size()] = message;
    tail.store(t + 1, std::memory_order_release);
  }
  void pop(Message& message) {
    unsigned h = head.load(std::memory_order_relaxed);
    while (tail.load(std::memory_order_acquire) == h) std::this_thread::yield();
    message = slots[h % slots.size()];
    head.store(h + 1, std::memory_order_release);
  }
};
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 3000000, 512);
  const long size = work / threads;
  std::vector<Link> links(threads);
  for (Link& link : links) link.slots.resize(std::max(4L, data / threads));
  uint64_t checksum = 0;
  bench::parallel(threads, [&, threads = threads](int t) {
    Message message{};
    bench::Random random(1);
    for (long i = 0; i < size; i++) {
      if (t > 0) {
        links[t - 1].pop(message);
      } else {
        for (uint64_t& word : message.data) word = random.next();
      }
      for (int round = 0; round < 4; round++)
        for (int n = 0; n < 30; n++)
          message.data[n] = message.data[n] * 31 + (message.data[(n + 7) % 30] >> 7);
      if (t < threads - 1) {
        links[t].push(message);
      } else {
        for (uint64_t word : message.data) checksum = checksum * 31 + word;
      }
    }
  });
  return bench::finish(checksum);
}
