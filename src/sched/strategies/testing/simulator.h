// SPDX-License-Identifier: Apache-2.0
//
// A machine small enough to test strategies on: strands are lists of steps over a few shared ints and locks.
// It asks a strategy exactly as the scheduler does, and writes the trail that execution.h describes.
//
// Runnable strands are handed over in descending order of number, so that a strategy that leans on the order
// of that list shows it.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "sched/strategies/common.h"

namespace duress::sched::testing {

inline constexpr u32 kVariables = 8;
inline constexpr u32 kLocks = 4;
inline constexpr u32 kFree = ~u32{0};

/// What an execution did.
struct Result {
  trail::Outcome outcome = trail::Outcome::kRunning;
  std::vector<u32> order;  // the strand of each step
  std::vector<u32> values;
  std::vector<trail::Deviation> trail;
  std::array<int, kVariables> variables = {};
  bool error = false;
  u64 choices = 0;
  trail::Record record;  // as the strategy finished it
  std::vector<trail::SwitchPoint> switch_points;

  bool same_as(const Result& other) const {
    return outcome == other.outcome && order == other.order && values == other.values &&
           trail == other.trail && variables == other.variables && error == other.error;
  }
};

/// What steps see and change.
struct World {
  std::array<int, kVariables> variables = {};
  std::array<u32, kLocks> holder = {kFree, kFree, kFree, kFree};
  std::vector<i64> position;  // of each strand: its next step
  std::vector<bool> exists, ended;
  bool error = false;
  std::function<u32(ValueKind, u32)> choose;
};

struct Step {
  Operation operation;
  /// Returns how many of the following steps to skip; -1 stays at this one.
  std::function<int(World&)> effect;
};
using Program = std::vector<std::vector<Step>>;

inline uptr address_of(u32 variable) {
  return 0x1000 + 8 * variable;
}

/// A step that nobody else can see.
inline Step plain(std::function<int(World&)> effect = [](World&) { return 0; }) {
  return {{.kind = OpKind::kYield}, std::move(effect)};
}
inline Step write(u32 variable, int value, u32 site = 0) {
  return {{.kind = OpKind::kWrite, .size = 4, .object = address_of(variable), .site = site},
          [=](World& w) { return w.variables[variable] = value, 0; }};
}
/// `effect` gets the value and says how many steps to skip.
inline Step read(u32 variable, u32 site, std::function<int(World&, int)> effect) {
  return {{.kind = OpKind::kRead, .size = 4, .object = address_of(variable), .site = site},
          [=](World& w) { return effect(w, w.variables[variable]); }};
}
inline Step copy(u32 from, u32 to, u32 site = 0) {
  return read(from, site, [=](World& w, int value) { return w.variables[to] = value, 0; });
}
inline Step lock(u32 which) {
  return {{.kind = OpKind::kLock, .object = 0x9000 + 8 * which}, [](World&) { return 0; }};
}
inline Step unlock(u32 which) {
  return {{.kind = OpKind::kUnlock, .object = 0x9000 + 8 * which}, [](World&) { return 0; }};
}
/// A strand that some step creates does not exist before.
inline Step create(u32 strand) {
  return {{.kind = OpKind::kCreate, .object = strand}, [=](World& w) { return w.exists[strand] = true, 0; }};
}
/// Has the strategy choose a value, and keeps it.
inline Step value(ValueKind kind, u32 count, u32 variable) {
  return plain([=](World& w) { return w.variables[variable] = static_cast<int>(w.choose(kind, count)), 0; });
}

/// A request with its lists behind it, as in the mapped file.
class RequestFile {
 public:
  explicit RequestFile(trail::Request head, const std::vector<trail::SitePair>& pairs = {},
                       const std::vector<trail::Deviation>& trail = {},
                       const std::vector<trail::PlannedSwitch>& planned = {}) {
    head.site_count = 1;  // an odd number, for the gap behind it
    head.pair_count = static_cast<u32>(pairs.size());
    head.deviation_count = trail.size();
    head.planned_count = static_cast<u32>(planned.size());
    words_.resize((head.bytes() + 7) / 8);
    auto* request = new (words_.data()) trail::Request(head);
    std::copy(pairs.begin(), pairs.end(), request->pairs().begin());
    std::copy(trail.begin(), trail.end(), request->trail().begin());
    std::copy(planned.begin(), planned.end(), request->planned().begin());
  }
  const trail::Request& get() const { return *reinterpret_cast<const trail::Request*>(words_.data()); }

 private:
  std::vector<u64> words_;
};

class Simulator {
 public:
  Simulator(const Program& program, Strategy& strategy) : program_(program), strategy_(strategy) {
    u64 strands = program.size();
    world_.position.assign(strands, 0);
    world_.exists.assign(strands, true);
    world_.ended.assign(strands, false);
    world_.choose = [this](ValueKind kind, u32 count) { return choose_value(kind, count); };
    views_.resize(strands);
    for (u32 i = 0; i < strands; ++i) {
      views_[i].number = i;
      for (const Step& step : program[i]) {
        if (step.operation.kind == OpKind::kCreate) world_.exists[step.operation.object] = false;
      }
    }
    for (u32 i = 0; i < strands; ++i) arrive(i);
  }

