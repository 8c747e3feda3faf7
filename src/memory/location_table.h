// SPDX-License-Identifier: Apache-2.0
//
// From an address to the histories of the bytes there. Programs access the same bytes with different sizes,
// by memcpy, in libraries that are not instrumented; the table keeps histories apart so that each byte that
// is ever returned is one that some store wrote there, and still legal.
//
// Memory is divided into tearing words (8 bytes, or 4). A word holds a few *locations*: pieces of it that do
// not overlap, each with its own history. Locations follow the stores: one that writes a part of a location
// splits it, one that covers several is appended to each. A load takes the locations it covers as they were
// at one moment, so that it never sees the halves of two stores within a word. Across words it may: a value
// wider than the tearing word, or misaligned across it, is read word by word, each chosen separately.
#pragma once

#include "memory/choices.h"
#include "memory/store_history.h"

namespace duress::memory {

struct Extent {
  uptr begin, end;
  u64 size() const { return end - begin; }
};

/// Whether an access to bytes that are not tracked begins to track them. Which accesses do is the caller's
/// decision: those of racing sites; of arrays, as JUMBLE does, those with a few chosen indexes.
enum class Tracking : u8 { kOnlyTracked, kBegin };

/// The bytes that a store writes: those of a buffer, or one byte again and again.
class Source {
 public:
  explicit Source(const u8* bytes) : bytes_(bytes) {}
  static Source repeat(u8 fill) {
    Source source(nullptr);
    source.fill_ = fill;
    return source;
  }
  u8 at(u64 i) const { return bytes_ ? bytes_[i] : fill_; }

 private:
  const u8* bytes_;
  u8 fill_ = 0;
};

/// At most 16 bytes as a number.
inline u128 gather(const u8* bytes, u64 size) {
  if (size == 8 || size == 4) {  // nearly all; a call for other sizes
    u64 value = 0;
    if (size == 8) {
      __builtin_memcpy(&value, bytes, 8);
    } else {
      __builtin_memcpy(&value, bytes, 4);
    }
    return value;
  }
  u128 value = 0;
  __builtin_memcpy(&value, bytes, size);
  return value;
}

/// The other way round.
inline void scatter(u8* into, u128 value, u64 size) {
  if (size == 8) {
    __builtin_memcpy(into, &value, 8);
  } else if (size == 4) {
    __builtin_memcpy(into, &value, 4);
  } else {
    __builtin_memcpy(into, &value, size);
  }
}

struct Location {
  StoreHistory history;
  Location* next;  // in its word, by address
};

/// One tearing word of which some bytes are tracked.
struct Word {
  explicit Word(Arena& arena, uptr at) : base(at), stale_runs(arena) {}

  uptr base;
  Word* next = nullptr;       // in its bucket
  Location* first = nullptr;  // by address
  u128 last_read = 0;         // what the last read of each byte returned
  u32 read_bytes = 0;         // bit i: byte i was read
  VectorClock stale_runs;     // not a time: how many loads in a row were stale, by the thread's slot
};

/// Threads: one at a time. Runs inside the target: memory comes from the arena.
class LocationTable {
 public:
  struct Options {
    u32 tear = 8;              // bytes of a tearing word: 4 or 8; 16: aligned 16-byte values do not tear
    u32 most_words = 1 << 16;  // 20 MB at about 300 bytes for a word with one short history
  };

  LocationTable(Arena& arena, ClockSource& threads, Options options);
  ~LocationTable();
  LocationTable(const LocationTable&) = delete;
  LocationTable& operator=(const LocationTable&) = delete;

  /// A store, or a range write of any size. `before` is what memory holds in the extent until then.
  /// True if any of it was tracked.
  bool store(const Viewer& who, Extent extent, Tracking tracking, SiteId site, const u8* before,
             Source value);

  /// The part of `extent` that begins at `at` and lies in one tearing word.
  Extent piece(Extent extent, uptr at) const {
    uptr end = (at & ~uptr{options_.tear - 1}) + options_.tear;
    return {at, end < extent.end ? end : extent.end};
  }
  /// What a load of one piece may return. `memory` is what memory holds there. Null: nothing is tracked
  /// there.
  Word* legal_values(const Viewer& who, Extent piece, Tracking tracking, const u8* memory, Legal& legal);
  /// A load of the piece returned this.
  void note_read(Word& word, Extent piece, u128 value);

  /// The bytes are gone (free, a stack frame that returned): drops every location that they overlap.
  /// True if there were any.
  bool forget(Extent extent);

  Statistics& statistics() { return statistics_; }
  const Statistics& statistics() const { return statistics_; }
  u32 words() const { return words_; }
  /// The location that holds the byte, or null.
  const StoreHistory* location(uptr address) const;

 private:
  Word* find(uptr base) const;
  Word* make(uptr base);
  void erase(Word* word);
  void grow();
  u64 bucket(uptr base) const { return mix(base) & (buckets_size_ - 1); }
  static u64 mix(uptr base) { return base * 0x9e3779b97f4a7c15u >> 20; }
  template <typename Visit>
  void each_word(Extent extent, Visit visit);

  void drop(Location** link);
  bool drop_unseen(Word& word, Extent piece, const u8* memory);
  bool begin_tracking(Word& word, Extent piece, const u8* memory);
  Location* insert(Location** link, Extent extent, u128 initial);
  Word* settle(Extent piece, Tracking tracking, const u8* memory, bool* began);
  void split_at(Word& word, uptr address);
  bool store_word(const Viewer& who, Word& word, Extent part, SiteId site, uptr begin, Source value);

  Arena& arena_;
  ClockSource& threads_;
  Options options_;
  Statistics statistics_;
  u64 now_ = 0;  // the moment: grows with every store and every beginning
  Word** buckets_;
  u64 buckets_size_ = 64;
  u32 words_ = 0;
};

}  // namespace duress::memory
