// SPDX-License-Identifier: Apache-2.0
#include "trace/decode_pipeline.h"

namespace duress::trace {

Block* BlockQueue::empty() {
  MutexLock lock(mutex_);
  while (!stopped_ && empty_.empty()) changed_.wait(lock);
  if (stopped_) return nullptr;
  Block* block = empty_.front();
  empty_.pop_front();
  return block;
}

void BlockQueue::put(Block* block) {
  MutexLock lock(mutex_);
  full_.push_back(block);
  changed_.notify_one();
}

void BlockQueue::end() {
  MutexLock lock(mutex_);
  ended_ = true;
  changed_.notify_one();
}

Block* BlockQueue::take() {
  MutexLock lock(mutex_);
  while (!ended_ && full_.empty()) changed_.wait(lock);
  if (full_.empty()) return nullptr;
  Block* block = full_.front();
  full_.pop_front();
  return block;
}

void BlockQueue::give_back(Block* block) {
  block->step_count = block->access_count = block->sync_count = 0;
  MutexLock lock(mutex_);
  empty_.push_back(block);
  changed_.notify_one();
}

void BlockQueue::stop() {
  MutexLock lock(mutex_);
  stopped_ = true;
  changed_.notify_one();
}

}  // namespace duress::trace
