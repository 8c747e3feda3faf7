// SPDX-License-Identifier: Apache-2.0
#include "trace/decode_pipeline.h"

namespace duress::trace {

Block* BlockQueue::empty() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || !empty_.empty(); });
  if (stopped_) return nullptr;
  Block* block = empty_.front();
  empty_.pop_front();
  return block;
}

void BlockQueue::put(Block* block) {
  std::lock_guard lock(mutex_);
  full_.push_back(block);
  changed_.notify_one();
}

void BlockQueue::end() {
  std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_one();
}

Block* BlockQueue::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ended_ || !full_.empty(); });
  if (full_.empty()) return nullptr;
  Block* block = full_.front();
  full_.pop_front();
  return block;
}

void BlockQueue::give_back(Block* block) {
  block->step_count = block->access_count = block->sync_count = 0;
  std::lock_guard lock(mutex_);
  empty_.push_back(block);
  changed_.notify_one();
}

void BlockQueue::stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_one();
}

}  // namespace duress::trace
