// SPDX-License-Identifier: Apache-2.0
//
// Publication under a lock; a counter of publications is read without.
//
// truth: published harmless: only the glance of the reader races, and it is within its bounds
#include <mutex>
#include <thread>

struct Node {
  int value;
};

std::mutex mutex;
Node nodes[2];
Node* head = nullptr;
int published = 0;

int main() {
  bool right = true;
  std::thread publisher([] {
    for (int i = 0; i < 2; ++i) {
      nodes[i].value = 33;
      std::lock_guard guard(mutex);
      head = &nodes[i];
      ++published;
    }
  });
  std::thread reader([&right] {
    int glance = published;
    std::lock_guard guard(mutex);
    right = glance <= 2 && (head == nullptr || head->value == 33);
  });
  publisher.join();
  reader.join();
  return right ? 0 : 1;
}
