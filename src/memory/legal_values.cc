// SPDX-License-Identifier: Apache-2.0
//
// Which values a load of one piece may return.
//
// If one location holds the piece, these are its visible entries. If several do (a structure stored field by
// field and read as a whole), taking a visible entry of each would be legal for every byte, but could put
// together halves of two stores that were both wider, which a load within one word does not do. So the walk
// below goes back in time: at each moment when one of the locations was stored to, it takes what all of them
// held then, and that is legal if each of these entries is visible. An entry that held then may have been
// removed; then that moment is left out, which loses a behaviour and invents none.
#include "memory/location_table.h"

namespace duress::memory {
namespace {

/// The locations of a piece, each at one of its entries.
class Walk {
 public:
  Walk(const VectorClock& clock, const Word& word, Extent piece) : piece_(piece) {
    u64 covered = 0;
    for (const Location* l = word.first; l; l = l->next) {
      const StoreHistory& h = l->history;
      uptr begin = h.begin() > piece.begin ? h.begin() : piece.begin;
      uptr end = h.end() < piece.end ? h.end() : piece.end;
      if (begin >= end) continue;
      parts_[count_++] = {&h, h.visible(clock), h.count() - 1, begin, static_cast<u32>(end - begin)};
      covered += end - begin;
    }
    complete_ = covered == piece.size();
    find_moment();
  }

  /// True if every byte of the piece is in a location.
  bool complete() const { return complete_; }

  /// True if all that was there at this moment is known and visible.
  bool legal() const {
    for (u32 k = 0; k < count_; ++k) {
      const Part& p = parts_[k];
      if (!(p.visible >> p.at & 1) || p.history->entry(p.at).until <= moment_) return false;
    }
    return true;
  }

  u128 value() const {
    u128 value = 0;
    for (u32 k = 0; k < count_; ++k) {
      const Part& p = parts_[k];
      u32 offset = static_cast<u32>(p.begin - p.history->begin());
      value |= bytes_of(p.history->entry(p.at).value, offset, p.size) << 8 * (p.begin - piece_.begin);
    }
    return value;
  }

  /// Of the store that made this moment.
  SiteId site() const {
    for (u32 k = 0; k < count_; ++k) {
      const StoreHistory::Entry& e = parts_[k].history->entry(parts_[k].at);
      if (e.from == moment_) return e.site;
    }
    return SiteId{0};
  }

  /// Goes back to the moment before. False: some location's history begins at this one.
  bool back() {
    for (u32 k = 0; k < count_; ++k) {
      Part& p = parts_[k];
      if (p.history->entry(p.at).from != moment_) continue;
      if (p.at == 0) return false;
      --p.at;
    }
    find_moment();
    return true;
  }

 private:
  struct Part {
    const StoreHistory* history;
    u32 visible;
    u32 at;
    uptr begin;
    u32 size;
  };

  void find_moment() {
    moment_ = 0;
    for (u32 k = 0; k < count_; ++k) {
      u64 from = parts_[k].history->entry(parts_[k].at).from;
      if (from > moment_) moment_ = from;
    }
  }

  Extent piece_;
  Part parts_[StoreHistory::kMostBytes];
  u32 count_ = 0;
  u64 moment_ = 0;
  bool complete_;
};

/// If all bytes of the piece that were read before are the same in `value`, and there are any.
bool same_as_last(const Word& word, Extent piece, u128 value) {
  bool any = false;
  for (uptr at = piece.begin; at < piece.end; ++at, value >>= 8) {
    u32 i = static_cast<u32>(at - word.base);
    if (!(word.read_bytes >> i & 1)) continue;
    if (static_cast<u8>(word.last_read >> 8 * i) != static_cast<u8>(value)) return false;
    any = true;
  }
  return any;
}

void add(Legal& legal, const Word& word, Extent piece, u128 value, SiteId site, u16 age) {
  for (u32 i = 0; i < legal.count; ++i) {
    if (legal.values[i].value == value) {
      legal.values[i].age = age;
      return;
    }
  }
  // Only a piece of several locations can have more; leaving out the oldest is as sound as [REMOVE OLDEST].
  if (legal.count == Legal::kMost) return;
  legal.values[legal.count++] = {value, site, age, same_as_last(word, piece, value)};
}

}  // namespace

Word* LocationTable::legal_values(const Viewer& who, Extent piece, Tracking tracking, const u8* memory,
                                  Legal& legal) {
  legal.address = piece.begin;
  legal.size = static_cast<u32>(piece.size());
  legal.count = 0;
  u128 newest = 0;
  __builtin_memcpy(&newest, memory, piece.size());
  bool began = false;
  Word* word = settle(piece, tracking, memory, &began);
  statistics_.instances += began;
  if (!word) {
    legal.values[legal.count++] = {newest, SiteId{0}, 0, false};
    return nullptr;
  }
  Walk walk(who.clock, *word, piece);
  if (!walk.complete()) {  // old bytes beside ones whose past is unknown might never have been together
    add(legal, *word, piece, newest, SiteId{0}, 0);
    return word;
  }
  DURESS_CHECK(walk.legal() && walk.value() == newest);
  u16 age = 0;
  do {
    if (walk.legal()) add(legal, *word, piece, walk.value(), walk.site(), age);
    ++age;
  } while (walk.back());
  return word;
}

void LocationTable::note_read(Word& word, Extent piece, u128 value) {
  for (uptr at = piece.begin; at < piece.end; ++at, value >>= 8) {
    u32 shift = static_cast<u32>(at - word.base);
    word.last_read &= ~(u128{0xff} << 8 * shift);
    word.last_read |= u128{static_cast<u8>(value)} << 8 * shift;
    word.read_bytes |= u32{1} << shift;
  }
}

}  // namespace duress::memory
