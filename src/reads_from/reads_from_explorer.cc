// SPDX-License-Identifier: Apache-2.0
#include "reads_from/reads_from_explorer.h"

#include <algorithm>

#include "base/check.h"

namespace duress::reads_from {

ReadsFromExplorer::ReadsFromExplorer(Arena&) : ordered_(&own_ordered_) {
  active_ = std::make_unique<Branch>();
  active_->serial = ++serials_;
}

ReadsFromExplorer::~ReadsFromExplorer() = default;

bool ReadsFromExplorer::next(Plan* plan) {
  if (done_) return false;
  if (begun_) {
    Decision& decision = *path_.back();
    active_ = std::move(decision.pending.front());
    decision.pending.erase(decision.pending.begin());
    --branches_;
  }
  begun_ = true;
  *plan = plan_of(active_.get());
  plan->ticket = active_.get();
  return true;
}

ReadsFromExplorer::Plan ReadsFromExplorer::plan_of(const Branch* leaf) const {
  return {leaf->picks.data(), static_cast<u32>(leaf->picks.size()), nullptr};
}

void ReadsFromExplorer::begin_subtree(const ReadsFromExplorer& other, const Branch* leaf) {
  own_ordered_ = *other.ordered_;
  *active_ = *leaf;
}

ReadsFromExplorer::Learned ReadsFromExplorer::learn(Branch* ticket, const Step* steps, u32 count) {
  DURESS_CHECK(ticket == active_.get());
  switch (trace_.read(steps, count, *ordered_)) {
    case Trace::Status::kNewOrdered:
      return Learned::kNewOrdered;
    case Trace::Status::kNotSupported:
      why_ = trace_.why();
      return Learned::kNotSupported;
    case Trace::Status::kRead:
      break;
  }
  if (trace_.events().size() > kMostWitnessed) {
    why_ = "an execution has more than " + std::to_string(kMostWitnessed) + " steps";
    return Learned::kNotSupported;
  }
  ++learned_;
  Counts counts;
  if (!follows(*active_, &counts)) {
    const bool guess = active_->guess;
    refuted_ += guess;
    leave_finished();
    return guess ? Learned::kRefuted : Learned::kDiverged;
  }
  for (u32 i = active_->planned(); i < trace_.events().size(); ++i) {
    const Event& event = trace_.events()[i];
    decide(event, counts);
    counts[event.step.strand] = index_of(event.id);
  }
  for (const std::unique_ptr<Decision>& decision : path_) {
    decision->explored_below += 1;
    find_branches(*decision);
  }
  const bool is_new = ordered_->awaited.empty() || classes_.insert(trace_.hash_of_class()).second;
  known_ += !is_new;
  leave_finished();
  return is_new ? Learned::kNew : Learned::kKnown;
}

/// Whether the execution did what was planned, each step reading what it was to read.
bool ReadsFromExplorer::follows(const Branch& branch, Counts* counts) const {
  if (trace_.events().size() < branch.planned()) return false;
  for (u32 i = 0; i < branch.planned(); ++i) {
    const Step& step = trace_.events()[i].step;
    if (step.strand != branch.picks[i].strand || step.value != branch.picks[i].value) return false;
  }
  counts->assign(trace_.strands(), 0);
  for (u32 s = 0; s < branch.counts.size(); ++s) {
    if (branch.counts[s] == 0) continue;
    if (s >= trace_.strands() || branch.counts[s] > trace_.steps_of(s)) return false;
    (*counts)[s] = branch.counts[s];
  }
  return trace_.hash_between(Counts(trace_.strands(), 0), *counts) == branch.hash;
}

/// A decision for a step of which there may be other branches.
void ReadsFromExplorer::decide(const Event& event, const Counts& prefix) {
  const bool chooses = event.step.kind == OpKind::kChoose;
  if (chooses ? !(event.step.choices & (event.step.choices - 1)) : !event.reads()) return;
  auto decision = std::make_unique<Decision>();
  const bool updates = !chooses && event.writes() && trace_.is_ordered(event.access[0].object) &&
                       !depends_on_value(event.step);
  decision->kind = chooses ? Kind::kChooses : updates ? Kind::kWrites : Kind::kReads;
  decision->prefix = prefix;
  decision->step = event.id;
  path_.push_back(std::move(decision));
}

/// Goes up to the next decision with a pending branch.
void ReadsFromExplorer::leave_finished() {
  while (!path_.empty()) {
    Decision& decision = *path_.back();
    Estimate::Branches& size = decision.size;
    size.explored += decision.explored_below;
    size.largest = std::max(size.largest, decision.explored_below);
    ++size.explored_count;
    decision.explored_below = 0;
    decision.in_first = false;
    if (!decision.pending.empty()) return;
    path_.pop_back();
  }
  done_ = true;
}

Estimate ReadsFromExplorer::estimate() const {
  Estimate below;
  bool active = false;
  for (auto it = path_.rbegin(); it != path_.rend(); ++it, active = true) {
    Estimate::Branches size = (*it)->size;
    size.active = active;
    size.pending = static_cast<u32>((*it)->pending.size());
    size.pending_leaves = size.pending;
    below = Estimate::of(size, below);
  }
  if (path_.empty()) below.executions = below.low = below.high = static_cast<double>(learned_);
  return below;
}

}  // namespace duress::reads_from
