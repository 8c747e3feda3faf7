// SPDX-License-Identifier: Apache-2.0
//
// The rules of FastTrack on one cell, where hot_path.h does not apply. Locks: the lock bit of a line, held
// for one line at a time and for nothing that blocks; the lock of an atomic may be held around it, never the
// other way round.
#include "analysis/fasttrack/found.h"
#include "analysis/fasttrack/hot_path.h"

namespace duress {

/// [READ SAME EPOCH] of a shared cell, without its lock: readers of one hot location must not queue. A block
/// of the pool is always a block of the pool, so looking at a set that is being changed or reused is
/// harmless; that the cell still names it afterwards says that what was found there was its own.
bool FastTrack::shared_read_seen(FastTrackThread& t, Cell* cell, uptr granule, u8 mask) {
  u64 r = cell->reads();
  if (!(r & (Word::kSpillBit | Word::kBothBit))) return false;
  if (Word::is_paged(r)) {
    ReadPageWord* word = pages_.find(t.read_page, t.clock.slot(), granule);
    u64 mine = word ? word->load(std::memory_order_relaxed) : pages_.look(t.clock.slot(), granule);
    return own_reads(t, Word::decode(mine), mask);
  }
  Word reads = Word::decode(r);
  if (reads.both) return own_epoch(t, reads.old) && !(reads.rest & mask);
  ReadSet& set = spills_.reads(reads.old);
  u32 count = set.count;
  if (set.log_units >= SpillPool::kClasses || count > set.capacity()) return false;
  const AccessId* ids = set.ids();
  const u8* masks = set.masks();
  u32 hint = t.set_hint(granule);
  // Its own entry, of an earlier epoch: no need to look at all the others. If there is another one of its own
  // too, it is found with the lock held.
  if (hint < count && !own_epoch(t, ids[hint]) && records_.slot(ids[hint] & kIdMask) == t.clock.slot())
    return false;
  for (u32 i = 0; i < count; ++i) {
    if (!own_epoch(t, ids[i]) || (masks[i] & mask) != mask) continue;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (cell->reads() != r) return false;
    ++t.rules.read_same_epoch;
    return true;
  }
  return false;
}

/// read_paged() has put a read into the thread's page although the reads had been taken out of the cell
/// meanwhile. REQUIRES: the cell's line is locked.
void FastTrack::forget_stray(FastTrackThread& t, const Cell* cell) {
  if (!Word::is_paged(cell->reads())) t.stray_word->store(0, std::memory_order_relaxed);
  t.stray_word = nullptr;
}

/// REQUIRES: the cell's line is locked. Returns true if atomics must be checked too, after it is unlocked.
bool FastTrack::read_cell(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, AccessId id, Found& found) {
  u64 w = cell->writes(), r = cell->reads();
  Word reads = Word::decode(r);
  if (!Word::is_paged(r) && same_epoch(t, r, mask)) {  // [READ SAME EPOCH]
    ++t.rules.read_same_epoch;
    return false;
  }
  if (!(w | r)) w = shadow_.first_access(cell, granule, ShadowMap::Next::kAny);
  check_writes(t, Word::decode(w), mask, granule, found);
  u64 next = with_read(t, r, granule, mask, id);
  if (!(next & (Word::kSpillBit | Word::kBothBit))) {  // [READ EXCLUSIVE]
    ++t.rules.read_exclusive;
  } else {  // [READ SHARE], [READ SHARED]
    ++(reads.spilled || reads.both ? t.rules.read_shared : t.rules.read_share);
    if ((next & Word::kSpillBit) && !Word::is_paged(next))
      t.set_hint(granule) = static_cast<u16>(spills_.reads(Word::decode(next).old).count - 1);
  }
  cell->set_reads(next);
  return w & Word::kSyncBit;
}

/// One of several threads that read the same bytes reads them again in its next epoch: its number is replaced
/// (reads_on() of hot_path.h). Entries of threads that this one follows stay; they can not cause a false
/// race. False: it is not that case. REQUIRES: the cell's line is locked.
bool FastTrack::read_again(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, AccessId id) {
  u64 r = cell->reads();
  if (!(r & Word::kSpillBit) || Word::is_paged(r) || (cell->writes() & Word::kSyncBit)) return false;
  Word reads = Word::decode(r);
  ReadSet& set = spills_.reads(reads.old);
  u32 at = t.set_hint(granule);
  if (at >= set.count || set.masks()[at] != mask || records_.slot(set.ids()[at]) != t.clock.slot())
    return false;
  set.ids()[at] = id;
  u8 unread = own_epoch(t, reads.id) ? reads.rest : 0xff;
  cell->set_reads(Word{id, reads.old, static_cast<u8>(unread & ~mask), true, false, false}.encode());
  ++t.rules.read_shared;
  return true;
}

bool FastTrack::write_cell(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, AccessId id, Found& found) {
  u64 w = cell->writes();
  if (same_epoch(t, w, mask)) {  // [WRITE SAME EPOCH]
    ++t.rules.write_same_epoch;
    return false;
  }
  u64 r = cell->reads();
  if (!(w | r)) w = shadow_.first_access(cell, granule, ShadowMap::Next::kAny);
  Word writes = Word::decode(w);
  check_writes(t, writes, mask, granule, found);
  if (Word::is_paged(r)) cell->read.exchange(0, std::memory_order_seq_cst);  // see read_paged()
  if (r) check_reads(t, r, mask, granule, found);
  u64 rest = r ? without_reads(t, r, granule, mask) : 0;
  bool shared = r & (Word::kSpillBit | Word::kBothBit);
  ++(shared ? t.rules.write_shared : t.rules.write_exclusive);  // [WRITE SHARED], [WRITE EXCLUSIVE]
  cell->set_writes(with_write(t, writes, mask, id));
  cell->read.store(rest, std::memory_order_release);  // who finds reads in pages again also finds the write
  return w & Word::kSyncBit;
}

/// An access within one cell that is not a simple case. Frequent where many places access bytes of one cell
/// in turn, so it is kept short.
bool FastTrack::access_cell(FastTrackThread& t, uptr address, u64 size, bool write, Place place) {
  uptr granule = address & ~uptr{7};
  u8 mask = static_cast<u8>(((1u << size) - 1) << (address & 7));
  AccessId id = number(t, place);
  Cell* cell = shadow_.cell(address);
  write ? EpochFilter::add<true>(*t.self, address, mask) : EpochFilter::add<false>(*t.self, address, mask);
  if ((!t.every_access && same_epoch(t, write ? cell->writes() : cell->reads(), mask)) ||
      (!write && shared_read_seen(t, cell, granule, mask))) {
    lost(t, 1);
    return false;
  }
  Found found;
  enter(t);
  Line* line = Line::of(cell);
  line->lock();
  if (DURESS_UNLIKELY(t.stray_word != nullptr)) forget_stray(t, cell);
  bool atomics = false;
  if (write) {
    atomics = write_cell(t, cell, granule, mask, id, found);
  } else if (!read_again(t, cell, granule, mask, id)) {
    atomics = read_cell(t, cell, granule, mask, id, found);
  }
  line->unlock();
  if (DURESS_UNLIKELY(atomics)) check_atomics(t, granule, mask, write, found);
  leave(t);
  if (DURESS_LIKELY(!found.count)) return false;
  report(t, found, write ? AccessKind::kWrite : AccessKind::kRead, place);
  return true;
}

bool FastTrack::access_slow(FastTrackThread& t, uptr address, u64 size, bool write, Place place) {
  if (DURESS_LIKELY((address & 7) + size <= 8 && size != 0 && ShadowMap::covers(address) && !t.ignore))
    return access_cell(t, address, size, write, place);
  return range(t, address, size, write, write ? AccessKind::kWrite : AccessKind::kRead, place);
}

/// The part of an access that is in one cell.
inline bool FastTrack::access_part(FastTrackThread& t, uptr address, u32 size, bool write, Place place) {
  if (!EpochFilter::is_open(*t.self) || t.next == t.end)
    number(t, place);  // try_access() wants an open epoch
  u8 mask = static_cast<u8>(((1u << size) - 1) << (address & 7));
  bool known = write ? EpochFilter::contains<true>(*t.self, address, mask)
                     : EpochFilter::contains<false>(*t.self, address, mask);
  if (known && !t.every_access) return false;
  Outcome outcome =
      write ? try_access<true>(t, address, size, place) : try_access<false>(t, address, size, place);
  return outcome != Outcome::kDone && access_slow(t, address, size, write, place);
}

bool FastTrack::access(FastTrackThread& t, uptr address, u64 size, bool write, Place place) {
  if (DURESS_UNLIKELY(size > kFewBytes || t.ignore)) return access_slow(t, address, size, write, place);
  bool raced = false;
  for (uptr end = address + size; address < end;) {
    uptr next = (address & ~uptr{7}) + 8;
    u32 part = static_cast<u32>((next < end ? next : end) - address);
    raced |= access_part(t, address, part, write, place);
    address += part;
  }
  return raced;
}

}  // namespace duress
