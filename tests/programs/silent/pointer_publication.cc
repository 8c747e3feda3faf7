// SPDX-License-Identifier: Apache-2.0
//
// Objects published through an atomic pointer with release and acquire, and a Treiber stack.
//
// EXPECT-NO-RACE
#include <atomic>
#include <thread>
#include <vector>

struct Node {
  int value;
  Node* next;
};
std::atomic<Node*> top = nullptr;

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([] {
      for (int i = 1; i <= 100; i++) {
        Node* node = new Node{i, top.load(std::memory_order_relaxed)};
        while (!top.compare_exchange_weak(node->next, node, std::memory_order_release,
                                          std::memory_order_relaxed)) {
        }
      }
    });
  long sum = 0;
  for (int taken = 0; taken < 300;) {
    Node* list = top.exchange(nullptr, std::memory_order_acquire);
    if (list == nullptr) std::this_thread::yield();
    while (list != nullptr) {
      Node* next = list->next;
      sum += list->value;
      taken++;
      delete list;
      list = next;
    }
  }
  for (auto& thread : threads) thread.join();
  return sum == 3 * 5050 ? 0 : 1;
}
