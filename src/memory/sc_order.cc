// SPDX-License-Identifier: Apache-2.0
#include "memory/sc_order.h"

#include "base/check.h"

namespace duress::memory {
namespace {

constexpr ScOrder::Nodes bit(u32 index) {
  return ScOrder::Nodes{1} << index;
}

/// Calls body(index) for each node.
template <typename Body>
void each(ScOrder::Nodes nodes, Body body) {
  for (; nodes; nodes &= nodes - 1) body(static_cast<u32>(__builtin_ctzll(nodes)));
}

}  // namespace

ScOrder::ScOrder(Arena& arena) : arena_(arena), settled_known_(arena), first_settled_fences_(arena) {}

ScOrder::~ScOrder() {
  for (Node& node : nodes_) {
    for (VectorClock* clock : {node.known, node.met}) {
      if (!clock) continue;
      clock->~VectorClock();
      arena_.free(clock, sizeof *clock);
    }
  }
}

void ScOrder::refresh(Kept& kept) const {
  Nodes gone = 0;
  each(kept.nodes, [&](u32 i) { gone |= nodes_[i].settled_at > kept.time ? bit(i) : 0; });
  kept.nodes &= ~gone;
  kept.settled |= gone != 0;
  kept.time = time_;
}

ScOrder::Nodes ScOrder::fences_known_to(const VectorClock& clock) const {
  Nodes found = 0;
  each(fences_, [&](u32 i) { found |= clock.get(nodes_[i].slot) >= nodes_[i].epoch ? bit(i) : 0; });
  return found;
}

bool ScOrder::settled_fence_known_to(const VectorClock& clock) const {
  for (u32 i = 0; i < first_settled_fences_.size(); ++i) {
    Clock first = first_settled_fences_.data()[i];
    if (first && clock.get(static_cast<Slot>(i)) >= first) return true;
  }
  return false;
}

ScOrder::Nodes ScOrder::operations_before(const VectorClock& clock) const {
  Nodes found = 0;
  each(live_ & ~fences_, [&](u32 i) { found |= clock.get(nodes_[i].slot) > nodes_[i].epoch ? bit(i) : 0; });
  return found;
}

ScOrder::Nodes ScOrder::met_before(const VectorClock& clock) const {
  Nodes found = 0;
  each(live_, [&](u32 i) {
    const VectorClock* met = nodes_[i].met;
    for (u32 s = 0; met && s < met->size(); ++s) {
      Clock first = met->data()[s];
      if (first && clock.get(static_cast<Slot>(s)) >= first) {
        found |= bit(i);
        return;
      }
    }
  });
  return found;
}

void ScOrder::add_fences_after(Slot slot, Clock epoch, After& into) const {
  each(fences_, [&](u32 i) { into.nodes |= nodes_[i].known->get(slot) >= epoch ? bit(i) : 0; });
  into.settled |= settled_known_.get(slot) >= epoch;
}

bool ScOrder::allows(Nodes from, bool settled, const After& to) const {
  if (to.settled && (from || settled)) return false;
  bool free = true;
  each(to.nodes, [&](u32 i) { free = free && !((nodes_[i].after | bit(i)) & from); });
  return free;
}

void ScOrder::connect(Nodes from, Nodes to) {
  if (!from || !to) return;
  Nodes before = from, after = to;
  each(from, [&](u32 i) { before |= nodes_[i].before; });
  each(to, [&](u32 i) { after |= nodes_[i].after; });
  DURESS_CHECK(!(before & after));
  each(before, [&](u32 i) { nodes_[i].after |= after; });
  each(after, [&](u32 i) { nodes_[i].before |= before; });
}

void ScOrder::make_room() {
  if (live_ == ~Nodes{0}) settle(first_minimal());
}

u32 ScOrder::add(Slot slot, Clock epoch, Nodes before, Nodes after) {
  DURESS_CHECK(live_ != ~Nodes{0});
  u32 index = static_cast<u32>(__builtin_ctzll(~live_));
  Node& node = nodes_[index];
  node.slot = slot;
  node.epoch = epoch;
  node.number = number_++;
  node.before = node.after = 0;
  if (node.met) node.met->clear();
  live_ |= bit(index);
  connect(before, bit(index));
  connect(bit(index), after);
  return index;
}

ScOrder::Nodes ScOrder::add_operation(Slot slot, Clock epoch, Nodes before, Nodes after) {
  return bit(add(slot, epoch, before, after));
}

ScOrder::Nodes ScOrder::add_fence(Slot slot, Clock epoch, const VectorClock& clock, Nodes before) {
  u32 index = add(slot, epoch, before, 0);
  fences_ |= bit(index);
  VectorClock*& known = nodes_[index].known;
  if (!known) known = arena_.make<VectorClock>(arena_);
  known->clear();
  known->join(clock);
  return bit(index);
}

void ScOrder::met(Nodes nodes, Slot slot, Clock epoch) {
  each(nodes, [&](u32 i) {
    VectorClock*& met = nodes_[i].met;
    if (!met) met = arena_.make<VectorClock>(arena_);
    Clock first = met->get(slot);
    if (!first || epoch < first) met->set(slot, epoch);
  });
}

/// The oldest of those that nothing else needs to precede.
u32 ScOrder::first_minimal() const {
  u32 first = kMost;
  each(live_, [&](u32 i) {
    if (!nodes_[i].before && (first == kMost || nodes_[i].number < nodes_[first].number)) first = i;
  });
  DURESS_CHECK(first < kMost);
  return first;
}

void ScOrder::settle(u32 index) {
  Node& node = nodes_[index];
  node.settled_at = ++time_;
  live_ &= ~bit(index);
  each(node.after, [&](u32 i) { nodes_[i].before &= ~bit(index); });
  if (!(fences_ & bit(index))) return;
  fences_ &= ~bit(index);
  settled_known_.join(*node.known);
  if (!first_settled_fences_.get(node.slot)) first_settled_fences_.set(node.slot, node.epoch);
}

void ScOrder::settle_all() {
  while (live_) settle(first_minimal());
}

}  // namespace duress::memory
