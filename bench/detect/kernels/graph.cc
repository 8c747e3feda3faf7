// SPDX-License-Identifier: Apache-2.0
//
// Breadth-first searches in one graph that all threads read and none changes: `work` searches, each three
// steps deep, in a random graph of `data` nodes. What a search has visited is its thread's own.
#include <atomic>

#include "../kernel.h"

namespace {
constexpr long kDegree = 16;

struct Graph {
  std::vector<uint32_t> first;  // of the node's edges; one more at the end
  std::vector<uint32_t> edges;
  std::vector<uint32_t> weights;  // of the nodes

  explicit Graph(long nodes) : first(nodes + 1), weights(nodes) {
    bench::Random random(23);
    edges.reserve(nodes * kDegree);
    for (long node = 0; node < nodes; node++) {
      first[node] = static_cast<uint32_t>(edges.size());
      weights[node] = static_cast<uint32_t>(random.next());
      for (long degree = 1 + static_cast<long>(random.next() >> 8) % (2 * kDegree - 1); degree > 0; degree--)
        edges.push_back(static_cast<uint32_t>((random.next() >> 8) % nodes));
    }
    first[nodes] = static_cast<uint32_t>(edges.size());
  }
};

class Search {
 public:
  explicit Search(const Graph& graph) : graph_(graph), visited_(graph.weights.size() / 64 + 1) {}

  /// The weights of the nodes within three steps, each times its distance.
  uint64_t from(uint32_t start) {
    queue_.clear();
    visit(start);
    uint64_t sum = 0;
    size_t next = 0;
    for (uint64_t distance = 1; distance <= 3; distance++)
      for (size_t end = queue_.size(); next < end; next++) {
        const uint32_t node = queue_[next];
        for (uint32_t edge = graph_.first[node]; edge < graph_.first[node + 1]; edge++)
          if (visit(graph_.edges[edge])) sum += graph_.weights[graph_.edges[edge]] * distance;
      }
    for (uint32_t node : queue_) visited_[node / 64] = 0;
    return sum;
  }

 private:
  bool visit(uint32_t node) {
    const uint64_t bit = uint64_t{1} << node % 64;
    if ((visited_[node / 64] & bit) != 0) return false;
    visited_[node / 64] |= bit;
    queue_.push_back(node);
    return true;
  }

  const Graph& graph_;
  std::vector<uint64_t> visited_;
  std::vector<uint32_t> queue_;
};
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 4000, 8000);
  const Graph graph(data);
  std::atomic<long> next = 0;
  std::atomic<uint64_t> checksum = 0;
  bench::parallel(threads, [&, work = work, data = data](int) {
    Search search(graph);
    uint64_t sum = 0;
    for (long number; (number = next.fetch_add(1)) < work;)
      sum += search.from(static_cast<uint32_t>(number * 7919 % data)) * (number + 1);
    checksum += sum;
  });
  return bench::finish(checksum);
}
