// SPDX-License-Identifier: Apache-2.0
//
// The flag is atomic but relaxed: it orders nothing, so the payload races.
//
// truth: payload destructive exit:1: a relaxed store does not release the payload; the load may still see 0
#include <atomic>
#include <thread>

long payload = 0;
std::atomic<bool> ready{false};

int main() {
  long seen = 0;
  std::thread producer([] {
    payload = 7;
    ready.store(true, std::memory_order_relaxed);
  });
  std::thread consumer([&seen] {
    while (!ready.load(std::memory_order_relaxed)) {
    }
    seen = payload;
  });
  producer.join();
  consumer.join();
  return seen == 7 ? 0 : 1;
}
