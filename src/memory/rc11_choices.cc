// SPDX-License-Identifier: Apache-2.0
//
// What rc11 allows an operation to read, or to follow in modification order, and the choice among that.
#include "memory/rc11_event.h"

namespace duress::memory {

static bool writes(const Update* update, u128 old) {
  return update && update->apply(old).writes;
}

/// Whether the event may read store i, and come right after it if it writes. REQUIRES: i >= floor.
bool Rc11Model::allowed(const Event& event, u32 i, MemoryOrder order, bool writes) const {
  if (writes && i + 1 < event.location.count() && event.location[i + 1].update) return false;
  const ScOrder::After& after = event.after(i + 1);
  if (after.none()) return true;
  // What the event is coherence-ordered after precedes these already. So do fences that it learns of only by
  // what it reads: they happen before that store, or the head of its release sequence.
  if (is_seq_cst(order)) return order_.allows(event.fences | event.operations, true, after);
  return order_.allows(event.fences, event.settled_fence, after);
}

u32 Rc11Model::choose_read(const Event& event, MemoryOrder order, const Update* update, MemoryOrder failure,
                           Rc11Picker& picker) {
  AtomicLocation& location = event.location;
  Legal legal;
  u32 stores[AtomicLocation::kMostOffered];
  legal.address = location.address;
  legal.size = location.size;
  u32 newest = location.count() - 1;
  statistics_.remove_oldest += event.clipped;
  open_ = {0, 0, newest - event.floor, 0};
  for (u32 i = location.count(); i-- > event.floor;) {
    const AtomicStore& s = location[i];
    bool wrote = writes(update, s.value);
    MemoryOrder how = update && !wrote ? failure : order;
    if (!allowed(event, i, how, wrote)) {
      if (wrote && allowed(event, i, how, false)) open_.readable |= u64{1} << (newest - i);
      continue;
    }
    open_.legal |= u64{1} << (newest - i);
    stores[legal.count] = i;
    legal.values[legal.count++] = {s.value, s.site, static_cast<u16>(location.count() - 1 - i),
                                   location.was_read && location.last_read == s.value,
                                   is_seq_cst(how) && event.after(i + 1).nodes != 0};
  }
  u32 run = location.stale_runs.get(event.slot);
  u32 picked = 0;
  ++statistics_.reads;
  if (legal.count > 1) {
    ++statistics_.open_reads;
    if (options_.fair_after && run >= options_.fair_after) {
      ++statistics_.fair_reads;
    } else {
      picked = picker.read(legal);
      DURESS_CHECK(picked < legal.count);
    }
  }
  open_.readable |= open_.legal;
  open_.picked = newest - stores[picked];
  bool stale = stores[picked] + 1u < location.count();
  statistics_.stale_reads += stale;
  if (stale || run) location.stale_runs.set(event.slot, stale ? run + 1 : 0);
  return stores[picked];
}

/// The store that a new one comes after.
u32 Rc11Model::choose_place(const Event& event, MemoryOrder order, Rc11Picker& picker) {
  u32 stores[AtomicLocation::kMostOffered];
  u32 places = 0, forward = 0, newest = event.location.count() - 1;
  statistics_.remove_oldest += event.clipped;
  open_ = {0, 0, newest - event.floor, 0};
  for (u32 i = event.location.count(); i-- > event.floor;) {
    if (!allowed(event, i, order, true)) continue;
    open_.legal |= u64{1} << (newest - i);
    stores[places++] = i;
    if (!is_seq_cst(order) || event.after(i + 1).nodes == 0) forward = places;
  }
  u32 picked = places > 1 ? picker.place(places, forward) : 0;
  DURESS_CHECK(picked < places);
  open_.readable = open_.legal;
  open_.picked = newest - stores[picked];
  return stores[picked];
}

}  // namespace duress::memory
