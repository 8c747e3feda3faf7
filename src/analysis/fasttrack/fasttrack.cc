// SPDX-License-Identifier: Apache-2.0
//
// The rules of FastTrack on cells. Locks: a cell's own bit, held for one cell at a time and for
// nothing that waits; an atomic's lock may be held around a cell's, never the other way round.
#include "analysis/fasttrack/hot_path.h"
#include "base/check.h"

namespace duress {

static constexpr size_t kReadCacheBytes = DURESS_READ_CACHE_ENTRIES * sizeof(u64);
static constexpr u32 kTags = 1u << 12;

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
  t.generation = &generation_;
  t.next_thread = threads_;
  threads_ = &t;
}

void FastTrack::detach(FastTrackThread& t) {
  if (t.has_cache) unmap_memory(t.self->read_cache, kReadCacheBytes);
  t.has_cache = false;
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

void FastTrack::enter_slow(FastTrackThread& t) {
  do {
    t.busy.store(false, std::memory_order_release);
    while (collecting_.load(std::memory_order_acquire)) yield_processor();
    t.busy.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } while (collecting_.load(std::memory_order_relaxed));
}

void FastTrack::take_chunk(FastTrackThread& t) {
  if (t.end) records_.close_chunk(t.end - 1, t.epoch);
  if (records_.chunks_in_use() >= budget()) collect(t);
  AccessId first = records_.take_chunk(t.clock.slot());
  if (!first) fatal("more than 67 million access records are live", "track fewer variables at once");
  t.low = t.next = first;
  t.end = first + AccessRecords::kChunk;
}

/// How many chunks of records are fine: a quarter of what shadow takes, so that a collection, which walks all
/// shadow, is paid for by as much work; and few enough to stay in the caches where shadow is small.
u32 FastTrack::budget() const {
  constexpr u64 kShadowPerBlock = u64{2} << ShadowMap::kBlockBits;
  u64 of_shadow =
      shadow_.touched_blocks() * kShadowPerBlock / 4 / (AccessRecords::kChunk * sizeof(AccessRecord));
  u64 most = of_shadow > chunk_budget_ ? of_shadow : chunk_budget_;
  return static_cast<u32>(most > live_chunks_ * 2u ? most : live_chunks_ * 2u);
}

void FastTrack::open_epoch(FastTrackThread& t) {
  t.clock.tick_if_released();
  u32 generation = generation_.load(std::memory_order_relaxed);
  if (t.epoch != t.clock.own() || t.seen_generation != generation) {
    if (t.epoch != t.clock.own()) t.low = t.next;
    t.epoch = t.clock.own();
    t.seen_generation = generation;
    if (++t.tag == kTags) {  // old entries would look new again
      if (t.has_cache) drop_pages(t.self->read_cache, kReadCacheBytes);
      t.tag = 1;
    }
  }
  t.self->read_tag = u64{t.tag} << 8;
  t.self->epoch_low = u64{t.low} << DURESS_ID_SHIFT;
  t.self->epoch_span = u64{t.end - t.low} << DURESS_ID_SHIFT;
}

AccessId FastTrack::number(FastTrackThread& t, Place place) {
  if (DURESS_UNLIKELY(t.self->epoch_span == 0)) open_epoch(t);
  if (t.next == t.end) {
    take_chunk(t);
    t.self->epoch_low = u64{t.low} << DURESS_ID_SHIFT;
    t.self->epoch_span = u64{t.end - t.low} << DURESS_ID_SHIFT;
  }
  return number_in_chunk(t, place);
}

// ---- judging: is an earlier access ordered before this one? --------------------------------------

void FastTrack::judge(const FastTrackThread& t, AccessId id, u8 bytes, AccessKind kind, uptr granule,
                      Found& found) {
  if (!bytes || !id || DURESS_LIKELY(ordered(t, id))) return;
  AccessRecord record = records_[id];
  if (record.place.site == kFreeSite) kind = AccessKind::kFree;
  found.add(record, kind, granule, bytes);
}

void FastTrack::judge_writes(const FastTrackThread& t, Word w, u8 mask, uptr granule, Found& found) {
  if (DURESS_LIKELY(!w.spilled)) {
    judge(t, w.id, mask & static_cast<u8>(~w.rest), AccessKind::kWrite, granule, found);
    judge(t, w.old, mask & w.rest, AccessKind::kWrite, granule, found);
    return;
  }
  const WriteSpill& spill = spills_.writes(w.old);
  for (u32 left = mask; left; left &= left - 1) {
    int byte = __builtin_ctz(left);
    if (DURESS_LIKELY(harmless(t, spill.ids[byte]))) continue;
    u8 same = 0;
    for (int other = byte; other < 8; ++other) {
      if (((left >> other) & 1) && spill.ids[other] == spill.ids[byte]) same |= static_cast<u8>(1 << other);
    }
    judge(t, spill.ids[byte], same, AccessKind::kWrite, granule, found);
  }
}

void FastTrack::judge_reads(const FastTrackThread& t, Word r, u8 mask, uptr granule, Found& found) {
  if (r.both) {
    mask &= static_cast<u8>(~r.rest);
    judge(t, r.id, mask, AccessKind::kRead, granule, found);
    judge(t, r.old, mask, AccessKind::kRead, granule, found);
    return;
  }
  if (DURESS_LIKELY(!r.spilled)) {
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
      found.add(records_[e.id], entry_writes ? AccessKind::kAtomicWrite : AccessKind::kAtomicRead, granule,
                shared);
    }
  });
}

