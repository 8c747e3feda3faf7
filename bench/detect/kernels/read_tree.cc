// SPDX-License-Identifier: Apache-2.0
//
// A search tree that is built once and then only read, by all threads at once: read-shared data.
// `work` look-ups among `data` keys.
#include <algorithm>

#include "../kernel.h"

namespace {
struct Node {
  uint64_t key;
  uint64_t value;
  Node* left = nullptr;
  Node* right = nullptr;
};

Node* build(const std::vector<uint64_t>& keys, size_t begin, size_t end) {
  if (begin == end) return nullptr;
  size_t middle = (begin + end) / 2;
  Node* node = new Node{keys[middle], keys[middle] * 3};
  node->left = build(keys, begin, middle);
  node->right = build(keys, middle + 1, end);
  return node;
}

uint64_t find(const Node* node, uint64_t key) {
  const Node* last = node;
  while (node != nullptr) {
    last = node;
    node = key < node->key ? node->left : node->right;
  }
  return last->value;
}
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 16000000, 30000);
  std::vector<uint64_t> keys(data);
  bench::Random random(5);
  for (uint64_t& key : keys) key = random.next() >> 20;
  std::sort(keys.begin(), keys.end());
  Node* root = build(keys, 0, keys.size());
  std::vector<uint64_t> sums(threads);
  bench::parallel(threads, [&, threads = threads, work = work](int t) {
    bench::Random mine(t + 100);
    uint64_t sum = 0;
    for (long i = 0; i < work / threads; i++) sum += find(root, mine.next() >> 20);
    sums[t] = sum;
  });
  uint64_t checksum = 0;
  for (uint64_t sum : sums) checksum = checksum * 31 + sum;
  return bench::finish(checksum);
}
