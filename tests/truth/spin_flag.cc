// SPDX-License-Identifier: Apache-2.0
//
// Ad-hoc synchronisation: the consumer spins on a plain flag, then reads the data.
//
// truth: ready destructive no-end|livelock|exit:1: the load may be hoisted out of the loop, and it may see the store before the data is there
// truth: data destructive exit:1: nothing orders the store of the data before the load, whatever the flag says
#include <thread>

int data = 0;
bool ready = false;

int main() {
  int seen = 0;
  std::thread producer([] {
    data = 42;
    ready = true;
  });
  std::thread consumer([&seen] {
    while (!ready) {
    }
    seen = data;
  });
  producer.join();
  consumer.join();
  return seen == 42 ? 0 : 1;
}
