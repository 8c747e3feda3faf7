// SPDX-License-Identifier: Apache-2.0
//
// A striped hash map: 64 mutexes over chained buckets; three look-ups for an insertion or a removal;
// `work` operations on a map of about `data` keys.
#include <mutex>

#include "../kernel.h"

namespace {
class StripedMap {
 public:
  explicit StripedMap(size_t buckets) : buckets_((buckets / kStripes + 1) * kStripes) {}
  ~StripedMap() {
    for (Node* node : buckets_)
      while (node != nullptr) {
        Node* next = node->next;
        delete node;
        node = next;
      }
  }

  long add(uint64_t key, long amount) {
    std::lock_guard lock(stripes_[key % kStripes].mutex);
    Node** place = find(key);
    if (*place == nullptr) *place = new Node{key, 0, nullptr};
    return (*place)->value += amount;
  }
  long get(uint64_t key) {
    std::lock_guard lock(stripes_[key % kStripes].mutex);
    Node* node = *find(key);
    return node == nullptr ? 0 : node->value;
  }
  void remove(uint64_t key) {
    std::lock_guard lock(stripes_[key % kStripes].mutex);
    Node** place = find(key);
    if (Node* node = *place) {
      *place = node->next;
      delete node;
    }
  }

 private:
  struct Node {
    uint64_t key;
    long value;
    Node* next;
  };
  static constexpr size_t kStripes = 64;  // divides the number of buckets
  struct alignas(64) Stripe {
    std::mutex mutex;
  };

  Node** find(uint64_t key) {
    Node** place = &buckets_[key % buckets_.size()];
    while (*place != nullptr && (*place)->key != key) place = &(*place)->next;
    return place;
  }

  std::vector<Node*> buckets_;
  Stripe stripes_[kStripes];
};
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 6000000, 20000);
  StripedMap map(data);
  // The upper half of the keys belongs to one thread each, so that its values are certain.
  const long shared = data / 2, each_owns = data / 2 / threads + 1;
  for (long key = 0; key < data; key += 2) map.add(key, 1);
  std::vector<uint64_t> sums(threads);
  const long each = work / threads;
  bench::parallel(threads, [&, threads = threads](int t) {
    bench::Random random(t + 1);
    uint64_t sum = 0;
    for (long i = 0; i < each; i++) {
      uint64_t dice = random.next();
      uint64_t key = (dice >> 8) % shared, own = shared + (dice >> 8) % each_owns * threads + t;
      switch (dice & 7) {
        case 0:
          map.add(key, 1);
          break;
        case 1:
          sum += map.add(own, 1);
          break;
        case 2:
          map.remove(key);
          break;
        case 3:
          map.remove(own);
          break;
        default:
          sum += map.get(own);
      }
    }
    sums[t] = sum;
  });
  uint64_t checksum = 0;
  for (uint64_t sum : sums) checksum = checksum * 31 + sum;
  return bench::finish(checksum);
}
