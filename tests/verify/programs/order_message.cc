// SPDX-License-Identifier: Apache-2.0
//
// Message passing with orders that are too weak: nothing new has to be atomic, two orders are enough. The
// count of messages is relaxed, and may stay so.
//
// EXPECT-VERIFY: 2 race payload
// VERIFY-RC11: 3 race payload
// VERIFY-FIX: use release for the store at order_message.cc:19 and acquire for the load
#include <atomic>
#include <thread>

int payload = 0;
std::atomic<bool> ready{false};
std::atomic<int> messages{0};

void send() {
  messages.fetch_add(1, std::memory_order_relaxed);
  payload = 42;
  ready.store(true, std::memory_order_relaxed);
}

void receive() {
  bool seen = ready.load(std::memory_order_relaxed);
  if (seen) messages.fetch_sub(payload == 42 ? 1 : 2, std::memory_order_relaxed);
}

int main() {
  std::thread sender(send), receiver(receive);
  sender.join();
  receiver.join();
}
