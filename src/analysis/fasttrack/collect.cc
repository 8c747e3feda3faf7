// SPDX-License-Identifier: Apache-2.0
//
// Collecting access records. A program that locks a million times a second makes millions of
// records, of which the cells mention few. When records exceed their budget all threads are kept out
// of the detector (not stopped: only out of its slow path), every cell is walked, and the records it
// mentions are copied together into new chunks; the rest is given back. Cost is proportional to the
// shadow in use, and the budget grows with both, so it is paid seldom.
//
// An access that every thread follows can be part of no race any more: whatever comes, comes after it. Its
// record is dropped, and it leaves the cell. Of a map behind locks that is nearly everything, so the records
// that stay are few however large the map is. A thread that waits for another one to end counts as if it knew
// what that one knows: the main thread of most programs, which otherwise knows nothing of what has happened
// since it began to wait. (Should a signal handler of the waiting thread access memory, its races with such
// accesses are not found.)
//
// Some read cells meanwhile without a lock. They only compare numbers with their own current epoch, whose
// chunk is never moved and never reused here, so they can not mistake a moved number for their own.
#include <string.h>

#include "analysis/fasttrack/fasttrack.h"
#include "base/check.h"

namespace duress {

/// Copies records that are still mentioned, each once. The old record then holds the number of the new one,
/// so that no table is needed: one of 4 bytes for each number took 3 MB, and a cache miss at each look. Made
/// at the first collection.
class FastTrack::Mover {
 public:
  Mover(AccessRecords& records, Arena& arena) : records_(records), known_(arena) {
    kept_ = static_cast<bool*>(map_memory(AccessRecords::kChunks));
    fresh_ = static_cast<bool*>(map_memory(AccessRecords::kChunks));
    if (!kept_ || !fresh_) fatal("out of memory while collecting access records");
  }
  /// Ready for the next collection. Cleared, not unmapped: giving pages back interrupts every processor.
  void reset() {
    u32 chunks = records_.chunk_limit();
    memset(kept_, 0, chunks);
    memset(fresh_, 0, chunks);
    memset(words_, 0, sizeof words_);
    next_ = end_ = 0;
    dropped_ = 0;
  }
  /// What all threads know.
  VectorClock& known() { return known_; }
  u64 dropped() const { return dropped_; }
  void release() {
    known_.~VectorClock();
    unmap_memory(kept_, AccessRecords::kChunks);
    unmap_memory(fresh_, AccessRecords::kChunks);
  }

  void keep_chunk_of(AccessId id) { kept_[id / AccessRecords::kChunk] = true; }

  /// A spilled word's `id` serves inline code only; if it is not of a current epoch it serves no one.
  u64 without_hint(Word w) const {
    if (!kept_[w.id / AccessRecords::kChunk]) {
      w.id = 0;
      w.rest = 0xff;
    }
    return w.encode();
  }

  /// To be called some cells ahead: the record of a number lies anywhere in some megabytes.
  void prefetch(u64 word) const {
    AccessId id = static_cast<AccessId>(word >> kIdShift);
    __builtin_prefetch(&records_.time(id));
  }

  /// The new number of an access; 0 if all threads follow it.
  AccessId operator()(AccessId id) {
    if (id == 0 || kept_[id / AccessRecords::kChunk]) return id;
    const AccessTime& time = records_.time(id);
    if (time.slot == kMoved) return time.clock;
    if (time.clock > known_.get(time.slot)) return move(id);
    ++dropped_;
    return 0;
  }
  Word operator()(Word w) {
    w.id = (*this)(w.id);
    w.old = (*this)(w.old);
    if (w.both && (!w.id || !w.old)) {  // one reader is left, or none
      w.id |= w.old;
      w.old = 0;
      w.both = false;
    }
    if (!w.id && !w.old) w.rest = 0;
    return w;
  }
  /// The same for a word that is not spilled. Neighbours often have the same one: an array, or memory that
  /// was freed as a whole.
  u64 word(u64 old) {
    Known& known = words_[(old >> kIdShift) % kKnownWords];
    if (known.old != old) known = {old, (*this)(Word::decode(old)).encode()};
    return known.now;
  }
  /// Its new number in any case.
  AccessId keep(AccessId id) {
    if (id == 0 || kept_[id / AccessRecords::kChunk]) return id;
    return records_.time(id).slot == kMoved ? records_.time(id).clock : move(id);
  }
  AccessId move(AccessId id) {
    if (next_ == end_) {
      next_ = records_.take_chunk(kNoSlot);
      if (!next_) fatal("more than 67 million access records are live", "track fewer variables at once");
      fresh_[next_ / AccessRecords::kChunk] = true;
      end_ = next_ + AccessRecords::kChunk;
    }
    records_.set(next_, records_[id]);
    records_.set(id, {{}, {next_, kMoved, {}}});
    return next_++;
  }

  void free_the_rest() {
    for (u32 chunk = 1; chunk < records_.chunk_limit(); ++chunk) {
      if (!kept_[chunk] && !fresh_[chunk] && records_.chunk_used(chunk)) records_.give_back(chunk);
    }
  }

 private:
  static constexpr Slot kMoved = kNoSlot;  // in a record: it was copied to the number in its clock

  struct Known {
    u64 old, now;
  };
  static constexpr u32 kKnownWords = 256;

