// SPDX-License-Identifier: Apache-2.0
//
// A pipeline of two threads: one reads, unpacks, decodes and merges a trace, the caller's analyses it.
// Decoding is the smaller half of the work for FastTrack (docs/design/trace.md). As the next events are
// known, the shadow cells of accesses are prefetched before they are analysed.
#pragma once

#include <deque>
#include <exception>
#include <thread>

#include "base/mutex.h"
#include "trace/trace_file.h"

namespace duress::trace {

/// A piece of a trace, in order.
struct Block {
  static constexpr std::size_t kAccesses = 4096;  // 96 KiB: a fifth of a core's second-level cache
  struct Step {
    Tid thread;
    u32 accesses;  // 0: a synchronisation, the next of `syncs`
  };
  u32 step_count = 0, access_count = 0, sync_count = 0;
  Step steps[kAccesses];
  Access accesses[kAccesses];
  Sync syncs[kAccesses];

  /// Is there room for `more` accesses, or for a synchronisation event?
  bool room(std::size_t more) const {
    return access_count + more <= kAccesses && step_count < kAccesses && sync_count < kAccesses;
  }
};

/// Hands blocks from one thread to another, at most kBlocks at a time.
/// Threads: one that puts, one that takes.
class BlockQueue {
 public:
  static constexpr std::size_t kBlocks = 4;

  BlockQueue() {
    for (std::size_t i = 0; i < kBlocks; ++i) empty_.push_back(&blocks_[i]);
  }

  /// A block to fill. Null: the consumer has stopped.
  Block* empty();
  void put(Block* block);
  void end();  // nothing is put any more

  /// The next one; null at the end.
  Block* take();
  void give_back(Block* block);
  void stop();  // nothing is taken any more

 private:
  Mutex mutex_;
  Condition changed_;
  std::unique_ptr<Block[]> blocks_{new Block[kBlocks]};
  std::deque<Block*> empty_ DURESS_GUARDED_BY(mutex_), full_ DURESS_GUARDED_BY(mutex_);
  bool ended_ DURESS_GUARDED_BY(mutex_) = false, stopped_ DURESS_GUARDED_BY(mutex_) = false;
};

/// Calls of `play` what EventReader::each() would: play(const Event&), play(thread, accesses, count); and
/// play.soon(address) some accesses before.
template <typename Play>
void each_pipelined(EventReader& reader, Play play) {
  BlockQueue blocks;
  std::exception_ptr failed;
  std::thread decoder([&] {
    struct Stopped {};
    struct Fill {
      BlockQueue& blocks;
      Block* block;
      void next() {
        blocks.put(block);
        block = blocks.empty();
        if (!block) throw Stopped();
      }
      void operator()(const Event& event) {
        if (!block->room(0)) next();
        block->steps[block->step_count++] = {event.thread, 0};
        block->syncs[block->sync_count++] = event.sync;
      }
      void operator()(Tid thread, const Access* accesses, std::size_t count) {
        if (!block->room(count)) next();
        block->steps[block->step_count++] = {thread, static_cast<u32>(count)};
        Access* to = block->accesses + block->access_count;
        for (std::size_t i = 0; i < count; ++i) to[i] = accesses[i];
        block->access_count += static_cast<u32>(count);
      }
    };
    try {
      Fill fill{blocks, blocks.empty()};
      if (!fill.block) return;
      reader.each(std::ref(fill));
      blocks.put(fill.block);
    } catch (const Stopped&) {
    } catch (...) {
      failed = std::current_exception();
    }
    blocks.end();
  });
  struct Join {
    BlockQueue& blocks;
    std::thread& decoder;
    ~Join() {
      blocks.stop();
      decoder.join();
    }
  };
  {
    Join join{blocks, decoder};
    constexpr std::size_t kSoon = 48;  // a cell from memory takes as long as about ten accesses
    while (Block* block = blocks.take()) {
      const Access *at = block->accesses, *end = at + block->access_count, *soon = at;
      const Sync* sync = block->syncs;
      for (u32 i = 0; i < block->step_count; ++i) {
        const Block::Step step = block->steps[i];
        if (step.accesses == 0) {
          play(Event::of(step.thread, *sync++));
          continue;
        }
        const Access* until =
            end - at > static_cast<std::ptrdiff_t>(step.accesses + kSoon) ? at + step.accesses + kSoon : end;
        for (; soon < until; ++soon) play.soon(soon->address);
        play(step.thread, at, step.accesses);
        at += step.accesses;
      }
      blocks.give_back(block);
    }
  }
  if (failed) std::rethrow_exception(failed);
}

}  // namespace duress::trace
