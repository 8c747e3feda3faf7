// SPDX-License-Identifier: Apache-2.0
//
// How an event of order S or of modification order is judged. Let e be the event, reading or following store
// i. What e is coherence-ordered after are the stores up to i and the readers of those before i (of all up to
// i, if e writes); what it is coherence-ordered before are the stores after i and their readers. S wants the
// nodes of the former, those that happen before e among them fences, and e itself, in that order before the
// nodes of the latter. In docs/models/rc11.md this is worked out.
#include "memory/rc11_model.h"

namespace duress::memory {

/// An operation about to be performed, and what order S says about each store that it could read or follow.
struct Rc11Model::Event {
  Event(const ScOrder& order, ThreadClock& thread, AtomicLocation& where)
      : who(thread), slot(thread.slot()), epoch(thread.own()), location(where) {
    u32 count = location.count();
    const VectorClock& clock = who.clock();
    floor = location.floor(clock);
    if (order.empty()) return;  // no seq_cst anywhere: all sets stay empty
    fences = order.fences_known_to(clock);
    settled_fence = order.settled_fence_known_to(clock);
    operations = order.operations_before(clock);
    before[0] = order.look(location.preceding_all);
    for (u32 i = 0; i < count; ++i) {
      AtomicStore& s = location[i];
      reading[i] = before[i] | order.look(s.preceding);
      before[i + 1] = reading[i] | order.look(s.by_readers);
    }
    for (u32 i = count; i-- > floor + 1;) {
      AtomicStore& s = location[i];
      after[i] = after[i + 1];
      after[i].nodes |= order.look(s.following);
      after[i].settled |= s.following.settled;
      order.add_fences_after(s.slot, s.epoch, after[i]);
      for (u32 k = 0; k < s.readers.size(); ++k) {
        if (Clock first = s.readers.data()[k]) order.add_fences_after(static_cast<Slot>(k), first, after[i]);
      }
    }
  }

  /// What precedes the event in S by what it reads or follows.
  ScOrder::Nodes met(u32 i, bool writes) const { return writes ? before[i + 1] : reading[i]; }

