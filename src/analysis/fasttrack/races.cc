// SPDX-License-Identifier: Apache-2.0
//
// Finding races: is each earlier access that a cell names ordered before the current one? Those that are not
// are collected in `Found` and reported when no lock is held.
#include "analysis/fasttrack/found.h"
#include "analysis/fasttrack/hot_path.h"

namespace duress {

void FastTrack::check(const FastTrackThread& t, AccessId id, u8 bytes, AccessKind kind, uptr granule,
                      Found& found) {
  if (!bytes || !id || DURESS_LIKELY(ordered(t, id))) return;
  AccessRecord record = records_[id];
  if (record.place.site == kFreeSite) kind = AccessKind::kFree;
  found.add(record, kind, granule, bytes);
}

void FastTrack::check_writes(const FastTrackThread& t, Word w, u8 mask, uptr granule, Found& found) {
  if (DURESS_LIKELY(!w.spilled)) {
    check(t, w.id, mask & static_cast<u8>(~w.rest), AccessKind::kWrite, granule, found);
    check(t, w.old, mask & w.rest, AccessKind::kWrite, granule, found);
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
    check(t, spill.ids[byte], same, AccessKind::kWrite, granule, found);
  }
}

void FastTrack::check_reads(const FastTrackThread& t, u64 reads, u8 mask, uptr granule, Found& found) {
  auto check_word = [&](const Word& r) {
    check(t, r.id, mask & static_cast<u8>(~r.rest), AccessKind::kRead, granule, found);
    check(t, r.old, mask & r.rest, AccessKind::kRead, granule, found);
  };
  if (Word::is_paged(reads)) {
    pages_.each(granule, [&](u64 word) {
      if (word) check_word(Word::decode(word));
    });
    return;
  }
  Word r = Word::decode(reads);
  if (r.both) {
    mask &= static_cast<u8>(~r.rest);
    check(t, r.id, mask, AccessKind::kRead, granule, found);
    check(t, r.old, mask, AccessKind::kRead, granule, found);
    return;
  }
  if (DURESS_LIKELY(!r.spilled)) return check_word(r);
  ReadSet& set = spills_.reads(r.old);
  for (u32 i = 0; i < set.count; ++i) {
    check(t, set.ids()[i], mask & set.masks()[i], AccessKind::kRead, granule, found);
  }
}

/// A plain access to some bytes of a granule, against the atomics that overlap them.
void FastTrack::check_atomics(const FastTrackThread& t, uptr granule, u8 mask, bool write, Found& found) {
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

}  // namespace duress
