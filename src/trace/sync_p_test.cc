// SPDX-License-Identifier: Apache-2.0
//
// What SyncP and SHB report can happen: on small random traces every pair is looked for among all reorderings
// that keep each thread's order, exclude critical sections, and let every read read what it read.
#include "trace/sync_p.h"

#include <gtest/gtest.h>

#include <functional>

#include "analysis/testing/play.h"
#include "analysis/testing/reference.h"

namespace duress::trace {
namespace {

using testing::Op;
using testing::Trace;

class Pairs final : public RaceSink {
 public:
  virtual ~Pairs() = default;
  void race(const Race& race) override {
    pairs.insert({raw(race.earlier.place.site) - testing::kFirstSite,
                  raw(race.later.place.site) - testing::kFirstSite});
  }
  std::set<std::pair<std::size_t, std::size_t>> pairs;
};

/// All states that a correct reordering of a trace can reach.
class Reorderings {
 public:
  explicit Reorderings(const Trace& trace) : trace_(trace) {
    for (std::size_t i = 0; i < trace.size(); ++i) {
      int threads = std::max(trace[i].thread, trace[i].other) + 1;
      if (static_cast<int>(order_.size()) < threads) order_.resize(threads);
      order_[trace[i].thread].push_back(i);
    }
    from_.resize(trace.size(), -1);
    for (std::size_t i = 0; i < trace.size(); ++i) {
      if (trace[i].op != Op::kRead) continue;
      for (std::size_t k = i; k-- > 0;) {
        if (trace[k].op == Op::kWrite && trace[k].address == trace[i].address) {
          from_[i] = static_cast<int>(k);
          break;
        }
      }
    }
    State start{std::vector<std::size_t>(order_.size()), {}, {}, {0}};
    explore(start);
  }
  bool together(std::size_t a, std::size_t b) const { return found_.count(std::minmax(a, b)) != 0; }

 private:
  struct State {
    std::vector<std::size_t> at;
    std::map<u32, int> last_write;
    std::map<int, int> owner;
    std::set<int> born;
    bool operator<(const State& o) const {
      return std::tie(at, last_write, owner, born) < std::tie(o.at, o.last_write, o.owner, o.born);
    }
  };
  bool can(const State& s, std::size_t i, bool perform) const {
    const testing::Event& e = trace_[i];
    if (s.born.count(e.thread) == 0) return false;
    if (e.op == Op::kLock) return s.owner.count(e.object) == 0;
    if (e.op == Op::kJoin) return s.at[e.other] == order_[e.other].size();
    if (e.op == Op::kRead && perform) {
      auto it = s.last_write.find(e.address);
      return (it == s.last_write.end() ? -1 : it->second) == from_[i];
    }
    return true;
  }
  void explore(const State& s) {
    if (!seen_.insert(s).second) return;
    for (std::size_t t = 0; t < order_.size(); ++t) {
      if (s.at[t] == order_[t].size()) continue;
      std::size_t i = order_[t][s.at[t]];
      for (std::size_t u = t + 1; u < order_.size(); ++u) {
        if (s.at[u] == order_[u].size()) continue;
        std::size_t k = order_[u][s.at[u]];
        if (can(s, i, false) && can(s, k, false)) found_.insert(std::minmax(i, k));
      }
      if (!can(s, i, true)) continue;
      State next = s;
      ++next.at[t];
      const testing::Event& e = trace_[i];
      if (e.op == Op::kWrite) next.last_write[e.address] = static_cast<int>(i);
      if (e.op == Op::kLock) next.owner[e.object] = e.thread;
      if (e.op == Op::kUnlock) next.owner.erase(e.object);
      if (e.op == Op::kFork) next.born.insert(e.other);
      explore(next);
    }
  }

  const Trace& trace_;
  std::vector<std::vector<std::size_t>> order_;  // by thread
  std::vector<int> from_;
  std::set<State> seen_;
  std::set<std::pair<std::size_t, std::size_t>> found_;
};

/// Without what the search does not model.
Trace small_trace(u64 seed) {
  Trace trace = testing::random_trace(
      seed, {.threads = 3, .events = 26, .plain_bytes = 12, .atomics = false, .mixed_sizes = false});
  std::erase_if(trace, [](const testing::Event& e) {
    return e.op == Op::kPost || e.op == Op::kWait || e.op == Op::kReadLock || e.op == Op::kReadUnlock;
  });
  return trace;
}

TEST(SyncP, WhatItReportsCanHappen) {
  std::size_t reported = 0, beyond = 0;
  for (u64 seed = 1; seed <= 8000 && !::testing::Test::HasFailure(); ++seed) {
    Trace trace = small_trace(seed);
    Pairs pairs;
    SyncP sync_p(pairs);
    for (std::size_t i = 0; i < trace.size(); ++i) {
      for (const Event& event : testing::to_events(trace[i], i)) sync_p.play(event);
    }
    sync_p.finish();
    Reorderings reorderings(trace);
    testing::Reference reference(trace);
    for (auto [a, b] : pairs.pairs) {
      EXPECT_TRUE(reorderings.together(a, b)) << "seed " << seed << " pair " << a << "," << b << "\n"
                                              << testing::to_string(trace);
      beyond += !reference.races(std::min(a, b), std::max(a, b));
    }
    reported += pairs.pairs.size();
  }
  EXPECT_GT(reported, 1000u);
  EXPECT_GT(beyond, 50u) << "it predicts nothing that happens-before does not see";
}

TEST(Shb, WhatItReportsCanHappen) {
  ShadowMap shadow;
  ASSERT_TRUE(shadow.open(0));
  std::size_t reported = 0;
  for (u64 seed = 1; seed <= 1500 && !::testing::Test::HasFailure(); ++seed) {
    Trace trace = small_trace(seed);
    testing::Played played = testing::play(trace, "SHB", shadow);
    testing::Reference reference(trace);
    Reorderings reorderings(trace);
    for (auto [a, b] : played.pairs) {
      EXPECT_TRUE(reference.races(a, b)) << "seed " << seed;
      EXPECT_TRUE(reorderings.together(a, b)) << "seed " << seed << " pair " << a << "," << b << "\n"
                                              << testing::to_string(trace);
    }
    EXPECT_EQ(played.pairs.empty(), reference.first_races().empty()) << seed;
    reported += played.pairs.size();
  }
  shadow.close();
  EXPECT_GT(reported, 1000u);
}

TEST(SyncP, SeesPastALockThatWasPassedOn) {
  Trace trace = {{.op = Op::kFork, .thread = 0, .other = 1},
                 {.op = Op::kWrite, .thread = 0, .address = 0, .size = 4},
                 {.op = Op::kLock, .thread = 0, .object = 0},
                 {.op = Op::kUnlock, .thread = 0, .object = 0},
                 {.op = Op::kLock, .thread = 1, .object = 0},
                 {.op = Op::kUnlock, .thread = 1, .object = 0},
                 {.op = Op::kWrite, .thread = 1, .address = 0, .size = 4}};
  Pairs pairs;
  SyncP sync_p(pairs);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    for (const Event& event : testing::to_events(trace[i], i)) sync_p.play(event);
  }
  sync_p.finish();
  EXPECT_EQ(pairs.pairs, (std::set<std::pair<std::size_t, std::size_t>>{{1, 6}}));
}

}  // namespace
}  // namespace duress::trace
