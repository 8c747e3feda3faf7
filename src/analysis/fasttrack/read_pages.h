// SPDX-License-Identifier: Apache-2.0
//
// The reads of memory that several threads read, kept with each thread: a page of words for 256 bytes of
// memory and a slot of the vector clocks. A thread that reads on in its next epoch changes its own word and
// nothing that others read or write; only a write has to look at all of them. The cell says that its reads
// are here (Word::kPaged); otherwise all its words are 0.
//
// An array that a thread reads as a whole is one word for a page: the entry of the page for that thread holds
// either the address of its words or the word that all granules have.
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
  static constexpr uptr kPageBytes = 256;
  static constexpr u32 kMostSlots = 1024;  // reads of further threads are kept in sets

  ReadPages() = default;
  ~ReadPages();

  /// Where a thread's last words were: words never move.
  struct Hint {
    uptr page = 0;
    ReadPageWord* words = nullptr;
  };
  /// The word of a granule for the slot of the thread that has the hint; null if it has none of its own.
  ReadPageWord* find(Hint& hint, Slot slot, uptr granule) const {
    if (hint.words && hint.page == granule >> kPageBits) return hint.words + index_of(granule);
    ReadPageWord* word = find(slot, granule);
    if (word) hint = {granule >> kPageBits, word - index_of(granule)};
    return word;
  }
  /// The same for any slot.
  ReadPageWord* find(Slot slot, uptr granule) const {
    const Entry* entry = find_entry(slot, granule);
    const uptr words = entry ? entry->load(std::memory_order_acquire) : 0;
    return is_uniform(words) || !words ? nullptr : words_at(words) + index_of(granule);
  }
  /// Begins to fetch where the page of an address is found.
  void prefetch(uptr address) const {
    std::atomic<Region*>* regions = regions_.load(std::memory_order_relaxed);
    if (!regions) return;
    if (Region* region = regions[address >> kRegionBits].load(std::memory_order_relaxed))
      __builtin_prefetch(&(*region)[(address >> kPageBits) % std::size(*region)]);
  }
  /// What is in the word of a granule for a slot.
  u64 look(Slot slot, uptr granule) const {
    const Entry* entry = find_entry(slot, granule);
    return entry ? word_in(entry->load(std::memory_order_acquire), granule) : 0;
  }
  /// The word of a granule for a slot, made if need be; null if the slot is too high or memory is short.
  ReadPageWord* make(Slot slot, uptr granule);

  /// Calls visit(u64) with what is in the word of the granule of each slot.
  template <typename Visit>
  void each(uptr granule, Visit visit) const {
    if (Page* page = page_of(granule)) {
      page->each([&](Entry& entry) { visit(word_in(entry.load(std::memory_order_acquire), granule)); });
    }
  }
  /// Calls visit(ReadPageWord&) for the word of each slot, made if the slot has one for the page.
  template <typename Visit>
  void each_made(uptr granule, Visit visit) {
    Page* page = page_of(granule);
    if (!page) return;
    page->each([&](Entry& entry) {
      uptr words = entry.load(std::memory_order_acquire);
      if (is_uniform(words)) words = expand(entry);
      if (words) visit(words_at(words)[index_of(granule)]);
    });
  }
  /// Calls visit(u64) for every word that is not 0, which becomes what is returned. REQUIRES: nobody reads.
  template <typename Visit>
  void each_word(Visit visit) {
    for (Page* page = pages_; page; page = page->next) {
      page->each([&](Entry& entry) {
        const uptr words = entry.load(std::memory_order_relaxed);
        if (is_uniform(words)) {
          const u64 word = visit(words & ~kUniform);
          entry.store(word ? word | kUniform : 0, std::memory_order_relaxed);
          return;
        }
        for (u32 i = 0; words && i < kWords; ++i) {
          ReadPageWord& word = words_at(words)[i];
          if (u64 old = word.load(std::memory_order_relaxed))
            word.store(visit(old), std::memory_order_relaxed);
        }
      });
    }
  }

  // ---- whole pages

  /// Of one slot, for a page: 0, or the address of its words, or the word of all granules and kUniform. A
  /// word of its own for each granule never becomes one for all again, so words do not move.
  using Entry = std::atomic<uptr>;
  static constexpr uptr kUniform = 1;
  static bool is_uniform(uptr entry) { return entry & kUniform; }
  static ReadPageWord* words_at(uptr entry) { return reinterpret_cast<ReadPageWord*>(entry); }
  /// Null if the slot is too high or memory is short.
  Entry* make_entry(Slot slot, uptr granule);
  template <typename Visit>
  void each_entry(uptr granule, Visit visit) const {
    if (Page* page = page_of(granule)) page->each(visit);
  }
  /// All granules get the word.
  static void fill(Entry& entry, u64 word) {
    const uptr words = entry.load(std::memory_order_relaxed);
    if (!words || is_uniform(words)) {
      entry.store(word ? word | kUniform : 0, std::memory_order_relaxed);
    } else {
      for (u32 i = 0; i < kWords; ++i) words_at(words)[i].store(word, std::memory_order_relaxed);
    }
  }
  /// Calls visit(u64) with what is in each word, or in the one for all.
  template <typename Visit>
  static void each_in(const Entry& entry, Visit visit) {
    const uptr words = entry.load(std::memory_order_acquire);
    if (is_uniform(words)) return visit(u64{words & ~kUniform});
    for (u32 i = 0; words && i < kWords; ++i) visit(words_at(words)[i].load(std::memory_order_relaxed));
  }

  void reset_lock() { new (&lock_) SpinLock; }

 private:
  static constexpr int kPageBits = 8, kRegionBits = 32;
  static_assert(kPageBytes == uptr{1} << kPageBits);
  static constexpr u32 kWords = 1u << (kPageBits - 3);
  static constexpr u32 kGroupSlots = 8, kNearGroups = 4, kFewGroups = 16;
  static constexpr u32 kRegions = 1u << (47 - kRegionBits);

  struct Group {
    Entry entries[kGroupSlots];

    template <typename Visit>
    void each(Visit visit) {
      for (Entry& entry : entries) {
        if (entry.load(std::memory_order_acquire)) visit(entry);
      }
    }
  };
  /// By slot / kGroupSlots, of those that are not in the page or near it.
  struct Groups {
    u32 count;
    std::atomic<Group*> of[];
  };
  struct Page {
    Group first;
    std::atomic<Group*> near[kNearGroups];
    std::atomic<Groups*> more;  // replaced by a larger copy if need be
    Page* next;

    template <typename Visit>
    void each(Visit visit) {
      first.each(visit);
      for (std::atomic<Group*>& entry : near) {
        if (Group* group = entry.load(std::memory_order_acquire)) group->each(visit);
      }
      Groups* others = more.load(std::memory_order_acquire);
      if (!others) return;
      for (u32 i = kNearGroups + 1; i < others->count; ++i) {
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
  static u64 word_in(uptr words, uptr granule) {
    if (is_uniform(words)) return words & ~kUniform;
    return words ? words_at(words)[index_of(granule)].load(std::memory_order_relaxed) : 0;
  }
  Entry* find_entry(Slot slot, uptr granule) const {
    Page* page = page_of(granule);
    if (!page || raw(slot) >= kMostSlots) return nullptr;
    const u32 index = raw(slot) / kGroupSlots;
    Group* group = &page->first;
    if (index && index <= kNearGroups) {
      group = page->near[index - 1].load(std::memory_order_acquire);
      if (!group) return nullptr;
    } else if (index) {
      Groups* more = page->more.load(std::memory_order_acquire);
      if (!more || index >= more->count) return nullptr;
      group = more->of[index].load(std::memory_order_acquire);
      if (!group) return nullptr;
    }
    return &group->entries[raw(slot) % kGroupSlots];
  }
  uptr expand(Entry& entry);
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
