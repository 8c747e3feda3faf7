// SPDX-License-Identifier: Apache-2.0
#include "verify/speculation.h"

#include <algorithm>

namespace duress::verify {
namespace {

constexpr std::size_t kMostKept = std::size_t{1} << 28;  // bytes of outcomes that wait for their turn
constexpr u32 kLooks = 128;                              // so far ahead scouts begin, at least

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
    if (step.is(exhaustive::Step::kAfter)) step.other = ids[step.other];  // else it is a number of looks
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
  base.head.heuristic = raw(exhaustive::Order::kByGraph);
  base.head.length = wanted.first;
  return plan_of(std::move(base), exhaustive::Explorer::Plan{wanted.picks, wanted.count, nullptr}, origins);
}

std::string name_of(const exhaustive::Explorer::Plan& wanted, const Origins& origins) {
  std::string name;
  for (u32 i = 0; i < wanted.count; ++i) {
    name += static_cast<char>(wanted.picks[i].strand);
    name += static_cast<char>(wanted.picks[i].value);
  }
  // What a strand's number means, and which ones are known: that decides how an execution goes on.
  for (const exhaustive::StepLog::Origin& origin : origins)
    name += '/' + std::to_string(origin.parent) + '.' + std::to_string(origin.ordinal);
  return name;
}

std::string name_of(const exhaustive::GraphExplorer::Plan& wanted, const Origins& origins) {
  return std::to_string(wanted.first) + ' ' +
         name_of(exhaustive::Explorer::Plan{wanted.picks, wanted.count, nullptr}, origins);
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

}  // namespace

template <typename Explorer>
struct Verifier::Scouts<Explorer>::Scout {
  explicit Scout(Origins known) : explorer(arena), origins(std::move(known)) {}

  struct OwnArena : Arena {
    ~OwnArena() { release_all(); }
  };
  OwnArena arena;
  Explorer explorer;
  Origins origins;
  decltype(Explorer::Plan::ticket) ticket = nullptr;
  std::string name;  // of its plan; "": it was learned
};

template <typename Explorer>
Verifier::Scouts<Explorer>::Scouts(Verifier& verifier, Pool& pool) : verifier_(verifier), pool_(pool) {}

template <typename Explorer>
Verifier::Scouts<Explorer>::~Scouts() = default;

template <typename Explorer>
void Verifier::Scouts<Explorer>::forget() {
  scouts_.clear();
  pool_.forget();
}

/// Learns what was run, and hands out the next until there is enough to do. False: there is no next.
template <typename Explorer>
bool Verifier::Scouts<Explorer>::go_on(Scout& scout) {
  for (;;) {
    if (!scout.name.empty()) {
      const Outcome* outcome = pool_.look_at(scout.name);
      if (outcome == nullptr) return pool_.has(scout.name);
      if (!outcome->ran) return false;
      exec::Execution execution;
      execution.steps = outcome->execution.steps;
      execution.origins = outcome->execution.origins;
      execution.limits = outcome->execution.limits;
      renumber(execution, scout.origins);
      if (!learn(scout.explorer, scout.ticket, execution)) return false;
      scout.name.clear();
    }
    if (busy()) return true;
    typename Explorer::Plan wanted;
    if (!scout.explorer.next(&wanted) || !scout.explorer.in_subtree(wanted.ticket)) return false;
    scout.ticket = wanted.ticket;
    scout.name = name_of(wanted, scout.origins);
    if (!pool_.has(scout.name)) pool_.add(scout.name, plan_of(verifier_.base_plan(), wanted, scout.origins));
  }
}

template <typename Explorer>
void Verifier::Scouts<Explorer>::send(Explorer& explorer) {
  if (busy() || pool_.kept_bytes() > kMostKept) return;
  std::set<u64> ahead;
  u32 looks = std::max(kLooks, static_cast<u32>(4 * pool_.width()));
  explorer.upcoming(looks, [&](const typename Explorer::Upcoming& one) {
    ahead.insert(one.serial);
    if (busy()) return;
    auto it = scouts_.find(one.serial);
    if (it == scouts_.end()) {
      // Below something that the explorer has come to meanwhile: a scout was here.
      if (pool_.has(name_of(explorer.plan_of(one.leaf), verifier_.origins_))) return;
      it = scouts_.emplace(one.serial, std::make_unique<Scout>(verifier_.origins_)).first;
      it->second->explorer.begin_subtree(explorer, one.leaf);
    }
    if (it->second && !go_on(*it->second)) it->second.reset();
  });
  // What the explorer has come to is its own.
  std::erase_if(scouts_, [&](const auto& scout) { return ahead.count(scout.first) == 0; });
}

template class Verifier::Scouts<exhaustive::Explorer>;
template class Verifier::Scouts<exhaustive::GraphExplorer>;

}  // namespace duress::verify
