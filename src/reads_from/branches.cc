// SPDX-License-Identifier: Apache-2.0
//
// The branches of a decision that an execution below it shows: other writes that its step may read, or other
// steps that may write next. Each is looked for in every execution, and tried once.
#include <algorithm>

#include "exhaustive/silent.h"
#include "reads_from/reads_from_explorer.h"

namespace duress::reads_from {

namespace {

/// As it would be, were its object in that state.
void set_state(Event& event, u64 state) {
  event.step.touch[0].before = state;
  event.access[0].writes = mode_of(event.step, event.step.touch[0]) == Mode::kWrite;
}

bool touches(const Event& event, u64 object) {
  return std::any_of(event.access, event.access + event.count,
                     [&](const Access& one) { return one.object == object; });
}

}  // namespace

void ReadsFromExplorer::find_branches(Decision& decision) {
  decision.prefix.resize(trace_.strands(), 0);
  if (!trace_.contains(decision.step)) return;  // another write came first, and it waits for ever
  const Event& event = trace_.event(decision.step);
  switch (decision.kind) {
    case Kind::kReads:
      find_sources(decision, event);
      if (event.writes()) find_updates(decision, event);
      return;
    case Kind::kWrites:
      if (decision.in_first) find_successors(decision, event);
      return;
    case Kind::kChooses:
      if (!decision.tried.empty()) return;
      decision.tried.insert(Hash());
      for (u64 rest = event.step.choices; rest; rest &= rest - 1) {
        Event other = event;
        other.step.value = other.step.value_of(static_cast<u32>(__builtin_ctzll(rest)));
        if (other.step.value != event.step.value) add(decision, {decision.prefix, {other}}, false);
      }
  }
}

/// Whether no branch with the steps that this one adds to the prefix was tried before.
bool ReadsFromExplorer::is_untried(Decision& decision, const Cut& cut) {
  Hash label = trace_.hash_between(decision.prefix, cut.counts);
  for (const Event& event : cut.changed) label = label + hash_of(event);
  return decision.tried.insert(label).second;
}

void ReadsFromExplorer::find_sources(Decision& decision, const Event& event) {
  Event other = event;
  Counts counts = decision.prefix;
  if (decision.tried.empty()) {  // the branch of this execution
    Cut cut{counts, {event}};
    is_untried(decision, cut);
  }
  choose_sources(decision, other, 0, counts);
}

/// Each combination of what its accesses could read: writes that do not follow from it.
void ReadsFromExplorer::choose_sources(Decision& decision, Event& event, u32 at, Counts& counts) {
  if (at == event.count) {
    offer_source(decision, event, {counts, {event}});
    return;
  }
  event.access[at].source = 0;
  choose_sources(decision, event, at + 1, counts);
  for (EventId id : trace_.touching(event.access[at].object)) {
    const Event& write = trace_.event(id);
    const Access* mine = std::find_if(write.access, write.access + write.count, [&](const Access& one) {
      return one.object == event.access[at].object;
    });
    if (!mine->writes || trace_.causes(event.id, id)) continue;
    Counts more = counts;
    trace_.join_causes(id, more);
    event.access[at].source = id;
    choose_sources(decision, event, at + 1, more);
  }
}

/// What could only come after the step, because it read what the step wrote or had to wait for it, could come
/// first: then it reads what the step reads now.
void ReadsFromExplorer::find_updates(Decision& decision, const Event& event) {
  const u64 object = event.access[0].object;
  for (EventId id : trace_.touching(object)) {
    const Event& other = trace_.event(id);
    const bool updates = other.step.kind == OpKind::kAtomicRmw && other.access[0].source == event.id;
    if (updates || trace_.is_ordered(object)) try_update(decision, event, other);
  }
  for (const Event& pending : trace_.pending()) {
    if (touches(pending, object)) try_update(decision, event, pending);
  }
}

void ReadsFromExplorer::try_update(Decision& decision, const Event& event, const Event& update) {
  const u32 strand = strand_of(update.id);
  if (update.count != 1 || strand == strand_of(event.id) || index_of(update.id) <= decision.prefix[strand])
    return;
  Cut cut{decision.prefix, {}};
  trace_.join_past(update, cut.counts);
  if (cut.counts[strand_of(event.id)] >= index_of(event.id)) return;
  trace_.join_causes(event.access[0].source, cut.counts);
  if (cut.counts[strand] >= index_of(update.id)) return;  // it comes first already
  Event first = update, second = event;
  const u64 state = event.step.touch[0].before;
  first.access[0].source = event.access[0].source;
  set_state(first, state);
  if (!first.access[0].writes || !exhaustive::enabled(first.step.kind, state)) return;
  if (first.step.is(Step::kAwaits) && !is_woken(first)) return;
  second.access[0].source = first.id;
  cut.changed = {first, second};
  offer_source(decision, second, cut);
}

/// `event` is the last of the cut, with what it reads. Whether it writes may depend on that.
void ReadsFromExplorer::offer_source(Decision& decision, Event event, Cut cut) {
  if (!is_untried(decision, cut) || (event.step.is(Step::kAwaits) && !is_woken(event))) return;
  bool known = true;
  if (depends_on_value(event.step)) {
    u64 value = 0;
    known =
        cut.changed.size() == 1 && trace_.value_after(event.access[0].source, event.access[0].object, &value);
    set_state(event, value);
    if (!known) event.access[0].writes = true;
  }
  cut.changed.back() = event;
  const u64 before = branches_;
  add(decision, cut, false);
  if (known || branches_ != before) return;
  // If it writes there is no such execution; if it does not, there may be one.
  cut.changed.back().access[0].writes = false;
  add(decision, cut, true);
}

/// Which other step could be the next to write to the object after the newest write of the prefix.
void ReadsFromExplorer::find_successors(Decision& decision, const Event& event) {
  for (EventId id : trace_.touching(event.access[0].object)) try_successor(decision, event, trace_.event(id));
  for (const Event& pending : trace_.pending()) {
    if (touches(pending, event.access[0].object)) try_successor(decision, event, pending);
  }
}

void ReadsFromExplorer::try_successor(Decision& decision, const Event& event, const Event& successor) {
  const u32 strand = strand_of(successor.id);
  if (successor.count != 1 || strand == strand_of(event.id) ||
      index_of(successor.id) <= decision.prefix[strand])
    return;
  Event first = successor;
  const u64 state = event.step.touch[0].before;
  first.access[0].source = event.access[0].source;
  set_state(first, state);
  if (!first.access[0].writes || !exhaustive::enabled(first.step.kind, state)) return;
  Cut cut{decision.prefix, {}};
  trace_.join_past(first, cut.counts);
  if (cut.counts[strand_of(event.id)] >= index_of(event.id)) return;
  cut.changed = {first};
  if (!is_untried(decision, cut) || (first.step.is(Step::kAwaits) && !is_woken(first))) return;
  add(decision, cut, false);
}

/// An await loop goes on only after somebody has written to something that it has looked at, since it did.
bool ReadsFromExplorer::is_woken(const Event& event, u32 access) const {
  const Access& mine = event.access[access];
  const u32 index = index_of(event.id), strand = strand_of(event.id);
  for (u32 poll = index > event.step.other ? index - event.step.other : 1; poll < index; ++poll) {
    const Event& polled = trace_.event(id_of(strand, poll));
    if (polled.count == 0 || polled.access[0].object != mine.object) continue;
    const EventId seen = polled.access[0].writes ? polled.id : polled.access[0].source;
    for (EventId write = mine.source; write != seen;) {
      if (write == 0) return false;  // it would read something older
      const Event& writer = trace_.event(write);
      if (strand_of(write) != strand && !exhaustive::silent(writer.step)) return true;
      const Access* one = std::find_if(writer.access, writer.access + writer.count,
                                       [&](const Access& other) { return other.object == mine.object; });
      write = one->source;
    }
  }
  return false;
}

bool ReadsFromExplorer::is_woken(const Event& event) const {
  for (u32 access = 0; access < event.count; ++access) {
    if (is_woken(event, access)) return true;
  }
  return false;
}

/// Adds the branch, if it has a witness.
void ReadsFromExplorer::add(Decision& decision, const Cut& cut, bool guess) {
  std::optional<std::vector<Pick>> picks = find_witness(trace_, cut);
  if (!picks) return;
  auto branch = std::make_unique<Branch>();
  branch->counts = cut.counts;
  branch->hash = trace_.hash_between(Counts(trace_.strands(), 0), cut.counts);
  for (const Event& event : cut.changed) {
    branch->counts[strand_of(event.id)] = index_of(event.id);
    branch->hash = branch->hash + hash_of(event);
  }
  branch->picks = std::move(*picks);
  branch->guess = guess;
  branch->serial = ++serials_;
  decision.pending.push_back(std::move(branch));
  ++branches_;
}

}  // namespace duress::reads_from
