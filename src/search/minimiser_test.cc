// SPDX-License-Identifier: Apache-2.0
#include "search/minimiser.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace duress::search {
namespace {

exec::Trail trail_of(std::initializer_list<u32> choices) {
  exec::Trail trail;
  for (u32 choice : choices) trail.push_back(trail::Deviation::of(choice, trail::ChoiceKind::kThread, 1));
  return trail;
}

exec::Trail long_trail(u32 count) {
  exec::Trail trail;
  for (u32 i = 0; i < count; ++i) trail.push_back(trail::Deviation::of(i, trail::ChoiceKind::kThread, 1));
  return trail;
}

bool has(const exec::Trail& trail, u32 choice) {
  return std::any_of(trail.begin(), trail.end(),
                     [&](const trail::Deviation& d) { return d.choice == choice; });
}

/// Fails if the trail holds all of `needed`.
Minimiser::Replay needs(std::vector<u32> needed) {
  return [needed](const exec::Trail& trail) -> std::optional<Attempt> {
    bool all = std::all_of(needed.begin(), needed.end(), [&](u32 choice) { return has(trail, choice); });
    return Attempt{all, trail, trail.size()};
  };
}

TEST(Minimiser, KeepsWhatIsNeeded) {
  for (u32 length : {3u, 10u, 64u, 300u}) {
    Minimised result = Minimiser(needs({0, length / 2, length - 1})).run(long_trail(length));
    EXPECT_TRUE(result.confirmed);
    EXPECT_TRUE(result.complete) << length;
    EXPECT_EQ(result.trail, trail_of({0, length / 2, length - 1}));
    EXPECT_EQ(result.switches, 3u);
    EXPECT_LE(result.runs, 1000u);
  }
}

TEST(Minimiser, PairsThatOnlyGoTogether) {
  // 4 without 5 (or the other way round) does not fail; both or none do.
  auto replay = [](const exec::Trail& trail) -> std::optional<Attempt> {
    return Attempt{has(trail, 1) && has(trail, 4) == has(trail, 5), trail, trail.size()};
  };
  EXPECT_EQ(Minimiser(replay).run(trail_of({1, 4, 5})).trail, trail_of({1}));
}

TEST(Minimiser, TakesWhatReallyHappened) {
  // The target follows half a trail and chooses something of its own: that is the new trail.
  auto replay = [](const exec::Trail& trail) -> std::optional<Attempt> {
    bool fails = has(trail, 7) || has(trail, 70);
    return Attempt{fails, trail.size() == 3 ? trail : trail_of({70}), trail.size() == 3 ? 3u : 1u};
  };
  Minimised result = Minimiser(replay).run(trail_of({5, 7, 9}));
  EXPECT_EQ(result.trail, trail_of({70}));
  EXPECT_EQ(result.switches, 1u);
}

TEST(Minimiser, FewerSwitchesBeatFewerDeviations) {
  auto replay = [](const exec::Trail& trail) -> std::optional<Attempt> {
    return Attempt{true, trail, has(trail, 1) ? 0u : 5u};  // leaving 1 out makes it worse
  };
  EXPECT_EQ(Minimiser(replay).run(trail_of({1, 2, 3})).trail, trail_of({1}));
}

TEST(Minimiser, FindsAnotherWayWithFewer) {
  // Either both of 1 and 2, or 30 alone: leaving out never gets from one to the other.
  auto replay = [](const exec::Trail& trail) -> std::optional<Attempt> {
    bool fails = (has(trail, 1) && has(trail, 2)) || (has(trail, 30) && trail.size() == 1);
    return Attempt{fails, trail, trail.size(), 40, 3};
  };
  Minimised result = Minimiser(replay).run(trail_of({1, 2, 9}));
  EXPECT_EQ(result.switches, 1u);
  EXPECT_TRUE(result.complete);
  EXPECT_TRUE(has(result.trail, 30));
}

/// Many strands of two steps each, `a = 1; b = 1;`, and a last one that reads a, then b: fails if it sees a
/// without b.
std::optional<Attempt> reordered(u32 strands, const exec::Trail& trail) {
  std::vector<u32> at(strands);  // the next step of each
  Attempt attempt;
  attempt.strands = strands;
  u32 running = 0;
  u64 next = 0;  // of the trail
  bool a = false, b = false, seen = false;
  for (u32 alive = strands; alive > 0;) {
    u32 usual = running;
    for (u32 i = 0; at[usual] == 2; ++i) usual = i;
    u32 chosen = usual;
    if (alive > 1) {
      while (next < trail.size() && trail[next].choice < attempt.choices) ++next;
      if (next < trail.size() && trail[next].choice == attempt.choices && at[trail[next].pick()] < 2)
        chosen = trail[next].pick();
      if (chosen != usual)
        attempt.trail.push_back(
            trail::Deviation::of(static_cast<u32>(attempt.choices), trail::ChoiceKind::kThread, chosen));
      attempt.switches += chosen != usual && at[running] < 2;
      ++attempt.choices;
    }
    running = chosen;
    bool first = at[running]++ == 0;
    if (running + 1 < strands) (first ? a : b) = true;
    if (running + 1 == strands && first) seen = a;
    if (running + 1 == strands && !first) attempt.same = seen && !b;
    alive -= at[running] == 2;
  }
  return attempt;
}

TEST(Minimiser, LeavesOutThreadsFirst) {
  for (u32 strands : {3u, 10u, 100u}) {
    // All do their first step, one after the other; then the reader, which is the last.
    exec::Trail trail;
    for (u32 i = 1; i < strands; ++i) trail.push_back(trail::Deviation::of(i, trail::ChoiceKind::kThread, i));
    auto replay = [&](const exec::Trail& candidate) { return reordered(strands, candidate); };
    Minimised result = Minimiser(replay).run(trail);
    EXPECT_TRUE(result.confirmed && result.complete) << strands;
    EXPECT_EQ(result.switches, 1u) << strands;
    EXPECT_LE(result.runs, 60u) << strands;
  }
}

TEST(Minimiser, SaysWhenItDoesNotComeAgain) {
  auto replay = [](const exec::Trail& trail) -> std::optional<Attempt> { return Attempt{false, trail, 1}; };
  Minimised result = Minimiser(replay).run(trail_of({1, 2}));
  EXPECT_FALSE(result.confirmed);
  EXPECT_EQ(result.runs, 1u);
  EXPECT_EQ(result.trail, trail_of({1, 2}));
}

TEST(Minimiser, BudgetAndStop) {
  Minimised result = Minimiser(needs({3, 500, 900}), 20).run(long_trail(1000));
  EXPECT_TRUE(result.confirmed);
  EXPECT_FALSE(result.complete);
  EXPECT_LE(result.runs, 20u);
  EXPECT_TRUE(has(result.trail, 3) && has(result.trail, 500) && has(result.trail, 900));

  int calls = 0;
  auto stops = [&](const exec::Trail& trail) -> std::optional<Attempt> {
    if (++calls > 5) return std::nullopt;
    return Attempt{has(trail, 3), trail, trail.size()};
  };
  result = Minimiser(stops).run(long_trail(1000));
  EXPECT_EQ(calls, 6);
  EXPECT_TRUE(has(result.trail, 3));
  EXPECT_FALSE(result.complete);
}

}  // namespace
}  // namespace duress::search
