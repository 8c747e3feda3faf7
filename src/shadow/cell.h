// SPDX-License-Identifier: Apache-2.0
//
// The shadow of eight bytes of the target's memory: two words of 64 bits, one for writes (at +0) and
// one for reads (at +8). 16 bytes for 8, so shadow memory is twice the memory tracked.
//
//   63        38 37        12 11 10  9  8  7      0
//   [ id  : 26 ] [ old : 26 ] [E][P][L][S][ rest:8 ]
//
// `id` names the newest access (an entry of the access records), `old` the one before it. A bit of
// `rest` says that the byte is *not* covered by `id`: its last access is `old`. So two different
// accesses can share a cell exactly: an array of ints swept by one thread after another is always
// "part new, part old" and never needs more than this. Zero means never accessed, so fresh pages
// are valid shadow.
//
// What does not fit (three accesses in one cell, concurrent readers) spills, flag P: `old` is the index
// of a block in the spill pool, which holds the truth; `id` and `rest` still say which bytes one thread
// has accessed in one epoch, so that "same epoch" is recognised there too.
//
// E: both accesses are of one thread and one epoch, and cover all bytes. Then `rest` is 0, so that
// every byte is found "same epoch" at once, and which byte is whose moves to `old` with the second access as
// an offset in its chunk. Without it the two ints of a cell that two lines of code write in turn would send
// each other to the slow path. L, write word: the line is locked (first cell of a line only). L, read word:
// `id` and `old` both read the bytes that are not in `rest`: two threads that read the same memory, by far
// the commonest sharing, need no set. P and L: its reads are kept elsewhere, with the threads. S, write word:
// atomics or locks live here.
#pragma once

#include "base/spin_lock.h"
#include "duress/hooks.h"

namespace duress {

/// Index of an access record; 0: no access.
using AccessId = u32;
constexpr int kIdBits = 26;
constexpr int kIdShift = 64 - kIdBits;  // in a word
constexpr AccessId kIdMask = (AccessId{1} << kIdBits) - 1;

/// One decoded word of a cell.
struct Word {
  AccessId id;
  AccessId old;  // spilled: an index of the spill pool
  u8 rest;  // bytes whose access is `old`; spilled: bytes that `id`'s thread has not accessed in its epoch;
            // both: bytes that were not accessed
  bool spilled;
  bool both;  // read word: two readers of the same bytes
  bool sync;  // write word: atomics or locks live here; see analysis/fasttrack

  static Word decode(u64 w) {
    auto id = static_cast<AccessId>(w >> kIdShift), old = static_cast<AccessId>(w >> 12) & kIdMask;
    if (w & kEpochBit)
      return {id,
              (id & ~AccessId{255}) | (old & 255),
              static_cast<u8>(old >> 8),
              false,
              false,
              (w & kSyncBit) != 0};
    return {id, old, static_cast<u8>(w), (w & kSpillBit) != 0, (w & kBothBit) != 0, (w & kSyncBit) != 0};
  }
  /// REQUIRES: not both in a write word, where the bit is the lock.
  u64 encode() const {
    return u64{id} << kIdShift | u64{old} << 12 | (spilled ? kSpillBit : 0) | (both ? kBothBit : 0) |
           (sync ? kSyncBit : 0) | rest;
  }
  /// The same for two accesses of one thread's current epoch. REQUIRES: they are of one chunk of 256 numbers.
  u64 encode_one_epoch() const {
    return u64{id} << kIdShift | u64{(old & 255) | AccessId{rest} << 8} << 12 | kEpochBit |
           (sync ? kSyncBit : 0);
  }
  /// The access of one byte. REQUIRES: not spilled, not both.
  AccessId of_byte(int byte) const { return (rest >> byte) & 1 ? old : id; }

  static constexpr u64 kEpochBit = 1u << 11;
  static constexpr u64 kSpillBit = 1u << 10;
  static constexpr u64 kLockBit = 1u << 9;
  static constexpr u64 kBothBit = 1u << 9;
  static constexpr u64 kSyncBit = 1u << 8;
  /// A read word, P and L and nothing else: its reads are in the read pages of analysis/fasttrack.
  static constexpr u64 kPaged = kSpillBit | kBothBit;
  static bool is_paged(u64 reads) { return reads == kPaged; }
};

constexpr uptr kGranule = 8;

struct Cell {
  std::atomic<u64> write;
  std::atomic<u64> read;

  u64 writes() const { return write.load(std::memory_order_relaxed) & ~Word::kLockBit; }
  u64 reads() const { return read.load(std::memory_order_relaxed); }
  // REQUIRES: the cell's line is locked by the caller.
  void set_writes(u64 w) {
    write.store(w | (write.load(std::memory_order_relaxed) & Word::kLockBit), std::memory_order_relaxed);
  }
  void set_reads(u64 r) { read.store(r, std::memory_order_release); }  // after what it refers to
};
static_assert(sizeof(Cell) == 2 * kGranule);

/// Four cells, one cache line, one lock: bit L of the first cell's write word. Locking costs one
/// atomic instruction (about 7 ns here), so a sweep over memory pays it for every 32 bytes, not for
/// every cell; and threads that use neighbouring cells contend for the cache line in any case.
struct alignas(64) Line {
  static constexpr u32 kCells = 4;
  static constexpr uptr kBytes = kGranule * kCells;  // of target memory

  Cell cells[kCells];

  static Line* of(Cell* cell) { return reinterpret_cast<Line*>(reinterpret_cast<uptr>(cell) & ~uptr{63}); }

  void lock() {
    if (DURESS_UNLIKELY(!try_lock())) lock_slow();
  }
  /// Without looking first: shadow that is read before it is written takes two page faults.
  bool try_lock() {
    return !(cells[0].write.fetch_or(Word::kLockBit, std::memory_order_acquire) & Word::kLockBit);
  }
  void unlock() { cells[0].write.store(cells[0].writes(), std::memory_order_release); }
  /// Writes to the line without changing it: shadow that is read before it is written costs two page faults,
  /// the second of which interrupts all processors. That was half of the time of pbzip2.
  void touch() {
    u64 unused = 0;
    cells[0].write.compare_exchange_strong(unused, 0, std::memory_order_relaxed);
  }

 private:
  __attribute__((noinline)) void lock_slow() {
    for (int spins = 0;; ++spins) {
      u64 w = cells[0].write.load(std::memory_order_relaxed);
      if (!(w & Word::kLockBit)) {
        if (cells[0].write.compare_exchange_weak(w, w | Word::kLockBit, std::memory_order_acquire)) return;
      } else if (spins < 64) {
        __builtin_ia32_pause();
      } else {
        yield_processor();
      }
    }
  }
};
static_assert(sizeof(Line) == 64);

/// Holds the line of a cell.
class LineGuard {
 public:
  explicit LineGuard(Cell* cell) : line_(Line::of(cell)) { line_->lock(); }
  ~LineGuard() { line_->unlock(); }
  LineGuard(const LineGuard&) = delete;
  LineGuard& operator=(const LineGuard&) = delete;

 private:
  Line* line_;
};

}  // namespace duress
