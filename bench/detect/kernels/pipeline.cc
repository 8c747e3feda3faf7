// SPDX-License-Identifier: Apache-2.0
//
// A pipeline over bounded queues (mutex and two condition variables): one source, middle threads that
// transform blocks, one sink that adds them up. With `threads` middle threads.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "../kernel.h"

namespace {
struct Block {
  long number;
  uint32_t words[1024];
};

class BoundedQueue {
 public:
  void push(std::unique_ptr<Block> block) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [this] { return blocks_.size() < 16; });
    blocks_.push_back(std::move(block));
    not_empty_.notify_one();
  }
  std::unique_ptr<Block> pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [this] { return !blocks_.empty(); });
    auto block = std::move(blocks_.front());
    blocks_.pop_front();
    not_full_.notify_one();
    return block;
  }

 private:
  std::mutex mutex_;
  std::condition_variable not_empty_, not_full_;
  std::deque<std::unique_ptr<Block>> blocks_;
};

void transform(Block& block) {
  for (int round = 0; round < 8; round++)
    for (int i = 0; i < 1024; i++)
      block.words[i] = (block.words[i] ^ block.words[i ^ (round * 37 + 1)]) * 2654435761u + i;
}
}  // namespace

int main(int argc, char** argv) {
  auto [threads, size] = bench::arguments(argc, argv, 60000);
  BoundedQueue raw, done;
  std::thread source([&, threads = threads, size = size] {
    bench::Random random(9);
    for (long i = 0; i < size; i++) {
      auto block = std::make_unique<Block>();
      block->number = i;
      for (uint32_t& word : block->words) word = static_cast<uint32_t>(random.next());
      raw.push(std::move(block));
    }
    for (int t = 0; t < threads; t++) raw.push(nullptr);
  });
  uint64_t checksum = 0;
  std::thread sink([&, size = size] {
    for (long i = 0; i < size; i++) {
      auto block = done.pop();
      uint64_t sum = 0;
      for (uint32_t word : block->words) sum = sum * 31 + word;
      checksum += sum * (block->number + 1);
    }
  });
  bench::parallel(threads, [&](int) {
    while (auto block = raw.pop()) {
      transform(*block);
      done.push(std::move(block));
    }
  });
  source.join();
  sink.join();
  return bench::finish(checksum);
}