  Result run(const trail::Request& request, u64 most_steps = 1'000'000) {
    strategy_.start(request);
    StrandView* last = nullptr;
    while (result_.outcome == trail::Outcome::kRunning) {
      find_runnable();
      if (runnable_.empty()) {
        result_.outcome = all_ended() ? trail::Outcome::kEnded : trail::Outcome::kDeadlock;
      } else if (result_.order.size() == most_steps) {
        result_.outcome = trail::Outcome::kStepLimit;
      } else {
        last = choose_thread(last);
        perform(last->number);
      }
    }
    finish();
    result_.variables = world_.variables;
    result_.error = world_.error;
    return std::move(result_);
  }

 private:
  /// The lists of a record lie far behind it.
  void finish() {
    static auto* file = new (mmap(nullptr, trail::kRecordBytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) trail::Record;
    *file = {};
    strategy_.finish(*file);
    result_.record = *file;
    result_.switch_points.assign(file->switch_points(), file->switch_points() + file->switch_point_count);
  }

  void arrive(u32 strand) {
    u64 at = static_cast<u64>(world_.position[strand]);
    if (at < program_[strand].size()) {
      views_[strand].next = program_[strand][at].operation;
    } else {
      world_.ended[strand] = true;
    }
  }

  static u32 lock_of(const Operation& operation) { return static_cast<u32>(operation.object - 0x9000) / 8; }

  void find_runnable() {
    runnable_.clear();
    for (u64 i = views_.size(); i-- > 0;) {
      const Operation& next = views_[i].next;
      if (!world_.exists[i] || world_.ended[i]) continue;
      if (next.kind == OpKind::kLock && world_.holder[lock_of(next)] != kFree) continue;
      runnable_.push_back(&views_[i]);
    }
  }

  bool is_runnable(const StrandView* view) const {
    return std::find(runnable_.begin(), runnable_.end(), view) != runnable_.end();
  }

  bool all_ended() const {
    for (u64 i = 0; i < views_.size(); ++i) {
      if (world_.exists[i] && !world_.ended[i]) return false;
    }
    return true;
  }

  StrandView* choose_thread(StrandView* last) {
    if (runnable_.size() == 1) return runnable_[0];
    Situation situation{result_.choices, result_.order.size(), runnable_.data(),
                        static_cast<u32>(runnable_.size()), is_runnable(last) ? last : nullptr};
    StrandView* chosen = strategy_.choose_thread(situation);
    if (!is_runnable(chosen)) {
      ADD_FAILURE() << "chose a strand that cannot run";
      chosen = runnable_[0];
    }
    if (chosen != default_thread(situation)) deviate(trail::ChoiceKind::kThread, chosen->number);
    ++result_.choices;
    return chosen;
  }

  u32 choose_value(ValueKind kind, u32 count) {
    u32 chosen = strategy_.choose_value(kind, count);
    EXPECT_LT(chosen, count);
    if (chosen != 0) deviate(trail::ChoiceKind::kValue, chosen);
    ++result_.choices;
    result_.values.push_back(chosen);
    return chosen;
  }

  void deviate(trail::ChoiceKind kind, u32 pick) {
    result_.trail.push_back(trail::Deviation::of(static_cast<u32>(result_.choices), kind, pick));
  }

  void perform(u32 strand) {
    const Step& step = program_[strand][static_cast<u64>(world_.position[strand])];
    result_.order.push_back(strand);
    if (step.operation.kind == OpKind::kLock) world_.holder[lock_of(step.operation)] = strand;
    if (step.operation.kind == OpKind::kUnlock) world_.holder[lock_of(step.operation)] = kFree;
    world_.position[strand] += 1 + step.effect(world_);
    ++views_[strand].operations;
    arrive(strand);
  }

  const Program& program_;
  Strategy& strategy_;
  World world_;
  std::vector<StrandView> views_;
  std::vector<StrandView*> runnable_;
  Result result_;
};

inline Result run(const Program& program, Strategy& strategy, const RequestFile& request) {
  return Simulator(program, strategy).run(request.get());
}

inline RequestFile request_of(u64 seed, const std::vector<trail::SitePair>& pairs = {}) {
  return RequestFile({.seed = seed}, pairs);
}

/// In how many of the executions with seeds 1 to `runs` the program sets World::error.
inline u64 errors(const Program& program, Strategy& strategy, u64 runs, trail::Request head = {}) {
  u64 count = 0;
  for (head.seed = 1; head.seed <= runs; ++head.seed) {
    count += run(program, strategy, RequestFile(head)).error;
  }
  return count;
}

}  // namespace duress::sched::testing
