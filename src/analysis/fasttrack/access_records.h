// SPDX-License-Identifier: Apache-2.0
//
// Access records: a shadow cell holds 26-bit numbers, and each number stands for one (thread, epoch,
// site, call stack, locks held). So both stacks of a race are always known, however long ago the first
// access was, at 16 bytes for each place that accessed memory in an epoch instead of 16 bytes for each
// accessed word. (ThreadSanitizer's ring of recent events forgets old ones.)
//
// A thread takes numbers from chunks of its own, in order; the numbers of its current epoch are a
// range, which is all that inline code needs to know. Numbers that no cell mentions any more are
// collected by FastTrack::collect() when records would cost more than shadow does.
#pragma once

#include "clock/vector_clock.h"
#include "event/access.h"
#include "shadow/cell.h"

namespace duress {

/// All that a race check needs. Kept apart from the rest because records are read in random order.
struct AccessTime {
  Clock clock;
  Slot slot;
  LockSetId locks;
};
static_assert(sizeof(AccessTime) == 8 && sizeof(Place) == 8);

/// What is true of all records of a chunk, small enough to stay in the first-level cache where the records
/// themselves, looked up in random order, do not.
struct ChunkTime {
  std::atomic<Clock> last;  // no record is of a later epoch
  std::atomic<Slot> slot;   // kNoSlot: of several threads
};

struct AccessRecord {
  Place place;
  AccessTime time;
};

/// Threads: chunks are handed out under a lock; a record is written by one thread before its number
/// appears in any cell, and never changes while it is in use.
class AccessRecords {
 public:
  static constexpr u32 kChunk = 256;  // records: half a page of times, half a page of places
  static constexpr u32 kChunks = 1u << (kIdBits - 8);

  AccessRecords();
  ~AccessRecords();

  const AccessTime& time(AccessId id) const { return times_[id]; }
  const ChunkTime& chunk_time(AccessId id) const { return chunk_times_[id / kChunk]; }
  Slot slot(AccessId id) const {
    Slot all = chunk_time(id).slot.load(std::memory_order_relaxed);
    return all != kNoSlot ? all : times_[id].slot;
  }
  AccessRecord operator[](AccessId id) const { return {places_[id], times_[id]}; }
  void set(AccessId id, const AccessRecord& record) {
    places_[id] = record.place;
    times_[id] = record.time;
  }

  /// A chunk that nobody uses, for records of one thread (kNoSlot: of several); the first number of it. 0 if
  /// there is none left.
  AccessId take_chunk(Slot slot);
  /// No more records come to the chunk that `id` is in; the last was of this epoch.
  void close_chunk(AccessId id, Clock last) {
    chunk_times_[id / kChunk].last.store(last, std::memory_order_relaxed);
  }
  void give_back(u32 chunk);
  u32 chunks_in_use() const { return in_use_; }
  /// One past the highest chunk ever used.
  u32 chunk_limit() const { return fresh_; }
  bool chunk_used(u32 chunk) const { return used_[chunk]; }
  /// Offline, where records are made so fast that taking their pages one by one is a tenth of the work.
  void use_huge_pages();
  void reset_lock() { new (&lock_) SpinLock; }

 private:
  AccessTime* times_;  // half a GiB of address space each, touched chunk by chunk
  Place* places_;
  ChunkTime* chunk_times_;
  u32* free_;  // a stack of chunk numbers
  bool* used_;
  u32 free_count_ = 0;
  u32 fresh_ = 1;  // chunk 0 holds number 0, "no access"
  u32 in_use_ = 0;
  SpinLock lock_;
};

}  // namespace duress
