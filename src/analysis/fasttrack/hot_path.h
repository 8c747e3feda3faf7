// SPDX-License-Identifier: Apache-2.0
//
// The part of FastTrack that runs millions of times a second: the first access of an epoch to a cell where
// nothing is out of the ordinary. Inline, so that a hook is one function: about 15 ns, of which 7 are the
// line's lock.
#pragma once

#include "analysis/fasttrack/fasttrack.h"

namespace duress {

/// Gives the bytes of `mask` the access `id`. False if that needs more than two accesses in the word.
inline bool assign(Word& w, u8 mask, AccessId id) {
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

/// Encodes so that inline code finds as much of it "same epoch" as is.
inline u64 FastTrack::pack(const FastTrackThread& t, Word w) {
  if (DURESS_LIKELY(!w.rest)) return w.encode();
  bool one_epoch = own_epoch(t, w.id) && own_epoch(t, w.old) && (w.id ^ w.old) < AccessRecords::kChunk;
  return one_epoch ? w.encode_one_epoch() : w.encode();
}

/// Are the last reads of all these bytes this thread's, of this epoch? REQUIRES: neither spilled nor both.
inline bool FastTrack::own_reads(const FastTrackThread& t, const Word& r, u8 mask) const {
  return (!(mask & static_cast<u8>(~r.rest)) || own_epoch(t, r.id)) &&
         (!(mask & r.rest) || own_epoch(t, r.old));
}

/// What becomes of a cell's two words; remembered, because the next cell often holds the same two.
struct FastTrack::Transition {
  u64 old_writes = ~u64{0}, old_reads = ~u64{0};
  u64 new_writes = 0, new_reads = 0;
  u8 mask = 0;

  bool is(u64 w, u64 r, u8 m) const { return w == old_writes && r == old_reads && m == mask; }
  template <bool kWrite>
  void apply(Cell* cell) const {
    if (!kWrite || new_reads != old_reads) cell->set_reads(new_reads);
    if (kWrite) cell->set_writes(new_writes);
  }
};

/// One of two threads that read the same bytes reads them again in its next epoch: its number is replaced. No
/// check of the writes: there was none since its last read, which was checked. Returns the new word, 0 if it
/// is neither of the two. REQUIRES: r is both.
inline u64 FastTrack::reads_on(const FastTrackThread& t, u64 r, AccessId id) const {
  Word reads = Word::decode(r);
  bool first = records_.slot(reads.id) == t.clock.slot();
  if (!first && records_.slot(reads.old) != t.clock.slot()) return 0;
  return Word{id, first ? reads.old : reads.id, reads.rest, false, true, false}.encode();
}

/// Whether the thread follows the last reads of these bytes; what was read is taken out of `unread`. Of bytes
/// that were read since their last write only the read is looked at: it was found to follow the write, so
/// what follows it follows both. Each record is a cache miss in a large heap.
__attribute__((always_inline)) inline bool FastTrack::follows_reads(const FastTrackThread& t,
                                                                    const Word& reads, u8 mask,
                                                                    u8& unread) const {
  u8 r_new = mask & static_cast<u8>(~reads.rest), r_old = mask & reads.rest;
  if (r_new && reads.id) {
    if (!ordered(t, reads.id)) return false;
    unread &= static_cast<u8>(~r_new);
  }
  if (r_old && reads.old) {
    if (!ordered(t, reads.old)) return false;
    unread &= static_cast<u8>(~r_old);
  }
  return true;
}

/// The common case of an access: nothing spilled, everything before it ordered, the result fits. False: it is
/// not that.
template <bool kWrite>
__attribute__((always_inline)) inline bool FastTrack::transition(const FastTrackThread& t, u64 w, u64 r,
                                                                 u8 mask, AccessId id,
                                                                 Transition& result) const {
  constexpr u64 kOdd = Word::kSpillBit | Word::kSyncBit;
  if (DURESS_UNLIKELY((w & kOdd) || (r & (Word::kSpillBit | Word::kBothBit)))) {
    if ((w & Word::kSyncBit) || (r & Word::kSpillBit)) return false;
    if (!(r & Word::kBothBit)) {
      Transition spilled;  // so that `result` stays in registers
      if (!spilled_transition<kWrite>(t, w, r, mask, id, spilled)) return false;
      result = spilled;
      return true;
    }
    if (kWrite || mask != static_cast<u8>(~r)) return false;
    u64 next = reads_on(t, r, id);
    if (!next) return false;
    result = {w, r, w, next, mask};
    return true;
  }
  Word writes = Word::decode(w), reads = Word::decode(r);
  u8 unread = mask;
  if (r && !follows_reads(t, reads, mask, unread)) return false;
  u8 w_new = unread & static_cast<u8>(~writes.rest), w_old = unread & writes.rest;
  if ((w_new && !harmless(t, writes.id)) || (w_old && !harmless(t, writes.old))) return false;
  result.new_writes = w;
  result.new_reads = r;
  if (kWrite) {
    if (!assign(writes, mask, id)) return false;
    result.new_writes = pack(t, writes);
    // The writer's own reads of this epoch stay, so that its next read is still "same epoch".
    if (r && !own_reads(t, reads, mask)) {
      if (!assign(reads, mask, 0)) return false;
      result.new_reads = pack(t, reads);
    }
  } else {
    if (!assign(reads, mask, id)) return false;
    result.new_reads = pack(t, reads);
  }
  result.old_writes = w;
  result.old_reads = r;
  result.mask = mask;
  return true;
}

inline AccessId FastTrack::new_number_in_chunk(FastTrackThread& t, Place place) {
  AccessId id = t.next++;
  records_.set(id, {place, {t.epoch, t.clock.slot(), t.locks}});
  return id;
}

/// REQUIRES: the epoch is open and the chunk not full.
inline AccessId FastTrack::number_in_chunk(FastTrackThread& t, Place place) {
  u32 hash = (raw(place.site) + raw(place.stack) * 5) & 63;
  FastTrackThread::CachedPlace& cached = t.places[hash];
  if (cached.place.site == place.site && cached.place.stack == place.stack && cached.locks == t.locks &&
      own_epoch(t, cached.id)) {
    return cached.id;
  }
  AccessId id = new_number_in_chunk(t, place);
  cached = {place, id, t.locks};
  return id;
}

/// A read of memory whose reads are kept with the threads, without the lock of its line: the thread writes
/// its own word, and then looks whether the cell is as it was. Who writes takes the reads out of the cell
/// first and looks at the words afterwards, so one of the two sees the other. False: it is not that simple;
/// nothing is lost if it is done again with the lock held.
inline bool FastTrack::read_paged(FastTrackThread& t, Cell* cell, uptr granule, u8 mask, Place place) {
  std::atomic_thread_fence(
      std::memory_order_acquire);  // of the reads, which are in pages; no instruction here
  u64 w = cell->writes();
  ReadPageWord* word = pages_.find(t.read_page, t.clock.slot(), granule);
  if (!word || (w & (Word::kSyncBit | Word::kSpillBit))) return false;
  Word mine = Word::decode(word->load(std::memory_order_relaxed));
  if (own_reads(t, mine, mask) && !t.every_access) return !t.filter.lost(1);  // the filter has lost it
  u8 of_id = mask & static_cast<u8>(~mine.rest), of_old = mask & mine.rest;
  if ((of_id && !mine.id) ||
      (of_old && !mine.old)) {  // else there was no write since this thread's last read
    Word writes = Word::decode(w);
    u8 in_new = mask & static_cast<u8>(~writes.rest), in_old = mask & writes.rest;
    if ((in_new && !harmless(t, writes.id)) || (in_old && !harmless(t, writes.old))) return false;
  }
  if (!assign(mine, mask, number_in_chunk(t, place))) return false;
  word->exchange(mine.encode(), std::memory_order_seq_cst);
  if (DURESS_UNLIKELY(!Word::is_paged(cell->reads()) || cell->writes() != w)) {
    t.stray_word = word;
    return false;
  }
  ++t.rules.read_shared;
  return true;
}

/// An access within one cell, if it is a simple case and needs no call. Hooks consist of
/// this alone; a call anywhere in them would make every one of them save all registers. REQUIRES: it does not
/// cross into the next cell.
template <bool kWrite, bool kAlone>
__attribute__((always_inline)) inline FastTrack::Outcome FastTrack::try_access(FastTrackThread& t,
                                                                               uptr address, u32 size,
                                                                               Place place, AccessRun* run) {
  // The program's own access comes next; the lock of the line would make its cache miss wait for the cell's.
  if (!kAlone) __builtin_prefetch(reinterpret_cast<const void*>(address), kWrite);
  if (!kWrite && !kAlone) pages_.prefetch(address);
  if (DURESS_UNLIKELY(t.ignore || !EpochFilter::is_open(*t.self) || t.next == t.end ||
                      !shadow_.has_region(address)))
    return Outcome::kNotTried;
  Cell* cell = shadow_.cell_in_region(address);
  u8 mask = static_cast<u8>(((1u << size) - 1) << (address & 7));
  // A write looks at nothing before it has the lock: fresh memory is written first, and its shadow is then
  // written first too (Line::try_lock()).
  auto lost = [&] {
    EpochFilter::add<kWrite>(*t.self, address, mask);
    return t.filter.lost(1) && !kAlone ? Outcome::kNotSimple : Outcome::kDone;  // it may grow
  };
  if (!kWrite) {
    u64 word = cell->reads();
    if (same_epoch(t, word, mask) && !t.every_access) return lost();
    if (DURESS_UNLIKELY(word & Word::kSpillBit)) {
      if (!Word::is_paged(word)) return Outcome::kNotSimple;
      if (!kAlone) {
        t.busy.store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);  // as in enter()
      }
      bool done = (kAlone || !collecting_.load(std::memory_order_relaxed)) &&
                  read_paged(t, cell, address & ~uptr{7}, mask, place);
      if (done) EpochFilter::add<false>(*t.self, address, mask);
      if (!kAlone) leave(t);
      return done ? Outcome::kDone : Outcome::kNotSimple;
    }
  }
  AccessId id = number_in_chunk(t, place);
  Line* line = Line::of(cell);
  if (!kAlone) {
    t.busy.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // as in enter()
    if (DURESS_UNLIKELY(collecting_.load(std::memory_order_relaxed)) || !line->try_lock()) {
      leave(t);
      return Outcome::kNotTried;
    }
  }
  u64 w = cell->writes(), r = cell->reads();
  if (kWrite && DURESS_UNLIKELY(same_epoch(t, w, mask) && !t.every_access)) {
    if (!kAlone) {
      line->unlock();
      leave(t);
    }
    return lost();
  }
  Transition change;
  bool simple = transition<kWrite>(t, w, r, mask, id, change) && (w | r || shadow_.is_plain(address));
  if (DURESS_LIKELY(simple)) {
    change.apply<kWrite>(cell);
    EpochFilter::add<kWrite>(*t.self, address, mask);
    ++(kWrite ? t.rules.write_exclusive : t.rules.read_exclusive);
    // What a spilled word means may change while the word stays.
    if (run && !((w | r) & Word::kSpillBit)) {
      run->old_writes = w, run->old_reads = r;
      run->new_writes = change.new_writes, run->new_reads = change.new_reads;
      run->id = id, run->locks = t.locks, run->stack = place.stack;
      run->collections = static_cast<u32>(collections_);
      run->region = static_cast<u16>(address >> ShadowMap::kRegionBits);
    }
  }
  if (!kAlone) {
    line->unlock();
    leave(t);
  }
  return simple ? Outcome::kDone : Outcome::kNotSimple;
}

template <bool kWrite>
__attribute__((always_inline)) inline bool FastTrack::repeat(FastTrackThread& t, uptr address, u8 mask,
                                                             const AccessRun& run) {
  __builtin_prefetch(reinterpret_cast<const void*>(address), kWrite);
  if (!own_epoch(t, run.id) || run.locks != t.locks || t.ignore || !EpochFilter::is_open(*t.self) ||
      run.region != address >> ShadowMap::kRegionBits)
    return false;
  Cell* cell = shadow_.cell_in_region(address);
  // Looking before locking: mostly it tells apart what a run cannot do, and then the lock is taken once only.
  if (cell->writes() != run.old_writes || cell->reads() != run.old_reads) return false;
  t.busy.store(true, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // as in enter()
  Line* line = Line::of(cell);
  // Acquire: the count is looked at afterwards.
  if (DURESS_UNLIKELY(collecting_.load(std::memory_order_acquire)) ||
      run.collections != static_cast<u32>(collections_) || !line->try_lock()) {
    leave(t);
    return false;
  }
  bool same = cell->writes() == run.old_writes && cell->reads() == run.old_reads &&
              (run.old_writes | run.old_reads || shadow_.is_plain(address));
  if (DURESS_LIKELY(same)) {
    if (!kWrite || run.new_reads != run.old_reads) cell->set_reads(run.new_reads);
    if (kWrite) cell->set_writes(run.new_writes);
  }
  line->unlock();
  leave(t);
  if (!same) return false;
  EpochFilter::add<kWrite>(*t.self, address, mask);
  ++(kWrite ? t.rules.write_exclusive : t.rules.read_exclusive);
  return true;
}

/// The same for 16 bytes that are two whole cells of one line, as a compiler makes them of a pair of pointers
/// or of two elements of an array: one lock for both. kNotTried: each half is an access of its own.
template <bool kWrite>
__attribute__((always_inline)) inline FastTrack::Outcome FastTrack::try_pair(FastTrackThread& t, uptr address,
                                                                             Place place) {
  if (DURESS_UNLIKELY((address & 7) || (address & (Line::kBytes - 1)) > 16 || t.ignore || t.every_access ||
                      !EpochFilter::is_open(*t.self) || t.next == t.end || !shadow_.has_region(address)))
    return Outcome::kNotTried;
  Cell* cell = shadow_.cell_in_region(address);
  AccessId id = number_in_chunk(t, place);
  Line* line = Line::of(cell);
  t.busy.store(true, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // as in enter()
  if (DURESS_UNLIKELY(collecting_.load(std::memory_order_relaxed)) || !line->try_lock()) {
    leave(t);
    return Outcome::kNotTried;
  }
  Transition change;
  u32 done = 0;
  for (; done < 2; ++done) {
    u64 w = cell[done].writes(), r = cell[done].reads();
    if (same_epoch(t, kWrite ? w : r, 0xff)) continue;
    if (!change.is(w, r, 0xff) && !transition<kWrite>(t, w, r, 0xff, id, change)) break;
    if (!(w | r) && !shadow_.is_plain(address)) break;
    change.apply<kWrite>(cell + done);
    ++(kWrite ? t.rules.write_exclusive : t.rules.read_exclusive);
  }
  line->unlock();
  leave(t);
  if (DURESS_UNLIKELY(done < 2)) return Outcome::kNotTried;  // a half that is done is found done again
  EpochFilter::add<kWrite>(*t.self, address, 0xff);
  EpochFilter::add<kWrite>(*t.self, address + 8, 0xff);
  return Outcome::kDone;
}

}  // namespace duress
