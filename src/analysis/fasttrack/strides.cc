// SPDX-License-Identifier: Apache-2.0
//
// Loops over memory with gaps: a column of a matrix, a field of each object of an array, every second
// element. Where the gaps are regular a whole block of the filter is looked up at once, so what was accessed
// before in this epoch costs a comparison of 32 bytes for 256.
#include <optional>

#include "analysis/fasttrack/hot_path.h"

namespace duress {

template <bool kWrite>
class FastTrack::Strider {
 public:
  Strider(FastTrack& fasttrack, FastTrackThread& t, u32 size, Place place)
      : fasttrack_(fasttrack), t_(t), size_(size), place_(place), id_(fasttrack.number(t, place)) {}

  /// True if an access is part of a race.
  bool run(uptr address, u64 count, uptr step) {
    constexpr uptr kBytes = EpochFilter::kBlockBytes;
    const bool regular = step && step % kGranule == 0 && kBytes % step == 0 && in_one_cell(address);
    if (!regular || count < 2 * (kBytes / step)) {
      for (u64 i = 0; i < count; ++i) {
        const uptr at = address + i * step;
        if (!in_one_cell(at) || !EpochFilter::contains<kWrite>(*t_.self, at, mask(at))) one(at);
      }
    } else {
      const EpochFilter::Row row(address, step, mask(address));
      for (const uptr end = address + count * step; address != end;) {
        if (address % kBytes < step && end - address >= kBytes && ShadowMap::covers(address)) {
          if (EpochFilter::Block(*t_.self, address).add<kWrite>(row)) block(address, step);
          address += kBytes;
        } else {
          one(address);
          address += step;
        }
      }
    }
    let_go();
    return raced_;
  }

 private:
  bool in_one_cell(uptr at) const { return (at & 7) + size_ <= 8; }
  u8 mask(uptr at) const { return static_cast<u8>(((1u << size_) - 1) << (at & 7)); }

  __attribute__((noinline)) void one(uptr at) {
    if (DURESS_UNLIKELY(!in_one_cell(at) || !ShadowMap::covers(at))) return slow(at);
    if (!block_ || !block_->has(at)) block_.emplace(*t_.self, at);
    if (block_->add<kWrite>(at, mask(at))) access(fasttrack_.shadow_.cell(at), at, mask(at));
  }

  /// All accesses of a block, which the filter has just been told.
  void block(uptr at, uptr step) {
    Cell* cell = fasttrack_.shadow_.cell(at);
    const u8 bytes = mask(at);
    for (uptr done = 0; done < EpochFilter::kBlockBytes; done += step, cell += step / kGranule)
      access(cell, at + done, bytes);
    block_.reset();
  }

  void access(Cell* cell, uptr at, u8 bytes) {
    u64 w = cell->writes(), r = cell->reads();
    if (same_epoch(t_, kWrite ? w : r, bytes) ||
        (!kWrite && fasttrack_.shared_read_seen(t_, cell, at & ~uptr{7}, bytes))) {
      fasttrack_.lost(t_, 1);
      block_.reset();  // the filter may have grown
      return;
    }
    if (Line::of(cell) != held_) {
      let_go();
      fasttrack_.enter(t_);
      if (fasttrack_.collections_ != collections_) last_ = {};  // its numbers may have been moved
      collections_ = fasttrack_.collections_;
      held_ = Line::of(cell);
      held_->lock();
      w = cell->writes(), r = cell->reads();
    }
    if (!(w | r)) w = fasttrack_.shadow_.first_access(cell, at, ShadowMap::Next::kSweep);
    if (DURESS_UNLIKELY(!last_.is(w, r, bytes) &&
                        !fasttrack_.transition<kWrite>(t_, w, r, bytes, id_, last_)))
      return slow(at);
    last_.template apply<kWrite>(cell);
    ++(kWrite ? t_.rules.write_exclusive : t_.rules.read_exclusive);
  }

  __attribute__((noinline)) void slow(uptr at) {
    let_go();
    raced_ |= fasttrack_.access_slow(t_, at, size_, kWrite, place_);
    id_ = fasttrack_.number(t_, place_);  // the chunk of the other one may be full and gone
    last_ = {};
    block_.reset();
  }

  void let_go() {
    if (!held_) return;
    held_->unlock();
    fasttrack_.leave(t_);
    held_ = nullptr;
  }

  FastTrack& fasttrack_;
  FastTrackThread& t_;
  const u32 size_;
  const Place place_;
  AccessId id_;
  Transition last_;       // elements of one array mostly share their two words
  Line* held_ = nullptr;  // neighbours share a line
  std::optional<EpochFilter::Block> block_;
  u64 collections_ = 0;
  bool raced_ = false;
};

bool FastTrack::strided(FastTrackThread& t, uptr address, u64 count, i64 step, u32 size, bool write,
                        Place place) {
  if (DURESS_UNLIKELY(t.ignore || count == 0)) return false;
  if (step < 0) {  // the other way round: all are of one epoch
    address += (count - 1) * static_cast<uptr>(step);
    step = -step;
  }
  const uptr distance = static_cast<uptr>(step);
  return write ? Strider<true>(*this, t, size, place).run(address, count, distance)
               : Strider<false>(*this, t, size, place).run(address, count, distance);
}

}  // namespace duress
