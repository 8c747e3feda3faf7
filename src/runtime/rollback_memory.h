// SPDX-License-Identifier: Apache-2.0
//
// The memory of a process as it was before an execution, and how it is put back afterwards. All pages that
// can be written are copied once. The kernel then marks which are written (userfaultfd's asynchronous write
// protection), and lists them (PAGEMAP_SCAN): those are copied back. They are not protected again, because a
// fault costs more than a copy: what was written once is copied back after every execution from then on.
//
// The list can become longer only by a page fault: of a protected page, or of one that did not exist. So the
// kernel is asked for a new list (20 us) only if it has counted a fault since the last one (getrusage, 0.3
// us).
//
// Mappings that the runtime itself makes in an execution are kept for the next, which most often makes the
// same ones: they are among what is put back, to zero. They lie where the program has none, so that the
// addresses of the program's own mappings do not depend on them.
//
// A checkpoint is a second image that an execution takes on its way: copies of the pages that are written by
// then. From then on put_back() goes back to it, as long as there is one. Those pages are protected again:
// what is written before the checkpoint only need not be put back to it.
//
// Nothing here may use memory that is put back: no stack but the caller's own, no C library.
#pragma once

#include "base/types.h"

namespace duress {

inline constexpr uptr kOwnMappings = 0x200000000000;  // where the runtime's mappings begin: OwnMappings
inline constexpr uptr kOwnMappingsEnd = 0x3c0000000000;
inline bool is_own_mapping(uptr address) {
  return address >= kOwnMappings && address < kOwnMappingsEnd;
}

/// Lives in memory that is shared between processes, which is not put back. No constructor: zeros are valid.
struct MemoryImage {
  static constexpr u32 kMostAreas = 4096, kMostMade = 1024, kMostRanges = 2048;
  static constexpr u64 kMostPages = u64{1} << 16;         // 256 MiB are copied
  static constexpr u64 kMostWrittenPages = u64{1} << 13;  // 32 MiB are copied back
  static constexpr u64 kMostCheckpointPages = u64{1} << 12;

  static constexpr u32 kMostTables = 32, kMostKept = 256;

  struct Area {
    uptr begin, end;
    bool file;  // what was never touched is not zero
    u8 rights;  // PROT_*
    bool written() const { return (rights & 2) != 0; }
  };
  struct Range {
    uptr begin, end;
  };
  struct Found {  // page_region
    u64 begin, end, categories;
  };
  /// The pages of some ranges that have been written. Most of them are almost empty: those are cleared, and
  /// the few words written that are not zero, because memory that is not read makes room in the caches
  /// (readers(13) of bench/verify: 253 pages, of which 181 have at most 64 such words).
  struct Written {
    static constexpr u32 kFewWords = 64, kMostWords = 1 << 15, kWholePage = ~u32{0};
    struct Page {
      uptr at;
      const char* copy;           // null: it was zero
      const char* at_checkpoint;  // null: as in `copy`, or there is none
      u32 first_word, words;      // of word_values; kWholePage: all of the copy
    };
    /// To be called when the list or a copy has changed.
    void pack();
    void put_back() const;

    u64 faults;  // of the process when the list was made; 0: there is none
    u64 count;
    u32 word_count;
    u16 word_places[kMostWords];  // in their page
    u64 word_values[kMostWords];
    Page pages[kMostWrittenPages];
  };

  /// Copies what can be written, from now on follows what is. The memory for it begins at `room`. False: it
  /// cannot be done here.
  bool take(uptr room);
  /// Puts memory, mappings and the end of the heap back. False: the process cannot be used again.
  bool put_back();
  /// The same for the detector's tables: gigabytes with few pages, which take long to find. Has to be called
  /// before an execution that detects something.
  void put_back_tables();
  /// From now on put_back() goes back to this moment. False: something other than the contents of pages was
  /// changed since the image was taken.
  bool take_checkpoint();
  /// Puts all memory but the tables back to the image, after put_back() has gone to the checkpoint.
  void leave_checkpoint();
  bool has_checkpoint() const { return checkpoint_count != 0; }
  /// For an execution that begins at the checkpoint: as when it was taken.
  void begin_at_checkpoint(u32 staying) {
    stayed = staying;
    tables_are_clean = true;
  }

  /// For every system call that changes mappings, when it has been made. False: it cannot be undone.
  bool note_call(const long (&call)[5], long result);
  /// For OwnMappings, while an execution runs.
  bool is_kept(uptr address, size_t bytes);
  bool may_stay(uptr address, size_t bytes);
  /// A mapping that was made without a call of ours. False: too many.
  bool add_made(uptr begin, uptr end);

  /// Where the mapping of an address began and ended when the image was taken.
  bool find_mapping(uptr address, uptr* begin, uptr* end) const;

  int user_faults, page_map, size_file;  // descriptors
  u32 stayed;                            // mappings of this execution that the runtime has given back

 private:
  bool read_areas();
  bool follow();
  bool follow_range(uptr begin, uptr end);
  bool copy_pages();
  bool protect(const uptr* list, u64 count);
  bool within_made(uptr begin, uptr end) const;
  bool remove(uptr begin, uptr end);
  bool bring_back(const Range& range);
  bool put_back_mappings();
  bool keep(const Range& range);
  bool forget_own(uptr begin, uptr end);
  void unmap_kept(u32 index);
  u64 find_page(uptr at) const;
  void restore_range(uptr begin, uptr end);
  bool find_written(uptr begin, uptr end, Written& list);
  bool find_written_memory();
  bool find_written_tables();
  void match_checkpoint(Written& list, u64 begin, u64 end) const;
  void forget_checkpoint();
  void put_back_left();
  long scan(uptr* from, uptr end, u64 all_of, u64 any_of);
  void find_tables();
  bool add_table(const Range& range);
  u64 mapped_pages() const;
  bool is_file(uptr page) const;

  u32 area_count, table_count, made_count, dropped_count, removed_count, kept_count;
  bool tables_are_clean, heap_moved;
  u64 page_count, mapped_before;
  // Pages that were written when the checkpoint was taken, memory first, then the tables; 0: there is none.
  u64 checkpoint_count, checkpoint_memory;
  u64 left_count;  // pages of a checkpoint that is no longer wanted, not yet put back to the image
  uptr heap_end;
  uptr* pages;   // addresses, ascending
  char* copies;  // in the same order
  uptr* checkpoint_pages;
  char* checkpoint_copies;
  Area areas[kMostAreas];
  Range tables[kMostTables];  // ascending
  Range made[kMostMade], dropped[kMostMade], removed[kMostMade];
  Range kept[kMostKept];
  Found found[kMostRanges];
  Written written_memory, written_tables;
  char text[1 << 18];
};

}  // namespace duress
