// SPDX-License-Identifier: Apache-2.0
//
// Threads, their epochs and the access numbers they hand out (access_records.h). An epoch is opened at the
// first access after a synchronisation; a thread that has no number left takes a new chunk of them, which
// may start a collection (collect.cc).
#include "analysis/fasttrack/hot_path.h"
#include "base/check.h"

namespace duress {

void FastTrack::attach(FastTrackThread& t) {
  SpinGuard guard(threads_lock_);
  t.generation = &generation_;
  t.next_thread = threads_;
  threads_ = &t;
  attached_.fetch_add(1, std::memory_order_relaxed);
}

void FastTrack::detach(FastTrackThread& t) {
  filter_bytes_.fetch_sub(t.filter.bytes(), std::memory_order_relaxed);
  EpochFilter::close(*t.self);
  t.filter.release();
  SpinGuard guard(threads_lock_);
  ended_rules_.add(t.rules);
  for (FastTrackThread** link = &threads_; *link; link = &(*link)->next_thread) {
    if (*link == &t) {
      *link = t.next_thread;
      attached_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
  }
}

void FastTrack::after_fork(FastTrackThread& survivor) {
  new (&threads_lock_) SpinLock;
  records_.reset_lock();
  spills_.reset_lock();
  pages_.reset_lock();
  threads_ = &survivor;
  attached_.store(1, std::memory_order_relaxed);
  survivor.next_thread = nullptr;
  survivor.joining.store(nullptr, std::memory_order_relaxed);
  starting_.store(0, std::memory_order_relaxed);
  collecting_.store(0, std::memory_order_relaxed);
}

void FastTrack::enter_slow(FastTrackThread& t) {
  do {
    t.busy.store(false, std::memory_order_release);
    wait_for_collection();
    t.busy.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } while (collecting_.load(std::memory_order_relaxed));
}

/// Takes a new chunk after the one that ends at `end` (0: there was none), and returns its first number.
/// REQUIRES: not between enter() and leave().
AccessId FastTrack::next_chunk(FastTrackThread& t, AccessId& end) {
  if (end) records_.close_chunk(end - 1, t.epoch);
  if (records_.chunks_in_use() >= budget()) collect(t);
  // A collection keeps the chunks that threads name by their `end`. One between the two lines would give this
  // chunk back, and to somebody else.
  enter(t);
  AccessId first = records_.take_chunk(t.clock.slot());
  end = first + AccessRecords::kChunk;
  leave(t);
  if (!first) fatal("more than 67 million access records are live", "track fewer variables at once");
  return first;
}

void FastTrack::take_chunk(FastTrackThread& t) {
  t.low = t.next = next_chunk(t, t.end);
}

/// How many chunks of records may be in use before a collection: a quarter of what a collection walks, which
/// is the shadow and the atomics; and few enough to stay in the caches where that is small.
u32 FastTrack::budget() const {
  constexpr u64 kShadowPerBlock = u64{2} << ShadowMap::kBlockBits;
  u64 walked = shadow_.touched_blocks() * kShadowPerBlock + syncs_.objects() * sizeof(SyncObject);
  u64 share = walked / 4 / (AccessRecords::kChunk * sizeof(AccessRecord));
  u64 most = share > chunk_budget_ ? share : chunk_budget_;
  return static_cast<u32>(most > live_chunks_ * 2u ? most : live_chunks_ * 2u);
}

void FastTrack::open_epoch(FastTrackThread& t) {
  t.clock.tick_if_released();
  u32 generation = generation_.load(std::memory_order_relaxed);
  if (t.epoch != t.clock.own() || t.seen_generation != generation) {
    if (t.epoch != t.clock.own()) t.low = t.next;
    t.epoch = t.clock.own();
    t.seen_generation = generation;
    t.filter.new_epoch();
  }
  u64 before = t.filter.bytes();
  t.filter.open(*t.self);
  if (DURESS_UNLIKELY(!before)) filter_bytes_.fetch_add(t.filter.bytes(), std::memory_order_relaxed);
}

/// Accesses of this epoch were not in the filter any more. All filters together may be as large as a quarter
/// of the shadow; one that is not small, for no more memory than there is shadow of.
void FastTrack::lost(FastTrackThread& t, u64 count) {
  if (!t.filter.lost(count)) return;
  constexpr u64 kLeast = u64{16} << 20, kShadowPerBlock = u64{2} << ShadowMap::kBlockBits;
  constexpr u64 kSmall = u64{4} << 20;
  const u64 room = t.filter.memory_after_growth();
  if (room > kSmall && room > shadow_.touched_blocks() << ShadowMap::kBlockBits) return t.filter.stay();
  u64 most = shadow_.touched_blocks() * kShadowPerBlock / 4;
  u64 more = t.filter.growth();
  if (filter_bytes_.load(std::memory_order_relaxed) + more > (most > kLeast ? most : kLeast))
    return t.filter.stay();
  filter_bytes_.fetch_add(more, std::memory_order_relaxed);
  t.filter.grow(*t.self);
}

AccessId FastTrack::number(FastTrackThread& t, Place place) {
  if (DURESS_UNLIKELY(!EpochFilter::is_open(*t.self))) open_epoch(t);
  if (t.next == t.end) take_chunk(t);
  return number_in_chunk(t, place);
}

AccessId FastTrack::allocation_number(FastTrackThread& t, StackId stack) {
  if (DURESS_UNLIKELY(!EpochFilter::is_open(*t.self))) open_epoch(t);
  FastTrackThread::Allocations& own = t.allocations;
  FastTrackThread::Allocations::Known& known = own.known[raw(stack) % 8];
  // Numbers of earlier chunks may have been collected.
  bool in_chunk = own.end && known.id - (own.end - AccessRecords::kChunk) < AccessRecords::kChunk;
  if (in_chunk && known.stack == stack && known.epoch == t.epoch) return known.id;
  if (own.next == own.end) {
    own.next = next_chunk(t, own.end);
  }
  AccessId id = own.next++;
  records_.set(id, {{kAllocationSite, stack}, {t.epoch, t.clock.slot(), t.locks}});
  known = {stack, t.epoch, id};
  return id;
}

}  // namespace duress
