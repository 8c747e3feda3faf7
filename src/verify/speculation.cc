// SPDX-License-Identifier: Apache-2.0
#include "verify/speculation.h"

#include <algorithm>

#include "base/scoped_arena.h"

namespace duress::verify {
namespace {

constexpr std::size_t kMostKept = std::size_t{1} << 28;  // bytes of outcomes not yet learned
constexpr u32 kLookahead = 128;                          // pending branches that are looked at, at least

}  // namespace

void renumber(exec::Execution& execution, Origins& origins) {
  std::vector<u8> ids(exhaustive::kMostStrands, 0);
  bool same = true;
  for (std::size_t i = 1; i < execution.origins.size(); ++i) {
    exhaustive::StepLog::Origin origin = execution.origins[i];
    origin.parent = origin.parent < ids.size() ? ids[origin.parent] : 0;
    std::size_t id = 1;
    while (id < origins.size() && !(origins[id] == origin)) ++id;
    if (id >= origins.size()) {
      if (origins.empty()) origins.push_back({});
      id = origins.size();
      origins.push_back(origin);
    }
    ids[i] = static_cast<u8>(id);
    same = same && id == i;
  }
  if (same) return;
  auto mask = [&](u64 old) {
    u64 result = 0;
    for (; old != 0; old &= old - 1) result |= u64{1} << ids[static_cast<std::size_t>(__builtin_ctzll(old))];
    return result;
  };
  for (exhaustive::Step& step : execution.steps) {
    step.strand = ids[step.strand];
    if (step.is(exhaustive::Step::kAfter)) step.other = ids[step.other];  // else it is a number of polls
    if (is_access(step.kind) || step.kind == OpKind::kChoose) continue;   // ages of stores; ends of waits
    if (step.value != 0) step.value = static_cast<u8>(1 + ids[step.value - 1u]);
    step.choices = mask(step.choices);
    bool waits = step.kind == OpKind::kWait || step.kind == OpKind::kSignal ||
                 step.kind == OpKind::kBroadcast || step.kind == OpKind::kFutexWake;
    if (waits && !step.is(exhaustive::Step::kAfter)) step.touch[0].before = mask(step.touch[0].before);
    if (step.kind == OpKind::kFutexWait) step.touch[1].before = mask(step.touch[1].before);
  }
}

exec::Plan plan_of(exec::Plan base, const exhaustive::Explorer::Plan& wanted, const Origins& origins) {
  base.picks.assign(wanted.picks, wanted.picks + wanted.count);
  base.origins = origins;
  return base;
}

exec::Plan plan_of(exec::Plan base, const exhaustive::GraphExplorer::Plan& wanted, const Origins& origins) {
  base.head.exploration_order = ExplorationOrder::kByGraph;
  base.head.priority_strands = wanted.first;
  return plan_of(std::move(base), exhaustive::Explorer::Plan{wanted.picks, wanted.count, nullptr}, origins);
}

exec::Plan plan_of(exec::Plan base, const reads_from::ReadsFromExplorer::Plan& wanted,
                   const Origins& origins) {
  return plan_of(std::move(base), exhaustive::Explorer::Plan{wanted.picks, wanted.count, nullptr}, origins);
}

std::string name_of(const exhaustive::Explorer::Plan& wanted, const Origins& origins) {
  std::string name;
  for (u32 i = 0; i < wanted.count; ++i) {
    name += static_cast<char>(wanted.picks[i].strand);
    name += static_cast<char>(wanted.picks[i].value);
  }
  // Which strands are known, and by which numbers: that decides how an execution continues.
  for (const exhaustive::StepLog::Origin& origin : origins)
    name += '/' + std::to_string(origin.parent) + '.' + std::to_string(origin.ordinal) + '.' +
            std::to_string(origin.like);
  return name;
}

std::string name_of(const exhaustive::GraphExplorer::Plan& wanted, const Origins& origins) {
  return std::to_string(wanted.first) + ' ' +
         name_of(exhaustive::Explorer::Plan{wanted.picks, wanted.count, nullptr}, origins);
}

std::string name_of(const reads_from::ReadsFromExplorer::Plan& wanted, const Origins& origins) {
  return name_of(exhaustive::Explorer::Plan{wanted.picks, wanted.count, nullptr}, origins);
}

namespace {

bool learn(exhaustive::Explorer& explorer, exhaustive::Explorer::Node* ticket,
           const exec::Execution& execution) {
  return explorer.learn(ticket, execution.steps.data(), static_cast<u32>(execution.steps.size()));
}
bool learn(exhaustive::GraphExplorer& graphs, exhaustive::GraphExplorer::Item* ticket,
           const exec::Execution& execution) {
  using exhaustive::GraphExplorer;
  return graphs.learn(ticket, execution.steps.data(), static_cast<u32>(execution.steps.size()),
                      execution.limits) != GraphExplorer::Learned::kDiverged;
}
bool learn(reads_from::ReadsFromExplorer& explorer, reads_from::ReadsFromExplorer::Branch* ticket,
           const exec::Execution& execution) {
  using Learned = reads_from::ReadsFromExplorer::Learned;
  const Learned learned =
      explorer.learn(ticket, execution.steps.data(), static_cast<u32>(execution.steps.size()));
  return learned == Learned::kNew || learned == Learned::kKnown || learned == Learned::kRefuted;
}

}  // namespace

template <typename Explorer>
struct Verifier::SpeculativeExplorers<Explorer>::Subtree {
  explicit Subtree(Origins known) : explorer(arena), origins(std::move(known)) {}

