// SPDX-License-Identifier: Apache-2.0
//
// The reads of memory that several threads read, kept with each thread: a page of words for a page of memory
// and a slot of the vector clocks. A thread that reads on in its next epoch changes its own word and nothing
// that others read or write; only a write has to look at all of them. The cell says that its reads are here
// (Word::kPaged); otherwise all its words are 0.
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

  /// The word of a granule for a slot; null if there is none yet.
  ReadPageWord* find(Slot slot, uptr granule) const {
    Page* page = page_of(granule);
    if (!page || raw(slot) >= kMostSlots) return nullptr;
    Leaf* leaf = page->leaves[raw(slot) / kLeafSlots].load(std::memory_order_acquire);
    if (!leaf) return nullptr;
    ReadPageWord* words = leaf->words[raw(slot) % kLeafSlots].load(std::memory_order_acquire);
    return words ? words + index_of(granule) : nullptr;
  }
  /// The same, made if need be; null if the slot is too high or memory is short.
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
  static constexpr int kPageBits = 12, kRegionBits = 32;
  static constexpr u32 kWords = 1u << (kPageBits - 3);
  static constexpr u32 kLeafSlots = 64;
  static constexpr u32 kRegions = 1u << (47 - kRegionBits);

  struct Leaf {
    std::atomic<ReadPageWord*> words[kLeafSlots];
  };
  struct Page {
    std::atomic<Leaf*> leaves[kMostSlots / kLeafSlots];
    Page* next;

    template <typename Visit>
    void each(Visit visit) {
      for (std::atomic<Leaf*>& entry : leaves) {
        Leaf* leaf = entry.load(std::memory_order_acquire);
        if (!leaf) continue;
        for (std::atomic<ReadPageWord*>& of_slot : leaf->words) {
          if (ReadPageWord* words = of_slot.load(std::memory_order_acquire)) visit(words);
        }
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
