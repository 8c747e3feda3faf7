// SPDX-License-Identifier: Apache-2.0
//
// The operations of rc11: each chooses (rc11_choices.cc), takes its place in order S and in modification
// order, and moves the clock of its thread.
#include "memory/rc11_event.h"

namespace duress::memory {

/// The event reads store i, or comes after it: what that says about S. Marks store i, or the one that the
/// event has just made after it.
void Rc11Model::enter_order(Event& event, u32 i, MemoryOrder order, bool writes) {
  ScOrder::Nodes fences = event.fences, node = 0;
  ScOrder::Nodes met = event.met(i, writes), after = event.after(i + 1).nodes;
  if (is_seq_cst(order)) {
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
    if (is_seq_cst(order)) order_.make_room();
    Event event(order_, who, *location);
    result = read(event, choose_read(event, order, nullptr, order, picker), order);
  } else {
    open_ = {};
    who.atomic_load(object.released, order);
    order_.settle_all();
  }
  if (is_seq_cst(order)) who.next_epoch();
  return result;
}

Rc11Model::Written Rc11Model::store(ThreadClock& who, const Object& object, MemoryOrder order, u128 memory,
                                    u128 value, Rc11Picker& picker) {
  who.tick_if_released();
  Written result = {0, 0, true};
  if (AtomicLocation* location = find(object, memory)) {
    make_space(*location);
    if (is_seq_cst(order)) order_.make_room();
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
  if (is_seq_cst(order)) who.next_epoch();
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
    if (is_seq_cst(change.writes ? success : failure)) who.next_epoch();
    result.wrote = change.writes;
    result.value = change.value;
    return result;
  }
  make_space(*location);
  if (is_seq_cst(success) || is_seq_cst(failure)) order_.make_room();
  Event event(order_, who, *location);
  u32 i = choose_read(event, success, &update, failure, picker);
  Update::Change change = update.apply((*location)[i].value);
  if (!change.writes) {
    result.read = read(event, i, failure);
    update.performed(false);
    if (is_seq_cst(failure)) who.next_epoch();
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
  if (is_seq_cst(success)) who.next_epoch();
  return result;
}

void Rc11Model::fence(ThreadClock& who, MemoryOrder order) {
  who.tick_if_released();
  Clock epoch = who.own();
  who.fence(order);
  if (!is_seq_cst(order)) return;
  order_.make_room();
  const VectorClock& clock = who.clock();
  order_.add_fence(
      who.slot(), epoch, clock,
      order_.fences_known_to(clock) | order_.operations_before(clock) | order_.met_before(clock));
  who.next_epoch();
}

}  // namespace duress::memory