// ---- new states ------------------------------------------------------------------------------------

u64 FastTrack::with_write(const FastTrackThread& t, Word w, u8 mask, AccessId id) {
  if (DURESS_LIKELY(!w.spilled && assign(w, mask, id))) return pack(t, w);
  u32 index = w.old;
  if (!w.spilled) {
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
  if (!fits) {
    for (int byte = 0; byte < 8; ++byte) {
      if (own_epoch(t, spill.ids[byte])) rest &= static_cast<u8>(~(1 << byte));
    }
    return Word{id, index, rest, true, false, w.sync}.encode();
  }
  spills_.free_writes(index);
  return pack(t, Word{id, rest ? second : 0, rest, false, false, w.sync});
}

/// The read word of a cell whose reads are in a set, after this thread's read `id` was added.
u64 FastTrack::shared_word(const FastTrackThread& t, u32 index, AccessId id) {
  ReadSet& set = spills_.reads(index);
  u8 mine = 0;
  for (u32 i = 0; i < set.count; ++i) {
    if (own_epoch(t, set.ids()[i])) mine |= set.masks()[i];
  }
  // Two readers of the same bytes go back into the cell.
  if (set.count == 2 && set.masks()[0] == set.masks()[1] && set.ids()[1] == id) {
    Word w{id, set.ids()[0], static_cast<u8>(~set.masks()[0]), false, true, false};
    spills_.free_reads(index);
    return w.encode();
  }
  return Word{id, index, static_cast<u8>(~mine), true, false, false}.encode();
}

u64 FastTrack::with_read(const FastTrackThread& t, Word r, u8 mask, AccessId id) {
  u32 index;
  if (r.both) {
    u8 covered = static_cast<u8>(~r.rest);
    // One of the two reads on in its next epoch: its number is replaced.
    for (AccessId other : {r.old, r.id}) {
      AccessId mine = other == r.id ? r.old : r.id;
      if ((covered & static_cast<u8>(~mask)) == 0 && mask == covered &&
          records_.time(mine).slot == t.clock.slot()) {
        return Word{id, other, r.rest, false, true, false}.encode();
      }
    }
    index = spills_.make_reads();
    index = spills_.add_read(index, r.id, covered);
    index = spills_.add_read(index, r.old, covered);
    r = {0, index, 0xff, true, false, false};
  }
  if (!r.spilled) {
    u8 in_new = mask & static_cast<u8>(~r.rest), in_old = mask & r.rest;
    bool new_ordered = !r.id || ordered(t, r.id), old_ordered = !r.old || ordered(t, r.old);
    if ((!in_new || new_ordered) && (!in_old || old_ordered) && assign(r, mask, id)) return pack(t, r);
    index = spills_.make_reads();
    u8 of_new = static_cast<u8>(~r.rest) & static_cast<u8>(new_ordered ? ~mask : 0xff);
    u8 of_old = r.rest & static_cast<u8>(old_ordered ? ~mask : 0xff);
    if (r.id && of_new) index = spills_.add_read(index, r.id, of_new);
    if (r.old && of_old) index = spills_.add_read(index, r.old, of_old);
    return shared_word(t, spills_.add_read(index, id, mask), id);
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
    return Word{id, 0, static_cast<u8>(~mine), false, false, false}.encode();
  }
  return shared_word(t, spills_.add_read(index, id, mine), id);
}

/// A write of `mask` follows the reads of these bytes: they can race with nothing that it does not.
u64 FastTrack::without_reads(const FastTrackThread& t, Word r, u8 mask) {
  if (r.both) {
    r.rest |= mask;
    return r.rest == 0xff ? 0 : r.encode();
  }
  if (!r.spilled) {
    // The writer's own reads of this epoch stay, so that its next read is still "same epoch". Others must go:
    // a read that is in a cell came after the write that is (hot_path.h).
    if (own_reads(t, r, mask) || assign(r, mask, 0)) return pack(t, r);
    u32 index = spills_.make_reads();
    u8 of_id = static_cast<u8>(~(r.rest | mask)), of_old = r.rest & static_cast<u8>(~mask);
    if (r.id && of_id) index = spills_.add_read(index, r.id, of_id);
    if (r.old && of_old) index = spills_.add_read(index, r.old, of_old);
    return Word{0, index, 0xff, true, false, false}.encode();
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

/// [READ SAME EPOCH] of a shared cell, without its lock: readers of one hot location must not queue. A block
/// of the pool is always a block of the pool, so looking at a set that is being changed or reused is
/// harmless; that the cell still names it afterwards says that what was found there was its own.
bool FastTrack::shared_read_seen(FastTrackThread& t, Cell* cell, uptr granule, u8 mask) {
  u64 r = cell->reads();
  if (!(r & (Word::kSpillBit | Word::kBothBit))) return false;
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
    remember_read(t, granule, mask);
    return true;
  }
  return false;
}

/// Puts a read of shared memory where inline code finds it.
void FastTrack::remember_read(FastTrackThread& t, uptr granule, u8 mask) {
  if (DURESS_UNLIKELY(!t.has_cache)) {
    void* cache = map_memory(kReadCacheBytes);
    if (!cache) return;
    t.self->read_cache = static_cast<u64*>(cache);
    t.has_cache = true;
  }
  u64 key = (granule & ~uptr{7}) << DURESS_READ_CACHE_SHIFT | t.self->read_tag;
  u64& entry = t.self->read_cache[(granule >> 3) % DURESS_READ_CACHE_ENTRIES];
  u64 rest = (entry ^ key) >> 8 ? 0xff : entry & 0xff;
  entry = key | (rest & static_cast<u8>(~mask));
}

/// REQUIRES: the cell's line is locked. Returns true if atomics must be asked too, once it is not.
bool FastTrack::read_cell(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, AccessId id, Found& found) {
  u64 w = cell->writes(), r = cell->reads();
  Word reads = Word::decode(r);
  if (same_epoch(t, r, mask)) {  // [READ SAME EPOCH]
    ++t.rules.read_same_epoch;
    return false;
  }
  if (!(w | r)) shadow_.mark_touched(granule);
  judge_writes(t, Word::decode(w), mask, granule, found);
  u64 next = with_read(t, reads, mask, id);
  if (!(next & (Word::kSpillBit | Word::kBothBit))) {  // [READ EXCLUSIVE]
    ++t.rules.read_exclusive;
  } else {  // [READ SHARE], [READ SHARED]
    ++(reads.spilled || reads.both ? t.rules.read_shared : t.rules.read_share);
    if (next & Word::kSpillBit) {
      remember_read(t, granule, mask);
      t.set_hint(granule) = static_cast<u16>(spills_.reads(Word::decode(next).old).count - 1);
    }
  }
  cell->set_reads(next);
  return w & Word::kSyncBit;
}

/// One of several threads that read the same bytes reads them again in its next epoch: its number is replaced
/// (reads_on() of hot_path.h). Entries of threads that this one follows stay; they mean no harm. False: it is
/// not that. REQUIRES: the cell's line is locked.
bool FastTrack::read_again(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, AccessId id) {
  u64 r = cell->reads();
  if (!(r & Word::kSpillBit) || (cell->writes() & Word::kSyncBit)) return false;
  Word reads = Word::decode(r);
  ReadSet& set = spills_.reads(reads.old);
  u32 at = t.set_hint(granule);
  if (at >= set.count || set.masks()[at] != mask || records_.slot(set.ids()[at]) != t.clock.slot())
    return false;
  set.ids()[at] = id;
  u8 unread = own_epoch(t, reads.id) ? reads.rest : 0xff;
  cell->set_reads(Word{id, reads.old, static_cast<u8>(unread & ~mask), true, false, false}.encode());
  remember_read(t, granule, mask);
  ++t.rules.read_shared;
  return true;
}

bool FastTrack::write_cell(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, AccessId id, Found& found) {
  u64 w = cell->writes();
  Word writes = Word::decode(w);
  if (same_epoch(t, w, mask)) {  // [WRITE SAME EPOCH]
    ++t.rules.write_same_epoch;
    return false;
  }
  u64 r = cell->reads();
  if (!(w | r)) shadow_.mark_touched(granule);
  judge_writes(t, writes, mask, granule, found);
  if (r) {
    Word reads = Word::decode(r);
    judge_reads(t, reads, mask, granule, found);
    ++(reads.spilled || reads.both ? t.rules.write_shared
                                   : t.rules.write_exclusive);  // [WRITE SHARED], [WRITE EXCLUSIVE]
    cell->set_reads(without_reads(t, reads, mask));
  } else {
    ++t.rules.write_exclusive;
  }
  cell->set_writes(with_write(t, writes, mask, id));
  return w & Word::kSyncBit;
}

/// Is every byte of [address, stop), all in one line, "same epoch"? Without the line's lock.
bool FastTrack::known(FastTrackThread& t, Cell* cell, uptr address, uptr stop, bool write) {
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
/// swept by one thread at a time, so cell after cell holds the same two words: the verdict on one is the
/// verdict on the next.
template <bool kWrite>
uptr FastTrack::sweep(FastTrackThread& t, uptr address, uptr end, AccessId id) {
  const u64 low = u64{t.low} << DURESS_ID_SHIFT, span = u64{t.next - t.low} << DURESS_ID_SHIFT;
  Transition last;
  u64 changed = 0;
  Line* line = nullptr;
  for (; end - address >= Line::kBytes; address += Line::kBytes, ++line) {
    if (!line || !(address & (ShadowMap::kRegionBytes - 1))) line = Line::of(shadow_.cell(address));
    bool same = true;
    for (const Cell& c : line->cells) {
      u64 word = kWrite ? c.writes() : c.reads();
      same &= word - low < span && !(word & 0xff);
    }
    if (same) continue;
    line->lock();
    bool simple = true;
    for (Cell& c : line->cells) {
      u64 w = c.writes(), r = c.reads();
      u64 word = kWrite ? w : r;
      if (word - low < span && !(word & 0xff)) continue;
      // Cells of this line that are done already are found "same epoch" next time.
      simple = last.is(w, r, 0xff) || transition<kWrite>(t, w, r, 0xff, id, last);
      if (!simple) break;
      if (!(w | r)) shadow_.mark_touched(address);
      last.apply<kWrite>(&c);
      ++changed;
    }
    line->unlock();
    if (!simple) break;
  }
  (kWrite ? t.rules.write_exclusive : t.rules.read_exclusive) += changed;
  return address;
}

/// The access to one cell of a range, if it is a simple case. REQUIRES: the cell's line is locked.
template <bool kWrite>
inline bool FastTrack::cell_simply(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, AccessId id) {
  u64 w = cell->writes(), r = cell->reads();
  if (same_epoch(t, kWrite ? w : r, mask)) return true;
  Transition change;
  if (!transition<kWrite>(t, w, r, mask, id, change)) return false;
  if (!(w | r)) shadow_.mark_touched(granule);
  change.apply<kWrite>(cell);
  ++(kWrite ? t.rules.write_exclusive : t.rules.read_exclusive);
  return true;
}

bool FastTrack::range(FastTrackThread& t, uptr address, u64 size, bool write, AccessKind kind, Place place) {
  if (DURESS_UNLIKELY(t.ignore || size == 0 || !ShadowMap::covers(address + size - 1))) return false;
  AccessId id = number(t, place);
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
    // Whole lines in bulk, as far as they are simple; then one line at a time, its first and last cell in
    // part.
    if (end - address >= Line::kBytes && !(address & (Line::kBytes - 1))) {
      address = write ? sweep<true>(t, address, end, id) : sweep<false>(t, address, end, id);
      if (address == end) break;
    }
    uptr line_end = (address & ~(Line::kBytes - 1)) + Line::kBytes;
    uptr stop = line_end < end ? line_end : end;
    Cell* cell = shadow_.cell(address);
    if (known(t, cell, address, stop, write)) {
      address = stop;
      continue;
    }
    uptr first = address;
    u32 atomics = 0;  // bit i: ask the atomics of cell i
    {
      LineGuard guard(cell);
      while (address < stop) {
        uptr granule = address & ~uptr{7};
        uptr till = stop - granule < 8 ? stop - granule : 8;
        u8 mask = static_cast<u8>((1u << till) - (1u << (address & 7)));
        if ((write && cell_simply<true>(t, cell, granule, mask, id)) ||
            (!write &&
             (cell_simply<false>(t, cell, granule, mask, id) || shared_read_seen(t, cell, granule, mask)))) {
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
      judge_atomics(t, granule, static_cast<u8>((1u << to) - (1u << from)), write, found);
    }
  }
  leave(t);
  if (DURESS_LIKELY(!found.count)) return raced;
  report(t, found, kind, place);
  return true;
}

/// An access within one cell that is no simple case: bytes of a cell that many places access in turn come
/// here often, so it is kept short.
bool FastTrack::one_cell(FastTrackThread& t, uptr address, u64 size, bool write, Place place) {
  uptr granule = address & ~uptr{7};
  u8 mask = static_cast<u8>(((1u << size) - 1) << (address & 7));
  AccessId id = number(t, place);
  Cell* cell = shadow_.cell(address);
  if (!write && shared_read_seen(t, cell, granule, mask)) return false;
  Found found;
  enter(t);
  Line* line = Line::of(cell);
  line->lock();
  bool atomics = false;
  if (write) {
    atomics = write_cell(t, cell, granule, mask, id, found);
  } else if (!read_again(t, cell, granule, mask, id)) {
    atomics = read_cell(t, cell, granule, mask, id, found);
  }
  line->unlock();
  if (DURESS_UNLIKELY(atomics)) judge_atomics(t, granule, mask, write, found);
  leave(t);
  if (DURESS_LIKELY(!found.count)) return false;
  report(t, found, write ? AccessKind::kWrite : AccessKind::kRead, place);
  return true;
}

bool FastTrack::access_hard(FastTrackThread& t, uptr address, u64 size, bool write, Place place) {
  if (DURESS_LIKELY((address & 7) + size <= 8 && size != 0 && ShadowMap::covers(address) && !t.ignore))
    return one_cell(t, address, size, write, place);
  return range(t, address, size, write, write ? AccessKind::kWrite : AccessKind::kRead, place);
}

bool FastTrack::access(FastTrackThread& t, uptr address, u64 size, bool write, Place place) {
  if (DURESS_LIKELY((address & 7) + size <= 8 && size != 0 && !t.ignore)) {
    if (t.self->epoch_span == 0 || t.next == t.end) number(t, place);  // try_access() wants an open epoch
    auto n = static_cast<u32>(size);
    Outcome outcome =
        write ? try_access<true>(t, address, n, place) : try_access<false>(t, address, n, place);
    if (outcome == Outcome::kDone) return false;
  }
  return access_hard(t, address, size, write, place);
}

/// How many of `count` accesses, from the first on, are "same epoch". Cells are `step` bytes of memory apart.
template <bool kWrite>
inline u64 FastTrack::known_ahead(const FastTrackThread& t, const Cell* cell, u64 count, i64 step, u8 mask) {
  const u64 low = u64{t.low} << DURESS_ID_SHIFT, span = u64{t.next - t.low} << DURESS_ID_SHIFT;
  i64 cells = step / 8;
  u64 known = 0;
  for (; known < count; ++known, cell += cells) {
    u64 word = kWrite ? cell->writes() : cell->reads();
    bool mine = word - low < span ||
                (!kWrite && (word & Word::kBothBit) && (word << DURESS_OLD_ID_SHIFT) - low < span);
    if (!mine || (word & mask)) break;
  }
  return known;
}

template <bool kWrite>
bool FastTrack::stride(FastTrackThread& t, uptr address, u64 count, i64 step, u32 size, Place place) {
  AccessId id = number(t, place);
  bool raced = false;
  Transition last;       // elements of one array mostly share their two words
  Line* held = nullptr;  // neighbours share a line
  auto let_go = [&] {
    if (!held) return;
    held->unlock();
    leave(t);
    held = nullptr;
  };
  auto hard = [&](uptr at) {
    let_go();
    raced |= access(t, at, size, kWrite, place);
    id = number(t, place);  // the chunk of the other one may be full and gone
    last = {};
  };
  // The usual array: each access lies in its cell as the first one does, and all cells in one region.
  uptr end = address + (count - 1) * static_cast<uptr>(step);
  bool even = step % 8 == 0 && (address & 7) + size <= 8 && shadow_.has_region(address) &&
              address >> ShadowMap::kRegionBits == end >> ShadowMap::kRegionBits;
  for (u64 i = 0; i < count; ++i) {
    uptr at = address + i * static_cast<uptr>(step);
    if (DURESS_UNLIKELY(!even && ((at & 7) + size > 8 || !ShadowMap::covers(at)))) {
      hard(at);
      continue;
    }
    u8 mask = static_cast<u8>(((1u << size) - 1) << (at & 7));
    Cell* cell = shadow_.cell(at);
    if (u64 known = known_ahead<kWrite>(t, cell, even ? count - i : 1, step, mask)) {
      i += known - 1;
      continue;
    }
    u64 w = cell->writes(), r = cell->reads();
    if (!kWrite && (r & Word::kSpillBit) && shared_read_seen(t, cell, at, mask)) continue;
    if (Line::of(cell) != held) {
      let_go();
      enter(t);
      held = Line::of(cell);
      held->lock();
      w = cell->writes(), r = cell->reads();
    }
    if (DURESS_LIKELY(last.is(w, r, mask) || transition<kWrite>(t, w, r, mask, id, last))) {
      if (!(w | r)) shadow_.mark_touched(at);
      last.apply<kWrite>(cell);
      ++(kWrite ? t.rules.write_exclusive : t.rules.read_exclusive);
    } else {
      hard(at);
    }
  }
  let_go();
  return raced;
}

bool FastTrack::strided(FastTrackThread& t, uptr address, u64 count, i64 step, u32 size, bool write,
                        Place place) {
  if (DURESS_UNLIKELY(t.ignore || count == 0)) return false;
  return write ? stride<true>(t, address, count, step, size, place)
               : stride<false>(t, address, count, step, size, place);
}

void FastTrack::begin_atomic(FastTrackThread& t) {
  if (DURESS_UNLIKELY(t.next == t.end)) {
    take_chunk(t);
    t.self->epoch_span = 0;
  }
  enter(t);
}

bool FastTrack::atomic_access(FastTrackThread& t, SyncObject* object, AccessKind kind, Place place) {
  if (DURESS_UNLIKELY(t.ignore || !ShadowMap::covers(object->address + object->size))) return false;
  if (!object->history) object->history = AtomicHistory::make(arena_);
  bool write = is_write(kind);
  AccessId id = number(t, place);  // cannot collect: begin_atomic made room
  auto& entry =
      static_cast<AtomicHistory*>(object->history)->entry(arena_, AtomicHistory::key(t.clock.slot(), write));
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
    race.earlier = {item.kind, item.record.place, item.record.time.slot, item.record.time.clock,
                    item.record.time.locks};
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
  if (writes.spilled) spills_.free_writes(writes.old);
  cell->set_reads(0);
  cell->set_writes(0);
  if (reads.spilled) {
    // Threads that read the old block must not take the new one as read. Whoever gets to know the new block
    // by synchronisation looks at the generation then (after_sync).
    generation_.fetch_add(1, std::memory_order_relaxed);
    spills_.free_reads(reads.old);
  }
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
