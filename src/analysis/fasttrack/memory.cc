// SPDX-License-Identifier: Apache-2.0
//
// Memory that is given back and used anew: a free is a write to all of it; fresh memory forgets what was
// known about its bytes, and the first bytes of a new heap block are written by who allocated it.
#include "analysis/fasttrack/found.h"
#include "analysis/fasttrack/hot_path.h"

namespace duress {

static constexpr uptr kBlock = uptr{1} << ShadowMap::kBlockBits;

/// Whether the last access to all bytes of a block is a write of this thread's epoch.
bool FastTrack::owns_block(const FastTrackThread& t, uptr block) {
  const Cell* cell = shadow_.cell(block);
  for (const Cell* end = cell + kBlock / kGranule; cell < end; ++cell) {
    u64 w = cell->writes(), r = cell->reads();
    bool own = same_epoch(t, w, 0xff) && !(w & (Word::kSpillBit | Word::kSyncBit));
    bool unread = !r || (!(r & (Word::kSpillBit | Word::kBothBit)) && own_reads(t, Word::decode(r), 0xff));
    if (!own || !unread) return false;
  }
  return true;
}

/// Writes to [begin, end), and gives the shadow of whole blocks back, which hold nothing but this write then.
bool FastTrack::write_and_summarise(FastTrackThread& t, uptr begin, uptr end, Place place) {
  bool raced = range(t, begin, end - begin, true, AccessKind::kFree, place);
  uptr first = (begin + kBlock - 1) & ~(kBlock - 1);
  if (t.ignore || end < first + kBlock || !ShadowMap::covers(end)) return raced;
  AccessId id = number(t, place);
  enter(t);
  uptr whole = first, block = first;  // [whole, block) are to be given back
  for (; end - block >= kBlock; block += kBlock) {
    bool own = shadow_.touched(block) && owns_block(t, block);
    if (own && (block & (ShadowMap::kRegionBytes - 1))) continue;
    shadow_.summarise(whole, block, id);
    whole = own ? block : block + kBlock;
  }
  shadow_.summarise(whole, block, id);
  leave(t);
  return raced;
}

/// In pieces, so that what is given back is not all there at one moment.
bool FastTrack::freed(FastTrackThread& t, uptr address, u64 size, Place place) {
  place.site = kFreeSite;
  bool raced = false;
  constexpr u64 kMost = 16 * kBlock;
  uptr end = address + size;
  for (uptr at = address; at < end;) {
    uptr stop = end - at > kMost ? (at + kMost) & ~(kBlock - 1) : end;
    raced |= write_and_summarise(t, at, stop, place);
    at = stop;
  }
  t.filter.remove(*t.self, address, end);  // who gets the memory next may hand it to this thread
  return raced;
}

/// Returns true if synchronisation objects live in the granule. REQUIRES: the cell's line is locked.
bool FastTrack::wipe_cell(Cell* cell, uptr granule) {
  u64 w = cell->writes(), r = cell->reads();
  if (!(w | r)) return false;
  Word writes = Word::decode(w);
  if (writes.spilled) spills_.free_writes(writes.old);
  Word::is_paged(r) ? (void)cell->read.exchange(0, std::memory_order_seq_cst) : cell->set_reads(0);
  cell->set_writes(0);
  if (r & Word::kSpillBit) {
    // Threads that read the old block must not take the new one as read. Whoever gets to know the new block
    // by synchronisation looks at the generation then (after_sync).
    generation_.fetch_add(1, std::memory_order_relaxed);
    Word::is_paged(r) ? clear_pages(granule) : spills_.free_reads(Word::decode(r).old);
  }
  return writes.sync;
}

/// REQUIRES: entered, and the cells are wiped.
void FastTrack::fill_cells(uptr begin, const Fill& fill) {
  for (uptr at = begin; at < fill.end;) {
    uptr line_end = (at & ~(Line::kBytes - 1)) + Line::kBytes;
    Cell* cell = shadow_.cell(at);  // makes the region, if need be
    shadow_.mark_touched(at);
    LineGuard guard(cell);
    for (; at < fill.end && at < line_end; at += 8) cell++->set_writes(fill.writes);
  }
}

void FastTrack::wipe(uptr begin, uptr end, const Fill& fill) {
  begin &= ~uptr{7};
  while (begin < end && ShadowMap::covers(begin)) {
    uptr next = (begin & ~(kBlock - 1)) + kBlock;
    if (next > end) next = end;
    if (next - begin != kBlock) {
      if (shadow_.block_write(begin)) shadow_.spread(begin);
    } else if (!shadow_.touched(begin)) {
      if (shadow_.block_write(begin)) shadow_.clear(begin, next);
    }
    if (shadow_.touched(begin)) {
      for (uptr at = begin; at < next;) {
        if (at >= fill.end && next - at >= ReadPages::kPageBytes && !(at & (ReadPages::kPageBytes - 1)) &&
            wipe_page(at)) {
          at += ReadPages::kPageBytes;
          continue;
        }
        uptr line_end = (at & ~(Line::kBytes - 1)) + Line::kBytes;
        uptr stop = line_end < next ? line_end : next;
        Cell* cell = shadow_.cell(at);
        const Line* line = Line::of(cell);
        u64 used = 0;
        for (const Cell& c : line->cells) used |= c.writes() | c.reads();
        bool syncs = false;
        if (used | (at < fill.end)) {
          LineGuard guard(cell);
          for (uptr a = at; a < stop; a += 8, ++cell) {
            syncs |= wipe_cell(cell, a & ~uptr{7});
            if (a < fill.end) cell->set_writes(fill.writes);
          }
        }
        if (syncs) {
          syncs_.remove(at, stop, [&](SyncObject* object) {
            if (object->history) static_cast<AtomicHistory*>(object->history)->destroy(arena_);
          });
        }
        at = stop;
      }
      if (next - begin == kBlock) {
        shadow_.clear(begin, next);
        fill_cells(begin, fill);
      }
    } else if (begin < fill.end) {
      fill_cells(begin, {fill.end < next ? fill.end : next, fill.writes});
    }
    begin = next;
  }
}

void FastTrack::forget(FastTrackThread& t, uptr begin, uptr end) {
  enter(t);
  wipe(begin, end, {0, 0});
  leave(t);
  t.filter.remove(*t.self, begin, end);
}

void FastTrack::allocated(FastTrackThread& t, uptr begin, uptr end, u64 size, StackId stack) {
  if (DURESS_UNLIKELY(t.ignore || size == 0 || !ShadowMap::covers(end))) return forget(t, begin, end);
  // Whoever uses an object mostly uses its first members too. All of larger blocks would cost more: 256 bytes
  // take 8 % of small_allocations (large), 64 take 4 %.
  constexpr u64 kMost = 64;
  AccessId id = allocation_number(t, stack);
  Word writes = {};
  writes.id = id;
  enter(t);
  wipe(begin, end, {begin + (size < kMost ? size : kMost), writes.encode()});
  leave(t);
  t.filter.remove(*t.self, begin, end);
}

}  // namespace duress
