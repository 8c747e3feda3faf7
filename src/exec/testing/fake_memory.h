// SPDX-License-Identifier: Apache-2.0
//
// The one counter of a fake target (fake_target.cc) as a memory model sees it: what a load may return besides
// the newest value, stale or of the future, is up to the request; the record says what became of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/prng.h"
#include "catalog/strategies.h"
#include "trail/execution.h"

namespace duress::testing {

constexpr u32 kReadKey = 111, kWriteKey = 222;

class FakeMemory {
 public:
  FakeMemory(const trail::Request& request, trail::Record& record)
      : request_(request), record_(record), adversary_(mix(request.seed ^ 1)) {}

  int newest() const { return newest_; }
  bool stored() const { return stored_; }

  /// A store that no model looks at.
  void set(int value) { newest_ = value; }

  int load(int strand) {
    u32 number = ++loads_;
    ++record_.reads;
    int value = newest_;
    for (const trail::Prediction& p : request_.predictions()) {
      if (!tracked() || request_.model < ModelId::kFuture) break;
      if (p.strand != static_cast<u32>(strand) || p.site != kReadKey || p.ordinal != number) continue;
      if (p.value[0] == static_cast<u64>(newest_)) continue;
      value = static_cast<int>(p.value[0]);
      ++record_.future_loads;
      promised_.push_back(value);
      note_replaced(strand, value, true);
    }
    bool open = stored_ && strand != 1 && tracked() &&
                (request_.model == ModelId::kStale || request_.model == ModelId::kBoth);
    if (open && value == newest_ && choose_value(2, wanted_value()) == 1 && newest_ != 0) {
      value = 0;
      ++record_.stale_loads;
      note_replaced(strand, value, false);
    }
    if (request_.profile_futures) profiled_.push_back({strand, number, value, stores_.size()});
    return seen_ = value;
  }

  void store(int strand, int value) {
    ++record_.stores;
    ++record_.writes;
    record_.changing_stores += value != newest_;
    record_.instances = 1;
    record_.largest = record_.largest_uncompressed = 2;
    std::erase(promised_, value);
    stores_.push_back({strand, value});
    stored_ = true;
    newest_ = value;
  }

  void finish() {
    if (request_.profile_futures) write_profile();
    record_.unvalidated = promised_.size();
  }

 private:
  struct Load {
    int strand;
    u32 number;
    int value;
    std::size_t stores;  // that came before
  };

  bool tracked() const { return request_.model != ModelId::kSc && request_.site_count != 0; }

  /// A choice among `count` values; `wanted` unless a trail is followed.
  u32 choose_value(u32 count, u32 wanted) {
    u32 number = static_cast<u32>(record_.choices++), pick = wanted;
    if (request_.strategy == StrategyId::kReplay) {
      pick = 0;
      for (const trail::Deviation& deviation : request_.trail()) {
        if (deviation.choice == number && deviation.kind() == trail::ChoiceKind::kValue)
          pick = std::min(deviation.pick(), count - 1);
      }
    }
    if (pick != 0)
      record_.trail()[record_.deviations++] = trail::Deviation::of(number, trail::ChoiceKind::kValue, pick);
    return pick;
  }

  /// Of the one value that was stored and the older 0, what the heuristic wants: 0 is the newest.
  u32 wanted_value() {
    switch (request_.heuristic) {
      case HeuristicId::kSequentiallyConsistent:
        return 0;
      case HeuristicId::kOldest:
        return 1;
      case HeuristicId::kOldestButDifferent:
        return seen_ != 0;
      case HeuristicId::kRandom:
        return static_cast<u32>(adversary_.below(2));
      case HeuristicId::kRandomButDifferent:
        return seen_ < 0 ? static_cast<u32>(adversary_.below(2)) : seen_ != 0;
    }
    return 0;
  }

  void note_replaced(int strand, int value, bool future) {
    if (record_.replaced < trail::Record::kMostReplaced)
      record_.first_replaced[record_.replaced] = {static_cast<u32>(strand),
                                                  kReadKey,
                                                  4,
                                                  future,
                                                  trail::ValueType::kInteger,
                                                  0,
                                                  {static_cast<u32>(value), 0},
                                                  {static_cast<u32>(newest_), 0}};
    ++record_.replaced;
  }

  /// For each load the values that were stored after it.
  void write_profile() {
    for (const Load& load : profiled_) {
      for (std::size_t i = load.stores; i < stores_.size(); ++i) {
        auto [strand, value] = stores_[i];
        if (value == load.value || strand == load.strand) continue;
        record_.future_values()[record_.future_value_count++] = {
            static_cast<u32>(load.strand), kReadKey, load.number, 4, {static_cast<u64>(value), 0}};
      }
    }
  }

  const trail::Request& request_;
  trail::Record& record_;
  Prng adversary_;
  int newest_ = 0;
  bool stored_ = false;
  int seen_ = -1;  // what the last load returned
  u32 loads_ = 0;
  std::vector<std::pair<int, int>> stores_;  // by which strand, what
  std::vector<int> promised_;
  std::vector<Load> profiled_;
};

}  // namespace duress::testing
