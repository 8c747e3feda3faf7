// SPDX-License-Identifier: Apache-2.0
#include "bounded_queue.h"

#include <duress/gtest.h>

#include <thread>

TEST(BoundedQueue, KeepsTheOrder) {
  duress::check([] {
    BoundedQueue queue(2);
    std::thread producer([&] {
      for (int i = 0; i < 3; ++i) queue.push(i);
    });
    for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.pop(), i);
    producer.join();
  });
}

TEST(BoundedQueue, TwoProducersTwoConsumers) {
  duress::check([] {
    BoundedQueue queue(1);
    std::thread first([&] { queue.push(1); });
    std::thread second([&] { queue.push(2); });
    std::thread other([&] { queue.pop(); });
    queue.pop();
    first.join();
    second.join();
    other.join();
  });
}
