// SPDX-License-Identifier: Apache-2.0
//
// The rules of FastTrack on cells. Locks: a cell's own bit, held for one cell at a time and for
// nothing that waits; an atomic's lock may be held around a cell's, never the other way round.
#include "analysis/fasttrack/fasttrack.h"

#include "base/check.h"

namespace duress {

struct FastTrack::Found {
  static constexpr u32 kMost = 24;  // a granule adds at most 8: one race is enough for a byte
  struct Item {
    AccessRecord record;
    AccessKind kind;
    uptr address;
    u32 size;
  };
  u32 count = 0;
  uptr granule = 0;  // of `bytes`
  u8 bytes = 0;      // bytes of the granule that have a race already
  Item items[kMost];

  bool nearly_full() const { return count + 8 > kMost; }
  /// Those of `mask` that have no race yet; they have one from now on.
  u8 claim(uptr at, u8 mask) {
    if (at != granule) granule = at, bytes = 0;
    mask &= static_cast<u8>(~bytes);
    bytes |= mask;
    return mask;
  }
  void add(const AccessRecord& record, AccessKind kind, uptr at, u8 mask) {
    mask = claim(at, mask);
    while (mask) {  // one item for each run of bytes
      u32 first = static_cast<u32>(__builtin_ctz(mask));
      u32 size = static_cast<u32>(__builtin_ctz(~(u32{mask} >> first)));
      items[count++] = {record, kind, at + first, size};
      mask &= static_cast<u8>(~(((1u << size) - 1) << first));
    }
  }
};

// ---- threads and access numbers ------------------------------------------------------------------

void FastTrack::attach(FastTrackThread& t) {
  SpinGuard guard(threads_lock_);
  t.next_thread = threads_;
  threads_ = &t;
}

void FastTrack::detach(FastTrackThread& t) {
  SpinGuard guard(threads_lock_);
  for (FastTrackThread** link = &threads_; *link; link = &(*link)->next_thread) {
    if (*link == &t) {
      *link = t.next_thread;
      return;
    }
  }
}

void FastTrack::after_fork(FastTrackThread& survivor) {
  new (&threads_lock_) SpinLock;
  records_.reset_lock();
  spills_.reset_lock();
  threads_ = &survivor;
  survivor.next_thread = nullptr;
  collecting_.store(false, std::memory_order_relaxed);
}

void FastTrack::enter(FastTrackThread& t) {
  for (;;) {
    t.busy.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the collector runs barrier_all_threads()
    if (DURESS_LIKELY(!collecting_.load(std::memory_order_relaxed))) return;
    t.busy.store(false, std::memory_order_release);
    while (collecting_.load(std::memory_order_acquire)) yield_processor();
  }
}

void FastTrack::take_chunk(FastTrackThread& t) {
  if (records_.chunks_in_use() >= chunk_budget_) collect(t);
  AccessId first = records_.take_chunk();
  if (!first) fatal("more than 134 million access records are live", "track fewer variables at once");
  t.low = t.next = first;
  t.end = first + AccessRecords::kChunk;
}

void FastTrack::open_epoch(FastTrackThread& t) {
  t.clock.tick_if_released();
  if (t.epoch != t.clock.own()) {
    t.epoch = t.clock.own();
    t.low = t.next;
  }
  t.self->epoch_low = u64{t.low} << DURESS_ID_SHIFT;
  t.self->epoch_span = u64{t.end - t.low} << DURESS_ID_SHIFT;
}

AccessId FastTrack::number(FastTrackThread& t, Place place) {
  if (DURESS_UNLIKELY(t.self->epoch_span == 0)) open_epoch(t);
  u32 hash = (raw(place.site) * 0x9e3779b1u ^ raw(place.stack) * 0x85ebca77u) >> 26;
  FastTrackThread::CachedPlace& cached = t.places[hash];
  if (cached.place.site == place.site && cached.place.stack == place.stack && cached.locks == t.locks &&
      own_epoch(t, cached.id)) {
    return cached.id;
  }
  AccessId id = new_number(t, place);
  cached = {place, id, t.locks};
  return id;
}

AccessId FastTrack::new_number(FastTrackThread& t, Place place) {
  if (t.next == t.end) {
    take_chunk(t);
    t.self->epoch_low = u64{t.low} << DURESS_ID_SHIFT;
    t.self->epoch_span = u64{t.end - t.low} << DURESS_ID_SHIFT;
  }
  AccessId id = t.next++;
  records_.at(id) = {place.site, place.stack, t.epoch, t.clock.slot(), t.locks};
  return id;
}

// ---- judging: is an earlier access ordered before this one? --------------------------------------

void FastTrack::judge(const FastTrackThread& t, AccessId id, u8 bytes, AccessKind kind, uptr granule,
                      Found& found) {
  if (!bytes || !id || DURESS_LIKELY(ordered(t, id))) return;
  AccessRecord record = records_[id];
  if (record.site == kFreeSite) kind = AccessKind::kFree;
  found.add(record, kind, granule, bytes);
}

void FastTrack::judge_writes(const FastTrackThread& t, Word w, u8 mask, uptr granule, Found& found) {
  if (DURESS_LIKELY(!w.spilled())) {
    judge(t, w.id, mask & static_cast<u8>(~w.rest), AccessKind::kWrite, granule, found);
    judge(t, w.old, mask & w.rest, AccessKind::kWrite, granule, found);
    return;
  }
  const WriteSpill& spill = spills_.writes(w.old);
  for (int byte = 0; byte < 8; ++byte) {
    if (!((mask >> byte) & 1)) continue;
    u8 same = 0;
    for (int other = byte; other < 8; ++other) {
      if (((mask >> other) & 1) && spill.ids[other] == spill.ids[byte]) same |= static_cast<u8>(1 << other);
    }
    mask &= static_cast<u8>(~same);
    judge(t, spill.ids[byte], same, AccessKind::kWrite, granule, found);
  }
}

void FastTrack::judge_reads(const FastTrackThread& t, Word r, u8 mask, uptr granule, Found& found) {
  if (DURESS_LIKELY(!r.spilled())) {
    judge(t, r.id, mask & static_cast<u8>(~r.rest), AccessKind::kRead, granule, found);
    judge(t, r.old, mask & r.rest, AccessKind::kRead, granule, found);
    return;
  }
  ReadSet& set = spills_.reads(r.old);
  for (u32 i = 0; i < set.count; ++i) {
    judge(t, set.ids()[i], mask & set.masks()[i], AccessKind::kRead, granule, found);
  }
}

/// A plain access to some bytes of a granule, against the atomics that overlap them.
void FastTrack::judge_atomics(const FastTrackThread& t, uptr granule, u8 mask, bool write, Found& found) {
  syncs_.each_overlapping(granule, 8, [&](SyncObject* object) {
    SpinGuard guard(object->lock);
    auto* history = static_cast<AtomicHistory*>(object->history);
    if (!history) return;
    uptr begin = object->address > granule ? object->address - granule : 0;
    uptr end = object->address + object->size - granule;
    u8 shared = mask & static_cast<u8>((1u << (end < 8 ? end : 8)) - (1u << begin));
    if (!shared) return;
    for (AtomicHistory::Entry& e : *history) {
      bool entry_writes = e.key & 1;
      if (!e.id || !(write || entry_writes) || ordered(t, e.id)) continue;
      found.add(records_[e.id], entry_writes ? AccessKind::kAtomicWrite : AccessKind::kAtomicRead, granule, shared);
    }
  });
}

// ---- new states ------------------------------------------------------------------------------------

/// Gives the bytes of `mask` the access `id`. False if that needs more than two accesses in the word.
static bool assign(Word& w, u8 mask, AccessId id) {
  u8 outside = static_cast<u8>(~mask);
  u8 outside_new = outside & static_cast<u8>(~w.rest);
  u8 outside_old = outside & w.rest;
  if (!outside_old || w.old == id) {
    // What stays is all of w.id, or w.old merges with the new access.
    AccessId stays = w.id;
    w.rest = outside_new;
    w.old = outside_new ? stays : 0;
    if (stays == id) w.rest = 0, w.old = 0;
  } else if (!outside_new || w.id == id) {
    w.rest = outside_old;
  } else {
    return false;
  }
  w.id = id;
  return true;
}

u64 FastTrack::with_write(Word w, u8 mask, AccessId id) {
  if (DURESS_LIKELY(!w.spilled() && assign(w, mask, id))) return w.encode();
  u32 index = w.old;
  if (!w.spilled()) {
    index = spills_.make_writes();
    for (int byte = 0; byte < 8; ++byte) spills_.writes(index).ids[byte] = w.of_byte(byte);
  }
  WriteSpill& spill = spills_.writes(index);
  for (int byte = 0; byte < 8; ++byte) {
    if ((mask >> byte) & 1) spill.ids[byte] = id;
  }
  // Back into the cell as soon as two accesses are enough.
  AccessId second = id;
  u8 rest = 0;
  bool fits = true;
  for (int byte = 0; byte < 8; ++byte) {
    if (spill.ids[byte] == id) continue;
    if (second == id) second = spill.ids[byte];
    fits &= spill.ids[byte] == second;
    rest |= static_cast<u8>(1 << byte);
  }
  if (!fits) return Word{kSpilled, index, 0xff, false, w.sync}.encode();
  spills_.free_writes(index);
  return Word{id, rest ? second : 0, rest, false, w.sync}.encode();
}

u64 FastTrack::with_read(const FastTrackThread& t, Word r, u8 mask, AccessId id) {
  u32 index;
  if (!r.spilled()) {
    u8 in_new = mask & static_cast<u8>(~r.rest), in_old = mask & r.rest;
    bool new_ordered = !r.id || ordered(t, r.id), old_ordered = !r.old || ordered(t, r.old);
    if ((!in_new || new_ordered) && (!in_old || old_ordered) && assign(r, mask, id)) return r.encode();
    index = spills_.make_reads();
    u8 of_new = static_cast<u8>(~r.rest) & static_cast<u8>(new_ordered ? ~mask : 0xff);
    u8 of_old = r.rest & static_cast<u8>(old_ordered ? ~mask : 0xff);
    if (r.id && of_new) index = spills_.add_read(index, r.id, of_new);
    if (r.old && of_old) index = spills_.add_read(index, r.old, of_old);
    index = spills_.add_read(index, id, mask);
    return Word{kSpilled, index, 0xff, false, false}.encode();
  }
  index = r.old;
  ReadSet& set = spills_.reads(index);
  u8 mine = mask;
  for (u32 i = 0; i < set.count;) {
    AccessId other = set.ids()[i];
    if (other == id) {
      mine |= set.masks()[i];
      set.remove(i);
    } else if ((set.masks()[i] & mask) && ordered(t, other) && !(set.masks()[i] &= static_cast<u8>(~mask))) {
      set.remove(i);
    } else {
      ++i;
    }
  }
  if (set.count == 0) {
    spills_.free_reads(index);
    return Word{id, 0, static_cast<u8>(~mine), false, false}.encode();
  }
  return Word{kSpilled, spills_.add_read(index, id, mine), 0xff, false, false}.encode();
}

/// A write of `mask` follows the reads of these bytes: they can race with nothing that it does not.
u64 FastTrack::without_reads(const FastTrackThread& t, Word r, u8 mask) {
  if (!r.spilled()) {
    // The writer's own reads of this epoch stay, so that its next read is still "same epoch".
    if (own_epoch(t, r.id) && !(r.rest & mask)) return r.encode();
    assign(r, mask, 0);  // where three accesses would be needed the reads stay: they are ordered before the write
    return r.encode();
  }
  ReadSet& set = spills_.reads(r.old);
  for (u32 i = 0; i < set.count;) {
    if (!(set.masks()[i] &= static_cast<u8>(~mask))) {
      set.remove(i);
    } else {
      ++i;
    }
  }
  if (set.count) return r.encode();
  spills_.free_reads(r.old);
  return 0;
}

// ---- the rules ---------------------------------------------------------------------------------------

static u64 seen_key(Cell* cell, u8 mask) { return reinterpret_cast<u64>(cell) << 8 | mask; }

/// The common case of a read, all in registers: nothing spilled, everything ordered, result fits. False: nothing was done.
inline bool FastTrack::read_simply(FastTrackThread& t, Cell* cell, u8 mask, AccessId id) {
  u64 w = cell->writes(), r = cell->reads();
  Word writes = Word::decode(w), reads = Word::decode(r);
  if (writes.spilled() || reads.spilled() || writes.sync || !(w | r)) return false;
  u8 w_new = mask & static_cast<u8>(~writes.rest), w_old = mask & writes.rest;
  u8 r_new = mask & static_cast<u8>(~reads.rest), r_old = mask & reads.rest;
  if ((w_new && !harmless(t, writes.id)) || (w_old && !harmless(t, writes.old)) || (r_new && !harmless(t, reads.id)) ||
      (r_old && !harmless(t, reads.old)) || !assign(reads, mask, id)) {
    return false;
  }
  cell->set_reads(reads.encode());
  ++t.read_exclusive;
  return true;
}

inline bool FastTrack::write_simply(FastTrackThread& t, Cell* cell, u8 mask, AccessId id) {
  u64 w = cell->writes(), r = cell->reads();
  Word writes = Word::decode(w), reads = Word::decode(r);
  if (writes.spilled() || reads.spilled() || writes.sync || !(w | r)) return false;
  u8 w_new = mask & static_cast<u8>(~writes.rest), w_old = mask & writes.rest;
  if ((w_new && !harmless(t, writes.id)) || (w_old && !harmless(t, writes.old))) return false;
  if (r) {
    u8 r_new = mask & static_cast<u8>(~reads.rest), r_old = mask & reads.rest;
    if ((r_new && !harmless(t, reads.id)) || (r_old && !harmless(t, reads.old))) return false;
  }
  if (!assign(writes, mask, id)) return false;
  if (r && !(own_epoch(t, reads.id) && !(reads.rest & mask)) && assign(reads, mask, 0)) cell->set_reads(reads.encode());
  cell->set_writes(writes.encode());
  ++t.write_exclusive;
  return true;
}

/// REQUIRES: the cell's line is locked. Returns true if atomics must be asked too, once it is not.
bool FastTrack::read_cell(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, AccessId id, Found& found) {
  u64 w = cell->writes(), r = cell->reads();
  Word reads = Word::decode(r);
  if (own_epoch(t, reads.id) && !(reads.rest & mask)) {  // [READ SAME EPOCH]
    ++t.read_same_epoch;
    return false;
  }
  if (DURESS_LIKELY(read_simply(t, cell, mask, id))) return false;
  if (!(w | r)) shadow_.mark_touched(granule);
  judge_writes(t, Word::decode(w), mask, granule, found);
  u64 next = with_read(t, reads, mask, id);
  if (next >> DURESS_ID_SHIFT != kSpilled) {  // [READ EXCLUSIVE]
    ++t.read_exclusive;
  } else {  // [READ SHARE], [READ SHARED]
    ++(reads.spilled() ? t.read_shared : t.read_share);
    t.seen[(reinterpret_cast<u64>(cell) >> 4) & 255] = {seen_key(cell, mask), next, t.epoch};
  }
  cell->set_reads(next);
  return w & Word::kSyncBit;
}

bool FastTrack::write_cell(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, AccessId id, Found& found) {
  u64 w = cell->writes();
  Word writes = Word::decode(w);
  if (own_epoch(t, writes.id) && !(writes.rest & mask)) {  // [WRITE SAME EPOCH]
    ++t.write_same_epoch;
    return false;
  }
  if (DURESS_LIKELY(write_simply(t, cell, mask, id))) return false;
  u64 r = cell->reads();
  if (!(w | r)) shadow_.mark_touched(granule);
  judge_writes(t, writes, mask, granule, found);
  if (r) {
    Word reads = Word::decode(r);
    judge_reads(t, reads, mask, granule, found);
    ++(reads.spilled() ? t.write_shared : t.write_exclusive);  // [WRITE SHARED], [WRITE EXCLUSIVE]
    cell->set_reads(without_reads(t, reads, mask));
  } else {
    ++t.write_exclusive;
  }
  cell->set_writes(with_write(writes, mask, id));
  return w & Word::kSyncBit;
}

bool FastTrack::range(FastTrackThread& t, uptr address, u64 size, bool write, AccessKind kind, Place place) {
  if (DURESS_UNLIKELY(t.ignore || size == 0 || !ShadowMap::covers(address + size - 1))) return false;
  AccessId id = number(t, place);
  if (!write && (address & 7) + size <= 8) {
    // [READ SAME EPOCH] of a shared cell, without its lock: readers of one hot location must not queue. The word
    // (it names the set) guards against memory that was freed and used again within the epoch.
    Cell* cell = shadow_.cell(address);
    FastTrackThread::Seen& seen = t.seen[(reinterpret_cast<u64>(cell) >> 4) & 255];
    if (seen.cell_and_mask == seen_key(cell, static_cast<u8>(((1u << size) - 1) << (address & 7))) &&
        seen.epoch == t.epoch && seen.word == cell->reads()) {
      ++t.read_same_epoch;
      return false;
    }
  }
  enter(t);
  Found found;
  bool raced = false;
  uptr end = address + size;
  while (address < end) {
    if (DURESS_UNLIKELY(found.nearly_full())) {
      leave(t);
      report(t, found, kind, place);
      found.count = 0;
      raced = true;
      enter(t);
    }
    // One line at a time; the last partial cells and the first have masks.
    uptr line_end = (address & ~(Line::kBytes - 1)) + Line::kBytes;
    uptr stop = line_end < end ? line_end : end;
    Cell* cell = shadow_.cell(address);
    uptr first = address;
    u32 atomics = 0;  // bit i: ask the atomics of cell i
    {
      LineGuard guard(cell);
      while (address < stop) {
        uptr granule = address & ~uptr{7};
        uptr till = stop - granule < 8 ? stop - granule : 8;
        u8 mask = static_cast<u8>((1u << till) - (1u << (address & 7)));
        bool ask = write ? write_cell(t, cell, granule, mask, id, found) : read_cell(t, cell, granule, mask, id, found);
        atomics |= static_cast<u32>(ask) << ((granule & (Line::kBytes - 1)) >> 3);
        ++cell;
        address = granule + 8;
      }
    }
    for (; DURESS_UNLIKELY(atomics != 0); atomics &= atomics - 1) {
      uptr granule = (first & ~(Line::kBytes - 1)) + 8u * static_cast<u32>(__builtin_ctz(atomics));
      uptr from = first > granule ? first - granule : 0, to = stop - granule < 8 ? stop - granule : 8;
      judge_atomics(t, granule, static_cast<u8>((1u << to) - (1u << from)), write, found);
    }
  }
  leave(t);
  if (DURESS_LIKELY(!found.count)) return raced;
  report(t, found, kind, place);
  return true;
}

bool FastTrack::access(FastTrackThread& t, uptr address, u64 size, bool write, Place place) {
  return range(t, address, size, write, write ? AccessKind::kWrite : AccessKind::kRead, place);
}

bool FastTrack::atomic_access(FastTrackThread& t, SyncObject* object, AccessKind kind, Place place) {
  if (DURESS_UNLIKELY(t.ignore || !ShadowMap::covers(object->address + object->size))) return false;
  if (!object->history) object->history = AtomicHistory::make(arena_);
  bool write = is_write(kind);
  AccessId id = number(t, place);  // cannot collect: begin_atomic made room
  auto& entry = static_cast<AtomicHistory*>(object->history)->entry(arena_, AtomicHistory::key(t.clock.slot(), write));
  if (entry.id && own_epoch(t, entry.id)) return false;
  entry.id = id;  // before the cell is looked at: a plain access that comes between finds it there
  Found found;
  uptr end = object->address + object->size;
  for (uptr at = object->address; at < end;) {
    uptr granule = at & ~uptr{7};
    uptr stop = end - granule < 8 ? end - granule : 8;
    u8 mask = static_cast<u8>((1u << stop) - (1u << (at & 7)));
    Cell* cell = shadow_.cell(granule);
    LineGuard guard(cell);
    u64 w = cell->writes(), r = cell->reads();
    if (!(w | r)) shadow_.mark_touched(granule);
    judge_writes(t, Word::decode(w), mask, granule, found);
    if (write) judge_reads(t, Word::decode(r), mask, granule, found);
    cell->set_writes(w | Word::kSyncBit);
    at = granule + 8;
  }
  if (DURESS_LIKELY(!found.count)) return false;
  report(t, found, kind, place);
  return true;
}

void FastTrack::mark_sync(FastTrackThread& t, uptr address) {
  if (!ShadowMap::covers(address)) return;
  enter(t);
  {
    Cell* cell = shadow_.cell(address);
    LineGuard guard(cell);
    shadow_.mark_touched(address);
    cell->set_writes(cell->writes() | Word::kSyncBit);
  }
  leave(t);
}

void FastTrack::report(const FastTrackThread& t, const Found& found, AccessKind kind, Place place) {
  for (u32 i = 0; i < found.count; ++i) {
    const Found::Item& item = found.items[i];
    Race race;
    race.analysis = "FastTrack";
    race.address = item.address;
    race.size = item.size;
    race.earlier = {item.kind, {item.record.site, item.record.stack}, item.record.slot, item.record.clock,
                    item.record.locks};
    race.later = {kind, place, t.clock.slot(), t.epoch, t.locks};
    sink_.race(race);
  }
}

// ---- memory that comes and goes ------------------------------------------------------------------------

bool FastTrack::freed(FastTrackThread& t, uptr address, u64 size, Place place) {
  place.site = kFreeSite;
  return range(t, address, size, true, AccessKind::kFree, place);
}

/// Returns true if synchronisation objects live in the granule. REQUIRES: the cell's line is locked.
bool FastTrack::wipe_cell(Cell* cell) {
  u64 w = cell->writes(), r = cell->reads();
  if (!(w | r)) return false;
  Word writes = Word::decode(w), reads = Word::decode(r);
  if (writes.spilled()) spills_.free_writes(writes.old);
  if (reads.spilled()) spills_.free_reads(reads.old);
  cell->set_reads(0);
  cell->set_writes(0);
  return writes.sync;
}

void FastTrack::wipe(uptr begin, uptr end) {
  constexpr uptr kBlock = uptr{1} << ShadowMap::kBlockBits;
  begin &= ~uptr{7};
  while (begin < end && ShadowMap::covers(begin)) {
    uptr next = (begin & ~(kBlock - 1)) + kBlock;
    if (next > end) next = end;
    if (shadow_.touched(begin)) {
      for (uptr at = begin; at < next;) {
        uptr line_end = (at & ~(Line::kBytes - 1)) + Line::kBytes;
        uptr stop = line_end < next ? line_end : next;
        Cell* cell = shadow_.cell(at);
        const Line* line = Line::of(cell);
        u64 used = 0;
        for (const Cell& c : line->cells) used |= c.writes() | c.reads();
        bool syncs = false;
        if (used) {
          LineGuard guard(cell);
          for (uptr a = at; a < stop; a += 8) syncs |= wipe_cell(cell++);
        }
        if (syncs) {
          syncs_.remove(at, stop, [&](SyncObject* object) {
            if (object->history) static_cast<AtomicHistory*>(object->history)->destroy(arena_);
          });
        }
        at = stop;
      }
      if (next - begin == kBlock) shadow_.clear(begin, next);
    }
    begin = next;
  }
}

void FastTrack::forget(FastTrackThread& t, uptr begin, uptr end) {
  enter(t);
  wipe(begin, end);
  leave(t);
}

}  // namespace duress
