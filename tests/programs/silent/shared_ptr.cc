// SPDX-License-Identifier: Apache-2.0
//
// The last owner of a shared_ptr deletes what the others have used: the reference count orders it.
//
// EXPECT-NO-RACE
#include <memory>
#include <thread>
#include <vector>

struct Node {
  int value = 1;
  int* seen;
  explicit Node(int* s) : seen(s) {}
  ~Node() { *seen = value; }
};

int main() {
  for (int round = 0; round < 20; round++) {
    int seen = 0;
    auto owner = std::make_shared<Node>(&seen);
    std::weak_ptr<Node> weak = owner;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
      threads.emplace_back([copy = owner, weak]() mutable {
        int value = copy->value;
        copy.reset();
        if (auto again = weak.lock()) value += again->value;
        (void)value;
      });
    owner.reset();
    for (auto& thread : threads) thread.join();
    if (seen != 1) return 1;
  }
  return 0;
}
