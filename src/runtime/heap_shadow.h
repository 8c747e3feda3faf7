// SPDX-License-Identifier: Apache-2.0
//
// Which bytes of the heap belong to which block, which were freed and which were never written: two bytes
// for each eight of the heap. Memory that nobody has announced here is unknown, and nothing is said of it.
#pragma once

#include "base/types.h"
#include "runtime/heap_call.h"

namespace duress {

/// Threads: one at a time.
class HeapShadow {
 public:
  HeapShadow() = default;
  ~HeapShadow() { clear(); }
  HeapShadow(const HeapShadow&) = delete;
  HeapShadow& operator=(const HeapShadow&) = delete;

  enum class Found : u8 { kFine, kFreed, kOutside };

  struct Block {
    uptr start;   // a multiple of 8
    u64 size;     // that was asked for
    u64 usable;   // up to here nothing else lies
    bool header;  // the 8 bytes in front belong to nobody but the allocator
  };
  /// A block begins. `written`: all of it has a value.
  void allocated(const Block& block, HeapCall by, bool written);
  /// The block that begins there was freed, but its memory is not given to anybody else.
  void freed(uptr start);
  /// Nothing is known of its memory any more.
  void forget(uptr start);
  void forget_range(uptr from, u64 size);
  /// The same of all memory.
  void clear();
  /// That was asked for.
  u64 size_of(uptr start) const;

  /// Whether an access is to memory of a live block, or to unknown memory.
  Found look(uptr address, u64 size) const;
  void wrote(uptr address, u64 size);
  /// Whether nobody was seen to write any byte of it. Only of memory of a live block.
  bool never_written(uptr address, u64 size) const;

  bool is_known(uptr address) const { return granule(address) != 0; }
  /// Whether a block begins at exactly this address, live or freed.
  bool begins(uptr address) const { return address % kBytes == 0 && (granule(address) & kBegin) != 0; }
  bool is_freed(uptr address) const { return (granule(address) & kFreed) != 0; }
  /// How the block that begins here was allocated; kUnknown: nobody has told.
  HeapCall call_of(uptr start) const;
  /// Where the block begins that an address is in, or lies beside; 0: unknown.
  uptr begin_of(uptr address) const;

 private:
  static constexpr uptr kBytes = 8;  // of the heap for each granule
  // The lower byte of a granule: how many of its bytes, the first ones, belong to a block, and
  static constexpr u16 kSize = 0x0f, kBegin = 0x10, kFreed = 0x20, kKnown = 0x40;
  static constexpr u16 kBefore = 0x80;     // in front of a block; kSize holds the HeapCall
  static constexpr int kWrittenShift = 8;  // the upper one: a bit for each byte that was written

  static constexpr int kRegionBits = 32, kAddressBits = 47;
  static constexpr u32 kRegions = 1u << (kAddressBits - kRegionBits);
  static constexpr u64 kRegionGranules = (u64{1} << kRegionBits) / kBytes;

  u16* find(uptr address) const {
    if (!regions_ || address >> kAddressBits) return nullptr;
    u16* region = regions_[address >> kRegionBits];
    return region ? &region[(address & ((uptr{1} << kRegionBits) - 1)) / kBytes] : nullptr;
  }
  u16 granule(uptr address) const {
    const u16* at = find(address);
    return at ? *at : 0;
  }
  u16* make(uptr address);
  /// Calls body(granule) for each of the block that begins there, with what lies behind it.
  template <typename Body>
  void each_granule(uptr start, Body body) const {
    u16* at = find(start);
    for (bool first = true; at && (*at & kKnown) && (first || !(*at & (kBegin | kBefore)));
         at = find(start), first = false) {
      body(*at);
      start += kBytes;
    }
  }
  void set(uptr from, uptr to, u16 value);

  u16** regions_ = nullptr;
};

}  // namespace duress