  ScopedArena arena;
  Explorer explorer;
  Origins origins;
  decltype(Explorer::Plan::ticket) ticket = nullptr;
  std::string name;  // of its plan; "": it was learned
};

template <typename Explorer>
Verifier::SpeculativeExplorers<Explorer>::SpeculativeExplorers(Verifier& verifier, ExecutionQueue& queue)
    : verifier_(verifier), queue_(queue) {}

template <typename Explorer>
Verifier::SpeculativeExplorers<Explorer>::~SpeculativeExplorers() = default;

template <typename Explorer>
void Verifier::SpeculativeExplorers<Explorer>::forget() {
  subtrees_.clear();
  queue_.clear();
}

/// Learns finished executions and adds further ones until the workers have enough. False: there are no more.
template <typename Explorer>
bool Verifier::SpeculativeExplorers<Explorer>::go_on(Subtree& subtree) {
  for (;;) {
    if (!subtree.name.empty()) {
      const Outcome* outcome = queue_.peek(subtree.name);
      if (outcome == nullptr) return queue_.has(subtree.name);
      if (!outcome->ran) return false;
      exec::Execution execution;
      execution.steps = outcome->execution.steps;
      execution.origins = outcome->execution.origins;
      execution.limits = outcome->execution.limits;
      renumber(execution, subtree.origins);
      if (!learn(subtree.explorer, subtree.ticket, execution)) return false;
      subtree.name.clear();
    }
    if (busy()) return true;
    typename Explorer::Plan wanted;
    if (!subtree.explorer.next(&wanted) || !subtree.explorer.in_subtree(wanted.ticket)) return false;
    subtree.ticket = wanted.ticket;
    subtree.name = name_of(wanted, subtree.origins);
    if (!queue_.has(subtree.name))
      queue_.add(subtree.name, plan_of(verifier_.base_plan(), wanted, subtree.origins));
  }
}

template <typename Explorer>
void Verifier::SpeculativeExplorers<Explorer>::send(Explorer& explorer) {
  if (busy() || queue_.kept_bytes() > kMostKept) return;
  std::set<u64> ahead;
  u32 lookahead = std::max(kLookahead, static_cast<u32>(4 * queue_.workers()));
  explorer.upcoming(lookahead, [&](const typename Explorer::Upcoming& one) {
    ahead.insert(one.serial);
    if (busy()) return;
    auto it = subtrees_.find(one.serial);
    if (it == subtrees_.end()) {
      // A speculative explorer of a branch above has already run this one.
      if (queue_.has(name_of(explorer.plan_of(one.leaf), verifier_.origins_))) return;
      it = subtrees_.emplace(one.serial, std::make_unique<Subtree>(verifier_.origins_)).first;
      it->second->explorer.begin_subtree(explorer, one.leaf);
    }
    if (it->second && !go_on(*it->second)) it->second.reset();
  });
  // Branches that the explorer has reached are no longer speculative.
  std::erase_if(subtrees_, [&](const auto& subtree) { return ahead.count(subtree.first) == 0; });
}

template class Verifier::SpeculativeExplorers<exhaustive::Explorer>;
template class Verifier::SpeculativeExplorers<exhaustive::GraphExplorer>;
template class Verifier::SpeculativeExplorers<reads_from::ReadsFromExplorer>;

}  // namespace duress::verify
