// SPDX-License-Identifier: Apache-2.0
//
// Ranges over memory that several threads read (read_pages.h), a page at a time: arrays that all threads read
// as a whole. A thread's reads of a page are then one word. Each function does all of a page, or nothing, and
// the range goes on cell by cell.
#include "analysis/fasttrack/hot_path.h"

namespace duress {

static constexpr u32 kPageCells = ReadPages::kPageBytes / kGranule;
static constexpr u32 kPageLines = ReadPages::kPageBytes / Line::kBytes;

/// Locks all lines of a page, in order.
class FastTrack::PageGuard {
 public:
  explicit PageGuard(Cell* cells) : lines_(Line::of(cells)) {
    for (u32 i = 0; i < kPageLines; ++i) lines_[i].lock();
  }
  ~PageGuard() {
    for (u32 i = kPageLines; i > 0; --i) lines_[i - 1].unlock();
  }
  PageGuard(const PageGuard&) = delete;
  PageGuard& operator=(const PageGuard&) = delete;

 private:
  Line* lines_;
};

static bool all_paged(const Cell* cells) {
  bool all = true;
  for (u32 i = 0; i < kPageCells; ++i) all &= Word::is_paged(cells[i].reads());
  return all;
}

/// Are the writes of all cells ordered before this thread, and simple?
bool FastTrack::follows_writes(const FastTrackThread& t, const Cell* cells) const {
  u64 known = 0;
  for (u32 i = 0; i < kPageCells; ++i) {
    const u64 w = cells[i].writes();
    if (w & (Word::kSyncBit | Word::kSpillBit)) return false;
    if (w == known) continue;
    const Word writes = Word::decode(w);
    if (!harmless(t, writes.id) || (writes.rest && !harmless(t, writes.old))) return false;
    known = w;
  }
  return true;
}

/// As read_paged(): the thread changes its own word and then looks whether the cells are as they were. A
/// write to any of them gives each granule a word of its own first, so while there is one for all no cell was
/// written since this thread's last read.
bool FastTrack::read_page(FastTrackThread& t, uptr page, AccessId id) {
  const Cell* cells = shadow_.cell(page);
  if (!all_paged(cells)) return false;
  ReadPages::Entry* entry = pages_.make_entry(t.clock.slot(), page);
  uptr old = entry ? entry->load(std::memory_order_acquire) : 0;
  if (!entry || (old && !ReadPages::is_uniform(old))) return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  u64 writes[kPageCells], any = 0;
  for (u32 i = 0; i < kPageCells; ++i) any |= writes[i] = cells[i].writes();
  if (any & (Word::kSyncBit | Word::kSpillBit) || (!old && !follows_writes(t, cells))) return false;
  const uptr mine = u64{id} << kIdShift | ReadPages::kUniform;
  if (old == mine || (own_epoch(t, static_cast<AccessId>(old >> kIdShift)) && !t.every_access)) return true;
  if (!entry->compare_exchange_strong(old, mine, std::memory_order_seq_cst)) return false;
  bool same = all_paged(cells);
  for (u32 i = 0; i < kPageCells; ++i) same &= cells[i].writes() == writes[i];
  if (DURESS_LIKELY(same)) {
    t.rules.read_shared += kPageCells;
    return true;
  }
  // Whoever wrote may have looked before: see forget_stray().
  for (u32 i = 0; i < kPageCells; ++i) {
    Cell* cell = shadow_.cell(page) + i;
    LineGuard guard(cell);
    if (Word::is_paged(cell->reads())) continue;
    if (ReadPageWord* word = pages_.make(t.clock.slot(), page + i * kGranule))
      word->store(0, std::memory_order_relaxed);
  }
  return false;
}

/// A third thread reads what two have read.
bool FastTrack::share_page(FastTrackThread& t, uptr page, AccessId id) {
  Cell* cells = shadow_.cell(page);
  PageGuard guard(cells);
  const u64 r = cells[0].reads();
  for (u32 i = 1; i < kPageCells; ++i) {
    if (cells[i].reads() != r) return false;
  }
  const Word reads = Word::decode(r);
  if (!reads.both || reads.spilled || reads.rest || !follows_writes(t, cells)) return false;
  const Slot slots[] = {records_.slot(reads.id), records_.slot(reads.old), t.clock.slot()};
  if (slots[0] == slots[1] || slots[0] == slots[2] || slots[1] == slots[2]) return false;
  const AccessId ids[] = {reads.id, reads.old, id};
  ReadPages::Entry* entries[3];
  for (u32 i = 0; i < 3; ++i) {
    entries[i] = pages_.make_entry(slots[i], page);
    if (!entries[i]) return false;
  }
  for (u32 i = 0; i < 3; ++i) ReadPages::fill(*entries[i], u64{ids[i]} << kIdShift);
  for (u32 i = 0; i < kPageCells; ++i) cells[i].set_reads(Word::kPaged);
  t.rules.read_shared += kPageCells;
  return true;
}

/// Takes the reads out of the cells first and looks at the words afterwards: see read_page(). If one of the
/// reads is not ordered before the write, they are put back: the range finds the race cell by cell.
bool FastTrack::write_page(FastTrackThread& t, uptr page, AccessId id) {
  Cell* cells = shadow_.cell(page);
  PageGuard guard(cells);
  if (!all_paged(cells) || !follows_writes(t, cells)) return false;
  for (u32 i = 0; i < kPageCells; ++i) cells[i].set_reads(0);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  bool ordered_all = true;
  pages_.each_entry(page, [&](const ReadPages::Entry& entry) {
    ReadPages::each_in(entry, [&](u64 word) {
      const Word reads = Word::decode(word);
      ordered_all &= harmless(t, reads.id) && (!reads.rest || harmless(t, reads.old));
    });
  });
  if (!ordered_all) {
    for (u32 i = 0; i < kPageCells; ++i) cells[i].set_reads(Word::kPaged);
    return false;
  }
  pages_.each_entry(page, [](ReadPages::Entry& entry) { ReadPages::fill(entry, 0); });
  for (u32 i = 0; i < kPageCells; ++i) cells[i].set_writes(u64{id} << kIdShift);
  t.rules.write_shared += kPageCells;
  return true;
}

bool FastTrack::wipe_page(uptr page) {
  Cell* cells = shadow_.cell(page);
  if (!all_paged(cells)) return false;
  PageGuard guard(cells);
  bool simple = all_paged(cells);
  for (u32 i = 0; i < kPageCells; ++i) simple &= !(cells[i].writes() & (Word::kSyncBit | Word::kSpillBit));
  if (!simple) return false;
  for (u32 i = 0; i < kPageCells; ++i) {
    cells[i].set_reads(0);
    cells[i].set_writes(0);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  pages_.each_entry(page, [](ReadPages::Entry& entry) { ReadPages::fill(entry, 0); });
  generation_.fetch_add(1, std::memory_order_relaxed);  // as in wipe_cell()
  return true;
}

bool FastTrack::whole_page(FastTrackThread& t, uptr page, bool write, AccessId id) {
  const u64 first = shadow_.cell(page)->reads();
  if (Word::is_paged(first)) return write ? write_page(t, page, id) : read_page(t, page, id);
  const bool both = first & Word::kBothBit && !(first & Word::kSpillBit);
  return both && !write && share_page(t, page, id);
}

}  // namespace duress
