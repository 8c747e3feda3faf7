// SPDX-License-Identifier: Apache-2.0
//
// Which values a load of one piece may return.
//
// If one location holds the piece, these are its visible entries: nearly always so. If several do (a
// structure stored field by field and read as a whole), taking a visible entry of each would be legal for
// every byte, but could put together halves of two stores that were both wider, which a load within one word
// does not do. So the walk below goes back in time: at each moment when one of the locations was stored to,
// it takes what all of them held then, and that is legal if each of these entries is visible. An entry that
// held then may have been removed; then that moment is left out, which loses a behaviour and invents none.
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

/// Fills a `Legal`, each value once. A history of 32 entries has 500 pairs of values to compare (45 % of
/// bench/classify's lufact); most comparisons are saved by a few bits of each value.
class Values {
 public:
  Values(Legal& legal, const Word& word, Extent piece) : legal_(legal) {
    auto offset = static_cast<u32>(piece.begin - word.base), size = static_cast<u32>(piece.size());
    last_ = bytes_of(word.last_read, offset, size);
    u32 all = (u32{1} << size) - 1, read = word.read_bytes >> offset & all;
    if (read == all) read_ = bytes_of(~u128{0}, 0, size);
    for (u32 i = 0; read != all && i < size; ++i) {
      if (read >> i & 1) read_ |= u128{0xff} << 8 * i;
    }
  }

  void add(u128 value, SiteId site, u16 age) {
    u64 hash = (static_cast<u64>(value) ^ static_cast<u64>(value >> 64)) * 0x9e3779b97f4a7c15u >> 56;
    u64 bit = u64{1} << hash % 64;
    if (seen_[hash / 64] & bit) {
      for (u32 i = 0; i < legal_.count; ++i) {
        if (legal_.values[i].value == value) {
          legal_.values[i].age = age;
          return;
        }
      }
    }
    // Only a piece of several locations can have more; leaving out the oldest is as sound as [REMOVE OLDEST].
    if (legal_.count == Legal::kMost) return;
    seen_[hash / 64] |= bit;
    // All bytes of the piece that were read before are the same, and there are any.
    bool same_as_last = read_ && ((value ^ last_) & read_) == 0;
    legal_.values[legal_.count++] = {value, site, age, same_as_last, false};
  }

 private:
  Legal& legal_;
  u128 last_, read_ = 0;
  u64 seen_[4] = {};
};

/// The history that holds all of the piece, or null.
const StoreHistory* holder(const Word& word, Extent piece) {
  for (const Location* l = word.first; l; l = l->next) {
    if (l->history.begin() <= piece.begin && piece.end <= l->history.end()) return &l->history;
  }
  return nullptr;
}

/// The visible entries of the one location that holds the piece.
void add_visible(Values& values, const StoreHistory& history, Extent piece, u32 visible) {
  auto offset = static_cast<u32>(piece.begin - history.begin()), size = static_cast<u32>(piece.size());
  u32 newest = history.count() - 1;
  bool whole = size == history.size();
  while (visible) {
    u32 i = 31 - static_cast<u32>(__builtin_clz(visible));
    visible &= ~(u32{1} << i);
    const StoreHistory::Entry& entry = history.entry(i);
    values.add(whole ? entry.value : bytes_of(entry.value, offset, size), entry.site,
               static_cast<u16>(newest - i));
  }
}

}  // namespace

Word* LocationTable::legal_values(const Viewer& who, Extent piece, Tracking tracking, const u8* memory,
                                  Legal& legal) {
  legal.address = piece.begin;
  legal.size = static_cast<u32>(piece.size());
  legal.count = 0;
  u128 newest = gather(memory, piece.size());
  Word* word = find(piece.begin & ~uptr{options_.tear - 1});
  const StoreHistory* only = word ? holder(*word, piece) : nullptr;
  if (!only ||
      bytes_of(only->newest().value, static_cast<u32>(piece.begin - only->begin()), legal.size) != newest) {
    bool began = false;
    word = settle(piece, tracking, memory, &began);
    statistics_.instances += began;
    if (!word) {
      legal.values[legal.count++] = {newest, SiteId{0}, 0, false, false};
      return nullptr;
    }
    only = holder(*word, piece);
  }
  u32 visible = only ? only->visible(who.clock) : 0;
  if (visible &&
      (visible & (visible - 1)) == 0) {  // nothing to choose from, so nobody asks what was read last
    legal.values[legal.count++] = {newest, only->newest().site, 0, false, false};
    return word;
  }
  Values values(legal, *word, piece);
  if (only) {
    add_visible(values, *only, piece, visible);
    DURESS_CHECK(legal.values[0].value == newest);
    return word;
  }
  Walk walk(who.clock, *word, piece);
  if (!walk.complete()) {  // old bytes beside ones whose past is unknown might never have been together
    values.add(newest, SiteId{0}, 0);
    return word;
  }
  DURESS_CHECK(walk.legal() && walk.value() == newest);
  u16 age = 0;
  do {
    if (walk.legal()) values.add(walk.value(), walk.site(), age);
    ++age;
  } while (walk.back());
  return word;
}

void LocationTable::note_read(Word& word, Extent piece, u128 value) {
  auto offset = static_cast<u32>(piece.begin - word.base), size = static_cast<u32>(piece.size());
  u128 bytes = bytes_of(~u128{0}, 0, size) << 8 * offset;
  word.last_read = (word.last_read & ~bytes) | value << 8 * offset;
  word.read_bytes |= ((u32{1} << size) - 1) << offset;
}

}  // namespace duress::memory
