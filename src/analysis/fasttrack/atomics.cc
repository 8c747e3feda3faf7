// SPDX-License-Identifier: Apache-2.0
//
// Accesses to atomics, and the mark in a cell that synchronisation objects live in its bytes.
#include "analysis/fasttrack/found.h"
#include "analysis/fasttrack/hot_path.h"

namespace duress {

void FastTrack::begin_atomic(FastTrackThread& t) {
  if (DURESS_UNLIKELY(t.next == t.end)) take_chunk(t);
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
    if (!(w | r)) w = shadow_.first_access(cell, granule, ShadowMap::Next::kAny);
    check_writes(t, Word::decode(w), mask, granule, found);
    cell->set_writes(w | Word::kSyncBit);
    if (Word::is_paged(r)) std::atomic_thread_fence(std::memory_order_seq_cst);  // as in read_paged()
    if (write) check_reads(t, r, mask, granule, found);
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
    if (!(cell->writes() | cell->reads())) shadow_.first_access(cell, address, ShadowMap::Next::kAny);
    cell->set_writes(cell->writes() | Word::kSyncBit);
  }
  leave(t);
}

}  // namespace duress
