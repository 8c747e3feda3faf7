// SPDX-License-Identifier: Apache-2.0
//
// A small machine for tests: threads with real clocks, locks, and an array that stands for memory. It calls a
// model as the runtime's hooks will.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/prng.h"
#include "base/scoped_arena.h"
#include "clock/thread_clock.h"
#include "memory/heuristics.h"
#include "memory/stale_model.h"

namespace duress::memory::testing {

class Threads final : public ClockSource {
 public:
  explicit Threads(Arena& arena) : arena_(arena) {}

  /// A thread that knows nothing: the paper's inc_t(⊥).
  u32 start() {
    auto slot = static_cast<Slot>(clocks_.size());
    clocks_.push_back(std::make_unique<ThreadClock>(arena_, slot, 1));
    return raw(slot);
  }
  u32 fork(u32 creator) {
    u32 created = start();
    ReleaseClock handed;
    clocks_[creator]->release_to(handed);
    clocks_[created]->acquire(handed);
    handed.clear(arena_);
    return created;
  }
  ThreadClock& operator[](u32 t) { return *clocks_[t]; }
  Viewer viewer(u32 t) { return {clocks_[t]->clock(), clocks_[t]->slot()}; }
  /// Before a store: opens a new epoch if the thread has released.
  Viewer writer(u32 t) {
    clocks_[t]->tick_if_released();
    return viewer(t);
  }
  u32 size() const { return static_cast<u32>(clocks_.size()); }

  const VectorClock* next(u32* cursor) override {
    return *cursor < size() ? &clocks_[(*cursor)++]->clock() : nullptr;
  }

 private:
  Arena& arena_;
  std::vector<std::unique_ptr<ThreadClock>> clocks_;
};

/// Draws from a seed and counts how often it was asked.
class SeededChooser final : public Chooser {
 public:
  explicit SeededChooser(u64 seed) : prng_(seed) {}
  u32 choose(u32 count) override {
    ++asked;
    return static_cast<u32>(prng_.below(count));
  }
  u32 asked = 0;

 private:
  Prng prng_;
};

/// Threads, locks and kBytes of memory at address kBase, all zero.
class World {
 public:
  static constexpr uptr kBase = 0x10000;
  static constexpr u32 kBytes = 64;

  explicit World(StaleModel::Options options = {}) : threads(arena), model(arena, threads, options) {}
  ~World() {
    for (ReleaseClock& lock : locks) lock.clear(arena);
  }

  void acquire(u32 t, u32 lock) { threads[t].acquire(locks[lock]); }
  void release(u32 t, u32 lock) { threads[t].release_to(locks[lock]); }

  void store(u32 t, u32 offset, u32 size, u64 value, SiteId site = SiteId{1}) {
    u8 bytes[16] = {};
    memcpy(bytes, &value, sizeof value);
    store_bytes(t, offset, size, bytes, Tracking::kBegin, site);
  }
  void store_bytes(u32 t, u32 offset, u32 size, const u8* bytes, Tracking tracking, SiteId site = SiteId{1}) {
    model.store(threads.writer(t), at(offset, size), tracking, site, bytes_ + offset, Source(bytes));
    memcpy(bytes_ + offset, bytes, size);
  }
  void fill(u32 t, u32 offset, u32 size, u8 byte) {
    model.store(threads.writer(t), at(offset, size), Tracking::kOnlyTracked, SiteId{2}, bytes_ + offset,
                Source::repeat(byte));
    memset(bytes_ + offset, byte, size);
  }
  void unseen_write(u32 offset, u32 size, u64 value) { memcpy(bytes_ + offset, &value, size); }

  LoadResult load_bytes(u32 t, u32 offset, u32 size, u8* into, Picker& picker,
                        Tracking tracking = Tracking::kBegin) {
    return model.load(threads.viewer(t), at(offset, size), tracking, bytes_ + offset, into, picker);
  }
  u64 load(u32 t, u32 offset, u32 size, HeuristicId heuristic) {
    HeuristicPicker picker(heuristic, chooser);
    u64 value = 0;
    last = load_bytes(t, offset, size, reinterpret_cast<u8*>(&value), picker);
    return value;
  }
  /// The legal values of a load of at most 8 bytes within one word, newest first.
  std::vector<u64> legal(u32 t, u32 offset, u32 size) {
    struct Recorder final : Picker {
      u32 pick(const Legal& legal) override {
        for (u32 i = 0; i < legal.count; ++i) values.push_back(static_cast<u64>(legal.values[i].value));
        return 0;
      }
      std::vector<u64> values;
    } recorder;
    u64 value = 0;
    load_bytes(t, offset, size, reinterpret_cast<u8*>(&value), recorder);
    if (recorder.values.empty()) recorder.values.push_back(value);
    return recorder.values;
  }
  void forget(u32 offset, u32 size) { model.forget(at(offset, size)); }
  const u8* bytes() const { return bytes_; }
  static Extent at(u32 offset, u32 size) { return {kBase + offset, kBase + offset + size}; }

  ScopedArena arena;
  Threads threads;
  StaleModel model;
  ReleaseClock locks[4];
  SeededChooser chooser{1};
  LoadResult last;

 private:
  alignas(16) u8 bytes_[kBytes] = {};
};

}  // namespace duress::memory::testing
