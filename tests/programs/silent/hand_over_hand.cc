// SPDX-License-Identifier: Apache-2.0
//
// A sorted list with a lock per node, taken hand over hand by several inserting and removing threads.
//
// EXPECT-NO-RACE
#include <mutex>
#include <thread>
#include <vector>

struct Node {
  int key;
  Node* next;
  std::mutex mutex;
};
Node tail{1 << 30, nullptr, {}};
Node head{-1, &tail, {}};

template <typename Action>
void at(int key, Action action) {
  Node* before = &head;
  before->mutex.lock();
  Node* node = before->next;
  node->mutex.lock();
  while (node->key < key) {
    before->mutex.unlock();
    before = node;
    node = node->next;
    node->mutex.lock();
  }
  Node* garbage = action(before, node);
  before->mutex.unlock();
  node->mutex.unlock();
  delete garbage;
}

void insert(int key) {
  at(key, [key](Node* before, Node* node) -> Node* {
    if (node->key != key) before->next = new Node{key, node, {}};
    return nullptr;
  });
}

void remove(int key) {
  at(key, [key](Node* before, Node* node) -> Node* {
    if (node->key != key) return nullptr;
    before->next = node->next;
    return node;
  });
}

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([t] {
      for (int i = 0; i < 60; i++) insert((i * 7 + t) % 50);
      for (int i = 0; i < 50; i += 2) remove(i);
    });
  for (auto& thread : threads) thread.join();
  int odd = 0;
  for (Node* node = head.next; node != &tail;) {
    Node* next = node->next;
    odd += node->key % 2;
    delete node;
    node = next;
  }
  return odd == 25 ? 0 : 1;
}
