// SPDX-License-Identifier: Apache-2.0
//
// A pipeline over bounded queues (mutex and two condition variables): one source, middle threads that
// transform blocks, one sink that adds them up. With `threads` middle threads; `work` words in blocks of
// `data`.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "../kernel.h"

namespace {
struct Block {
  long number;
  std::vector<uint32_t> words;
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
  const size_t size = block.words.size();  // a multiple of 1024
  for (size_t round = 0; round < 8; round++)
    for (size_t i = 0; i < size; i++)
      block.words[i] = (block.words[i] ^ block.words[i ^ (round * 37 + 1)]) * 2654435761u + i;
}
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 60000000, 1024);
  const long size = (data + 1023) / 1024 * 1024, blocks = work / size + 1;
  BoundedQueue raw, done;
  uint64_t checksum = 0;
  auto source = [&, threads = threads] {
    for (long i = 0; i < blocks; i++) {
      auto block = std::make_unique<Block>(Block{i, std::vector<uint32_t>(size)});
      // Quicker than the middle threads, so that the queue fills.
      for (long n = 0; n < size; n++) block->words[n] = static_cast<uint32_t>(i * size + n) * 2246822519u;
      raw.push(std::move(block));
    }
    for (int t = 0; t < threads; t++) raw.push(nullptr);
  };
  auto sink = [&] {
    for (long i = 0; i < blocks; i++) {
      auto block = done.pop();
      uint64_t sum = 0;
      for (uint32_t word : block->words) sum = sum * 31 + word;
      checksum += sum * (block->number + 1);
    }
  };
  bench::parallel(threads + 2, [&, threads = threads](int t) {
    if (t == threads) return source();
    if (t == threads + 1) return sink();
    while (auto block = raw.pop()) {
      transform(*block);
      done.push(std::move(block));
    }
  });
  return bench::finish(checksum);
}
