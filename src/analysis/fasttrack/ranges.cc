// SPDX-License-Identifier: Apache-2.0
//
// Accesses to more than one cell without gaps: memcpy, memset, free, loops over arrays. Elements of an array
// are mostly accessed by one thread at a time, so cell after cell holds the same two words and the transition
// of one cell is the transition of the next.
#include "analysis/fasttrack/found.h"
#include "analysis/fasttrack/hot_path.h"

namespace duress {

/// Is every byte of [address, stop), all in one line, "same epoch"? Without the line's lock.
bool FastTrack::all_same_epoch(FastTrackThread& t, Cell* cell, uptr address, uptr stop, bool write) {
  for (; address < stop; ++cell) {
    uptr granule = address & ~uptr{7};
    uptr till = stop - granule < 8 ? stop - granule : 8;
    u8 mask = static_cast<u8>((1u << till) - (1u << (address & 7)));
    bool same = same_epoch(t, write ? cell->writes() : cell->reads(), mask);
    if (!same && (write || !shared_read_seen(t, cell, granule, mask))) return false;
    address = granule + 8;
  }
  return true;
}

/// Whole lines of [address, end), up to the first that is not simple. Returns where it stopped. Arrays are
/// swept by one thread at a time, so cell after cell holds the same two words, and the transition of one is
/// the transition of the next.
template <bool kWrite>
uptr FastTrack::sweep(FastTrackThread& t, uptr address, uptr end, AccessId id) {
  const u64 low = u64{t.low} << kIdShift, span = u64{t.next - t.low} << kIdShift;
  Transition last;
  u64 changed = 0, known = 0;
  Line* line = nullptr;
  for (; end - address >= Line::kBytes; address += Line::kBytes, ++line) {
    if (!line || !(address & (ShadowMap::kRegionBytes - 1))) line = Line::of(shadow_.cell(address));
    if (kWrite && !(address & (kPageSize / sizeof(Cell) * kGranule - 1))) line->touch();
    bool same = true;
    for (const Cell& c : line->cells) {
      u64 word = kWrite ? c.writes() : c.reads();
      same &= word - low < span && !(word & 0xff);
    }
    if (same) {
      ++known;
      continue;
    }
    line->lock();
    bool simple = true;
    for (Cell& c : line->cells) {
      u64 w = c.writes(), r = c.reads();
      u64 word = kWrite ? w : r;
      if (word - low < span && !(word & 0xff)) continue;
      if (!(w | r)) w = shadow_.first_access(&c, address, ShadowMap::Next::kSweep);
      // Cells of this line that are done already are found "same epoch" next time.
      simple = last.is(w, r, 0xff) || transition<kWrite>(t, w, r, 0xff, id, last);
      if (!simple) break;
      last.apply<kWrite>(&c);
      ++changed;
    }
    line->unlock();
    if (!simple) break;
  }
  (kWrite ? t.rules.write_exclusive : t.rules.read_exclusive) += changed;
  if (known) lost(t, known);
  return address;
}

/// The access to one cell of a range, if it is a simple case. REQUIRES: the cell's line is locked.
template <bool kWrite>
inline bool FastTrack::try_cell(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, AccessId id) {
  u64 w = cell->writes(), r = cell->reads();
  if (same_epoch(t, kWrite ? w : r, mask)) return true;
  if (!(w | r)) w = shadow_.first_access(cell, granule, ShadowMap::Next::kSweep);
  Transition change;
  if (!transition<kWrite>(t, w, r, mask, id, change)) return false;
  change.apply<kWrite>(cell);
  ++(kWrite ? t.rules.write_exclusive : t.rules.read_exclusive);
  return true;
}

/// A write to a whole block of the shadow of which no cell is in use. False: it is not that.
bool FastTrack::write_block(const FastTrackThread& t, uptr block, AccessId id) {
  AccessId before = shadow_.block_write(block);
  return !shadow_.touched(block) && harmless(t, before) && shadow_.write_block(block, before, id);
}

bool FastTrack::range(FastTrackThread& t, uptr address, u64 size, bool write, AccessKind kind, Place place) {
  if (DURESS_UNLIKELY(t.ignore || size == 0 || !ShadowMap::covers(address + size - 1))) return false;
  AccessId id = number(t, place);
  uptr end = address + size;
  if (kind != AccessKind::kFree && EpochFilter::is_open(*t.self)) {
    address = EpochFilter::skip(*t.self, address, end, write);
    if (address == end) return false;
    t.filter.add_range(*t.self, address, end, write);
  }
  enter(t);
  Found found;
  bool raced = false;
  while (address < end) {
    if (DURESS_UNLIKELY(found.nearly_full())) {
      leave(t);
      report(t, found, kind, place);
      found.count = 0;
      raced = true;
      enter(t);
    }
    if (end - address >= ReadPages::kPageBytes && !(address & (ReadPages::kPageBytes - 1)) &&
        whole_page(t, address, write, id)) {
      address += ReadPages::kPageBytes;
      continue;
    }
    constexpr uptr kBlock = uptr{1} << ShadowMap::kBlockBits;
    uptr block_end = (address & ~(kBlock - 1)) + kBlock;
    if (write && block_end - address == kBlock && end >= block_end && write_block(t, address, id)) {
      address = block_end;
      continue;
    }
    // Whole lines in bulk, as far as they are simple; then one line at a time, its first and last cell in
    // part.
    if (end - address >= Line::kBytes && !(address & (Line::kBytes - 1))) {
      uptr stop = write && block_end < end ? block_end : end;
      address = write ? sweep<true>(t, address, stop, id) : sweep<false>(t, address, stop, id);
      if (address == stop) continue;
    }
    uptr line_end = (address & ~(Line::kBytes - 1)) + Line::kBytes;
    uptr stop = line_end < end ? line_end : end;
    Cell* cell = shadow_.cell(address);
    if (all_same_epoch(t, cell, address, stop, write)) {
      address = stop;
      continue;
    }
    uptr first = address;
    u32 atomics = 0;  // bit i: check the atomics of cell i
    {
      LineGuard guard(cell);
      while (address < stop) {
        uptr granule = address & ~uptr{7};
        uptr till = stop - granule < 8 ? stop - granule : 8;
        u8 mask = static_cast<u8>((1u << till) - (1u << (address & 7)));
        if ((write && try_cell<true>(t, cell, granule, mask, id)) ||
            (!write &&
             (try_cell<false>(t, cell, granule, mask, id) || shared_read_seen(t, cell, granule, mask)))) {
          ++cell;
          address = granule + 8;
          continue;
        }
        bool ask = write ? write_cell(t, cell, granule, mask, id, found)
                         : read_cell(t, cell, granule, mask, id, found);
        atomics |= static_cast<u32>(ask) << ((granule & (Line::kBytes - 1)) >> 3);
        ++cell;
        address = granule + 8;
      }
    }
    for (; DURESS_UNLIKELY(atomics != 0); atomics &= atomics - 1) {
      uptr granule = (first & ~(Line::kBytes - 1)) + 8u * static_cast<u32>(__builtin_ctz(atomics));
      uptr from = first > granule ? first - granule : 0, to = stop - granule < 8 ? stop - granule : 8;
      check_atomics(t, granule, static_cast<u8>((1u << to) - (1u << from)), write, found);
    }
  }
  leave(t);
  if (DURESS_LIKELY(!found.count)) return raced;
  report(t, found, kind, place);
  return true;
}

}  // namespace duress
