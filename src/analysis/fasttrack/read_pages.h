// SPDX-License-Identifier: Apache-2.0
//
// The reads of memory that several threads read, kept with each thread: a page of words for 256 bytes of
// memory and a slot of the vector clocks. A thread that reads on in its next epoch changes its own word and
// nothing that others read or write; only a write has to look at all of them. The cell says that its reads
// are here (Word::kPaged); otherwise all its words are 0.
//
// Pages are small because threads read large structures here and there: with pages of 4 KiB the words of a
// tree of 150 MB that 32 threads searched took 3 GB, with these 0.3.
#pragma once

#include "base/spin_lock.h"
#include "clock/vector_clock.h"
#include "shadow/cell.h"

namespace duress {

/// A read word as in a cell (shadow/cell.h): up to two of the thread's accesses.
using ReadPageWord = std::atomic<u64>;

/// Threads: any. Pages are only ever added.
class ReadPages {
 public:
  static constexpr u32 kMostSlots = 1024;  // reads of further threads are kept in sets

  ReadPages() = default;
  ~ReadPages();

  /// Where a thread's last words were: words never move.
  struct Hint {
    uptr page = 0;
    ReadPageWord* words = nullptr;
  };
  /// The word of a granule for the slot of the thread that has the hint; null if there is none yet.
  ReadPageWord* find(Hint& hint, Slot slot, uptr granule) const {
    if (hint.words && hint.page == granule >> kPageBits) return hint.words + index_of(granule);
    ReadPageWord* word = find(slot, granule);
    if (word) hint = {granule >> kPageBits, word - index_of(granule)};
    return word;
  }
  /// The same for any slot.
  ReadPageWord* find(Slot slot, uptr granule) const {
    Page* page = page_of(granule);
    if (!page || raw(slot) >= kMostSlots) return nullptr;
    const u32 index = raw(slot) / kGroupSlots, in_group = raw(slot) % kGroupSlots;
    Group* group = &page->first;
    if (index) {
      Groups* more = page->more.load(std::memory_order_acquire);
      if (!more || index >= more->count) return nullptr;
      group = more->of[index].load(std::memory_order_acquire);
      if (!group) return nullptr;
    }
    ReadPageWord* words = group->words[in_group].load(std::memory_order_acquire);
    return words ? words + index_of(granule) : nullptr;
  }
  /// The word of a granule for a slot, made if need be; null if the slot is too high or memory is short.
  ReadPageWord* make(Slot slot, uptr granule);

  /// Calls visit(word) for every slot that has a word of the granule.
  template <typename Visit>
  void each(uptr granule, Visit visit) const {
    if (Page* page = page_of(granule)) {
      page->each([&](ReadPageWord* words) { visit(words[index_of(granule)]); });
    }
  }
  /// Calls visit(word) for every word that is not 0.
  template <typename Visit>
  void each_word(Visit visit) const {
    for (Page* page = pages_; page; page = page->next) {
      page->each([&](ReadPageWord* words) {
        for (u32 i = 0; i < kWords; ++i) {
          if (words[i].load(std::memory_order_relaxed)) visit(words[i]);
        }
      });
    }
  }

  void reset_lock() { new (&lock_) SpinLock; }

 private:
  static constexpr int kPageBits = 8, kRegionBits = 32;
  static constexpr u32 kWords = 1u << (kPageBits - 3);
  static constexpr u32 kGroupSlots = 8, kFewGroups = 16;
  static constexpr u32 kRegions = 1u << (47 - kRegionBits);

  struct Group {
    std::atomic<ReadPageWord*> words[kGroupSlots];

    template <typename Visit>
    void each(Visit visit) {
      for (std::atomic<ReadPageWord*>& of_slot : words) {
        if (ReadPageWord* made = of_slot.load(std::memory_order_acquire)) visit(made);
      }
    }
  };
  /// By slot / kGroupSlots; the first is in the page.
  struct Groups {
    u32 count;
    std::atomic<Group*> of[];
  };
  struct Page {
    Group first;
    std::atomic<Groups*> more;  // replaced by a larger copy if need be
    Page* next;

    template <typename Visit>
    void each(Visit visit) {
      first.each(visit);
      Groups* others = more.load(std::memory_order_acquire);
      if (!others) return;
      for (u32 i = 1; i < others->count; ++i) {
        if (Group* group = others->of[i].load(std::memory_order_acquire)) group->each(visit);
      }
    }
  };
  using Region = std::atomic<Page*>[1u << (kRegionBits - kPageBits)];

  static u32 index_of(uptr granule) { return static_cast<u32>(granule >> 3) % kWords; }
  Page* page_of(uptr granule) const {
    std::atomic<Region*>* regions = regions_.load(std::memory_order_acquire);
    if (!regions) return nullptr;
    Region* region = regions[granule >> kRegionBits].load(std::memory_order_acquire);
    return region ? (*region)[(granule >> kPageBits) % std::size(*region)].load(std::memory_order_acquire)
                  : nullptr;
  }
  Page* make_page(uptr granule);
  Group* make_group(Page& page, u32 index);
  void* take(size_t bytes);

  std::atomic<std::atomic<Region*>*> regions_{nullptr};  // kRegions of them
  Page* pages_ = nullptr;
  char* fresh_ = nullptr;  // of the last block
  char* fresh_end_ = nullptr;
  struct Block {
    Block* next;
    size_t bytes;
  };
  Block* blocks_ = nullptr;
  SpinLock lock_;
};

}  // namespace duress