  ThreadClock& who;
  Slot slot;
  Clock epoch;
  AtomicLocation& location;
  u32 floor;
  ScOrder::Nodes fences = 0;      // that happen before it
  bool settled_fence = false;     // and settled ones
  ScOrder::Nodes operations = 0;  // that precede it if it is seq_cst
  static constexpr u32 kMost = AtomicLocation::kMostStores;
  ScOrder::Nodes before[kMost + 1] = {};  // [i]: preceding whatever follows store i-1
  ScOrder::Nodes reading[kMost] = {};     // [i]: preceding whatever reads store i
  ScOrder::After after[kMost + 2] = {};   // [i]: following whatever comes before store i. From floor + 1 on
};

namespace {

bool sc(MemoryOrder order) {
  return order == MemoryOrder::kSeqCst;
}

bool writes(const Update* update, u128 old) {
  return update && update->apply(old).writes;
}

}  // namespace

Rc11Model::Rc11Model(Arena& arena, ClockSource& threads, Options options)
    : arena_(arena), threads_(threads), options_(options), order_(arena) {
  buckets_ = static_cast<AtomicLocation**>(arena_.allocate(options_.buckets * sizeof *buckets_));
  for (u32 i = 0; i < options_.buckets; ++i) buckets_[i] = nullptr;
}

Rc11Model::~Rc11Model() {
  remove({0, ~uptr{0}});
  arena_.free(buckets_, options_.buckets * sizeof *buckets_);
}

// ---- locations ------------------------------------------------------------------------------------------

u32 Rc11Model::remove(Extent extent) {
  u32 removed = 0;
  // A location lies in 16 aligned bytes. Of a large extent every bucket is looked at, once.
  u64 blocks = ((extent.end - 1) >> 4) - (extent.begin >> 4) + 1;
  for (u64 i = 0; i < blocks && i < options_.buckets; ++i) {
    AtomicLocation** link = &bucket(extent.begin + (i << 4));
    while (AtomicLocation* location = *link) {
      if (location->address >= extent.end || location->address + location->size <= extent.begin) {
        link = &location->next;
        continue;
      }
      *link = location->next;
      location->~AtomicLocation();
      arena_.free(location, sizeof *location);
      --locations_;
      ++removed;
    }
  }
  return removed;
}

void Rc11Model::forget(Extent extent) {
  if (locations_ && extent.begin < extent.end) remove(extent);
}

void Rc11Model::drop(Extent extent) {
  statistics_.dropped += remove(extent);
  order_.settle_all();
}

/// The history of an object; begins with what memory holds. Null: there is no room for it.
AtomicLocation* Rc11Model::find(const Object& object, u128 memory) {
  uptr end = object.address + object.size;
  bool others = false;
  for (AtomicLocation* l = bucket(object.address); l; l = l->next) {
    if (l->address == object.address && l->size == object.size) {
      if (l->newest().value == memory) return l;
      ++statistics_.unseen;
      others = true;
    }
    others |= l->address < end && object.address < l->address + l->size;
  }
  if (others) drop({object.address, end});
  if (locations_ >= options_.most_locations) {
    ++statistics_.dropped;
    return nullptr;
  }
  ++locations_;
  auto* made = arena_.make<AtomicLocation>(arena_, object.address, object.size);
  AtomicLocation*& first = bucket(object.address);
  made->next = first;
  first = made;
  made->insert(0, memory, next_id_++).released.copy_from(arena_, object.released);
  return made;
}

void Rc11Model::remove_oldest(AtomicLocation& location) {
  order_.add(location.preceding_all,
             order_.look(location[0].preceding) | order_.look(location[0].by_readers));
  location.remove_first();
}

/// Room for one more store. Stores that no thread can read any more, now or later, go first.
void Rc11Model::make_space(AtomicLocation& location) {
  if (location.count() < location.collect_at) return;
  u32 unread = location.count(), cursor = 0;
  while (const VectorClock* clock = threads_.next(&cursor)) {
    u32 floor = location.floor(*clock);
    unread = floor < unread ? floor : unread;
  }
  if (unread == location.count()) unread = 0;  // no threads: nothing is known
  for (u32 i = 0; i < unread; ++i) remove_oldest(location);
  if (location.count() == AtomicLocation::kMostStores) {
    remove_oldest(location);
    ++statistics_.remove_oldest;
  }
  u32 twice = location.count() * 2;
  location.collect_at = twice < 8                             ? 8
                        : twice > AtomicLocation::kMostStores ? AtomicLocation::kMostStores
                                                              : twice;
}

// ---- what is allowed ------------------------------------------------------------------------------------

/// Whether the event may read store i, and come right after it if it writes. REQUIRES: i >= floor.
bool Rc11Model::allowed(const Event& event, u32 i, MemoryOrder order, bool writes) const {
  if (writes && i + 1 < event.location.count() && event.location[i + 1].update) return false;
  const ScOrder::After& after = event.after[i + 1];
  if (after.none()) return true;
  // What the event is coherence-ordered after precedes these already. So do fences that it learns of only by
  // what it reads: they happen before that store, or the head of its release sequence.
  if (sc(order)) return order_.allows(event.fences | event.operations, true, after);
  return order_.allows(event.fences, event.settled_fence, after);
}

u32 Rc11Model::choose_read(const Event& event, MemoryOrder order, const Update* update, MemoryOrder failure,
                           Rc11Picker& picker) {
  AtomicLocation& location = event.location;
  Legal legal;
  u8 stores[AtomicLocation::kMostStores];
  legal.address = location.address;
  legal.size = location.size;
  u32 newest = location.count() - 1;
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
    stores[legal.count] = static_cast<u8>(i);
    legal.values[legal.count++] = {s.value, s.site, static_cast<u16>(location.count() - 1 - i),
                                   location.was_read && location.last_read == s.value,
                                   sc(how) && event.after[i + 1].nodes != 0};
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
  u8 stores[AtomicLocation::kMostStores];
  u32 places = 0, forward = 0, newest = event.location.count() - 1;
  open_ = {0, 0, newest - event.floor, 0};
  for (u32 i = event.location.count(); i-- > event.floor;) {
    if (!allowed(event, i, order, true)) continue;
    open_.legal |= u64{1} << (newest - i);
    stores[places++] = static_cast<u8>(i);
    if (!sc(order) || event.after[i + 1].nodes == 0) forward = places;
  }
  u32 picked = places > 1 ? picker.place(places, forward) : 0;
  DURESS_CHECK(picked < places);
  open_.readable = open_.legal;
  open_.picked = newest - stores[picked];
  return stores[picked];
}

// ---- what happens ---------------------------------------------------------------------------------------

/// The event reads store i, or comes after it: what that says about S. Marks store i, or the one that the
/// event has just made after it.
void Rc11Model::enter_order(Event& event, u32 i, MemoryOrder order, bool writes) {
  ScOrder::Nodes fences = event.fences, node = 0;
  ScOrder::Nodes met = event.met(i, writes), after = event.after[i + 1].nodes;
  if (sc(order)) {
    node = order_.add_operation(event.slot, event.epoch, fences | event.operations | met, after);
  } else {
    order_.connect(fences, after);
  }
  order_.met(met, event.slot, event.epoch);
  // What was stored later in modification order, and who read that, has met the event.
  u32 later = writes ? i + 2 : i + 1;
  for (u32 k = later; (node | fences) && k < event.location.count(); ++k) {
    const AtomicStore& s = event.location[k];
    order_.met(node | fences, s.slot, s.epoch);
    for (u32 r = 0; r < s.readers.size(); ++r) {
      if (Clock first = s.readers.data()[r]) order_.met(node | fences, static_cast<Slot>(r), first);
    }
  }
  AtomicStore& marked = event.location[writes ? i + 1 : i];
  if (node | fences) order_.add(writes ? marked.preceding : marked.by_readers, node | fences);
  if (node) order_.add(marked.following, node);
}

Rc11Model::Read Rc11Model::seen(const Event& event, u32 i) {
  const AtomicStore& s = event.location[i];
  event.location.last_read = s.value;
  event.location.was_read = true;
  return {s.value, s.id, s.site, i + 1 < event.location.count()};
}

Rc11Model::Read Rc11Model::read(Event& event, u32 i, MemoryOrder order) {
  AtomicStore& s = event.location[i];
  enter_order(event, i, order, false);
  if (!s.readers.get(event.slot)) s.readers.set(event.slot, event.epoch);
  event.who.atomic_load(s.released, order);
  return seen(event, i);
}

/// Makes the store after store `after`; what it releases is the caller's business.
AtomicStore& Rc11Model::write(Event& event, u32 after, MemoryOrder order, u128 value, const Object& object) {
  AtomicStore& s = event.location.insert(after + 1, value, next_id_++);
  s.slot = event.slot;
  s.epoch = event.epoch;
  s.site = object.site;
  enter_order(event, after, order, true);
  ++statistics_.writes;
  statistics_.early_writes += after + 2 < event.location.count();
  return s;
}

Rc11Model::Read Rc11Model::load(ThreadClock& who, const Object& object, MemoryOrder order, u128 memory,
                                Rc11Picker& picker) {
  who.tick_if_released();
  Read result = {memory, 0, SiteId{0}, false};
  if (AtomicLocation* location = find(object, memory)) {
    if (sc(order)) order_.make_room();
    Event event(order_, who, *location);
    result = read(event, choose_read(event, order, nullptr, order, picker), order);
  } else {
    open_ = {};
    who.atomic_load(object.released, order);
    order_.settle_all();
  }
  if (sc(order)) who.next_epoch();
  return result;
}

Rc11Model::Written Rc11Model::store(ThreadClock& who, const Object& object, MemoryOrder order, u128 memory,
                                    u128 value, Rc11Picker& picker) {
  who.tick_if_released();
  Written result = {0, 0, true};
  if (AtomicLocation* location = find(object, memory)) {
    make_space(*location);
    if (sc(order)) order_.make_room();
    Event event(order_, who, *location);
    u32 after = choose_place(event, order, picker);
    AtomicStore& s = write(event, after, order, value, object);
    who.atomic_store(s.released, order);
    result = {s.id, (*location)[after].id, after + 2 == location->count()};
    if (result.newest) object.released.copy_from(arena_, s.released);
  } else {
    open_ = {};
    who.atomic_store(object.released, order);
    order_.settle_all();
  }
  if (sc(order)) who.next_epoch();
  return result;
}

Rc11Model::Updated Rc11Model::update(ThreadClock& who, const Object& object, MemoryOrder success,
                                     MemoryOrder failure, u128 memory, Update& update, Rc11Picker& picker) {
  who.tick_if_released();
  Updated result = {{memory, 0, SiteId{0}, false}, false, 0, {0, 0, true}};
  AtomicLocation* location = find(object, memory);
  if (!location) {
    open_ = {};
    Update::Change change = update.apply(memory);
    who.atomic_load(object.released, change.writes ? success : failure);
    update.performed(change.writes);
    if (change.writes) who.atomic_rmw(object.released, success);
    order_.settle_all();
    if (sc(change.writes ? success : failure)) who.next_epoch();
    result.wrote = change.writes;
    result.value = change.value;
    return result;
  }
  make_space(*location);
  if (sc(success) || sc(failure)) order_.make_room();
  Event event(order_, who, *location);
  u32 i = choose_read(event, success, &update, failure, picker);
  Update::Change change = update.apply((*location)[i].value);
  if (!change.writes) {
    result.read = read(event, i, failure);
    update.performed(false);
    if (sc(failure)) who.next_epoch();
    return result;
  }
  result.read = seen(event, i);
  result.wrote = true;
  result.value = change.value;
  AtomicStore& s = write(event, i, success, change.value, object);
  s.update = true;
  s.released.copy_from(arena_, (*location)[i].released);
  who.atomic_load(s.released, success);
  update.performed(true);
  who.atomic_rmw(s.released, success);
  result.written = {s.id, (*location)[i].id, i + 2 == location->count()};
  if (result.written.newest) object.released.copy_from(arena_, s.released);
  if (sc(success)) who.next_epoch();
  return result;
}

void Rc11Model::fence(ThreadClock& who, MemoryOrder order) {
  who.tick_if_released();
  Clock epoch = who.own();
  who.fence(order);
  if (!sc(order)) return;
  order_.make_room();
  const VectorClock& clock = who.clock();
  order_.add_fence(
      who.slot(), epoch, clock,
      order_.fences_known_to(clock) | order_.operations_before(clock) | order_.met_before(clock));
  who.next_epoch();
}

}  // namespace duress::memory