  AccessRecords& records_;
  VectorClock known_;
  Known words_[kKnownWords] = {};
  u64 dropped_ = 0;
  bool* kept_;   // a thread's current chunk
  bool* fresh_;  // where records are copied to
  AccessId next_ = 0, end_ = 0;
};

FastTrack::~FastTrack() {
  if (mover_) mover_->release();
}

/// REQUIRES: collecting_ is set by the caller and threads_lock_ is held.
void FastTrack::wait_until_idle(const FastTrackThread* except) {
  barrier_all_threads();
  for (FastTrackThread* other = threads_; other; other = other->next_thread) {
    while (other != except && other->busy.load(std::memory_order_acquire)) yield_processor();
  }
}

void FastTrack::pause() {
  while (collecting_.exchange(1, std::memory_order_acq_rel)) wait_for_collection();
  threads_lock_.lock();
  wait_until_idle(nullptr);
}

void FastTrack::resume() {
  threads_lock_.unlock();
  end_collection();
}

/// A collection of a large heap takes as long as thousands of time slices: who waits for it sleeps.
void FastTrack::wait_for_collection() {
  while (collecting_.load(std::memory_order_acquire)) wait_while(collecting_, 1);
}

void FastTrack::end_collection() {
  collecting_.store(0, std::memory_order_release);
  wake_all(collecting_);
}

/// What every thread follows, and so will every thread that is created. REQUIRES: all threads are idle.
void FastTrack::known_to_all(VectorClock& known) {
  known.clear();
  if (starting_.load(std::memory_order_acquire)) return;  // somebody still knows less than its creator
  u32 slots = 0;
  for (FastTrackThread* t = threads_; t; t = t->next_thread) {
    if (t->clock.clock().size() > slots) slots = t->clock.clock().size();
    t->waits_for = nullptr;
    if (const FastTrackThread* target = t->joining.load(std::memory_order_acquire)) {
      for (const FastTrackThread* other = threads_; other; other = other->next_thread)
        if (other == target) t->waits_for = other;
    }
  }
  constexpr int kMostWaiting = 8;  // a waits for b, which waits for c
  for (u32 i = 0; i < slots; ++i) {
    const auto slot = static_cast<Slot>(i);
    Clock least = ~Clock{0};
    for (const FastTrackThread* t = threads_; t && least; t = t->next_thread) {
      Clock most = 0;
      const FastTrackThread* one = t;
      for (int step = 0; one && step < kMostWaiting; ++step, one = one->waits_for)
        if (one->clock.get(slot) > most) most = one->clock.get(slot);
      if (most < least) least = most;
    }
    known.set(slot, least);
  }
}

void FastTrack::collect_cell(Mover& mover, Cell* cell) {
  u64 w = cell->writes(), r = cell->reads();
  if (!(w | r)) return;
  Word writes = Word::decode(w), reads = Word::decode(r);
  if (!writes.spilled) {
    if (u64 now = mover.word(w); now != w) cell->set_writes(now);
  } else {
    for (AccessId& id : spills_.writes(writes.old).ids) id = mover(id);
    cell->set_writes(mover.without_hint(writes));
  }
  if (Word::is_paged(r)) return;  // in the pages
  if (!reads.spilled) {
    if (u64 now = mover.word(r); now != r) cell->set_reads(now);
    return;
  }
  ReadSet& set = spills_.reads(reads.old);
  for (u32 i = 0; i < set.count;) {
    set.ids()[i] = mover(set.ids()[i]);
    set.ids()[i] ? (void)++i : set.remove(i);
  }
  if (set.count) {
    cell->set_reads(mover.without_hint(reads));
  } else {
    spills_.free_reads(reads.old);
    cell->set_reads(0);
  }
}

void FastTrack::collect(FastTrackThread& t) {
  if (collecting_.exchange(1, std::memory_order_acq_rel))
    return wait_for_collection();  // somebody else does it
  SpinGuard guard(threads_lock_);
  wait_until_idle(&t);
  if (!mover_) mover_ = new (arena_.allocate(sizeof(Mover))) Mover(records_, arena_);
  Mover& mover = *mover_;
  mover.reset();
  known_to_all(mover.known());
  for (FastTrackThread* other = threads_; other; other = other->next_thread) {
    if (other->end) mover.keep_chunk_of(other->end - 1);
    if (other->allocations.end) mover.keep_chunk_of(other->allocations.end - 1);
  }
  shadow_.each_block([&](Cell* cell, Cell* end, uptr) {
    constexpr u32 kAhead = 8;
    for (; cell < end; ++cell) {
      if (end - cell > kAhead) {
        mover.prefetch(cell[kAhead].writes());
        mover.prefetch(cell[kAhead].reads());
      }
      collect_cell(mover, cell);
    }
  });
  shadow_.each_block_write([&](AccessId id) { return mover(id); });
  pages_.each_word([&](u64 word) { return mover(Word::decode(word)).encode(); });
  syncs_.each([&](SyncObject* object) {
    if (!object->history) return;
    for (AtomicHistory::Entry& e : *static_cast<AtomicHistory*>(object->history)) e.id = mover.keep(e.id);
  });
  mover.free_the_rest();
  live_chunks_ = records_.chunks_in_use();
  ++collections_;
  dropped_ += mover.dropped();
  end_collection();
}

}  // namespace duress
