// SPDX-License-Identifier: Apache-2.0
//
// A plan and an execution in which every field and every list has a value of its own, for tests that send
// them somewhere and compare what arrives.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>
#include <vector>

#include "exec/plan.h"

namespace duress::exec::testing {

static_assert(std::has_unique_object_representations_v<trail::Record>);
static_assert(std::has_unique_object_representations_v<trail::SideEvent>);
static_assert(std::has_unique_object_representations_v<trail::AtomicProfileEntry>);

inline Plan plan_with_every_field() {
  Plan plan;
  plan.head.seed = 2;
  plan.head.strategy = StrategyId::kPct;
  plan.head.depth = 5;
  plan.head.expected_choices = 6;
  plan.head.most_steps = 7;
  plan.head.points = trail::Points::kLongRuns;
  plan.head.backend = trail::Backend::kThread;
  plan.head.detect = trail::Detect::kClocks;
  plan.head.model = ModelId::kBoth;
  plan.head.heuristic = HeuristicId::kRandomButDifferent;
  plan.head.fair_after = 8;
  plan.head.tear = 4;
  plan.head.exploration_order = ExplorationOrder::kByGraph;
  plan.head.priority_strands = 9;
  plan.head.trace_from = 67;
  plan.head.spurious = 10;
  plan.head.timeouts = 11;
  plan.head.early_timeouts = trail::EarlyTimeouts::kAll;
  plan.head.trace = plan.head.trace_plain = plan.head.systematic = plan.head.sample = plan.head.variables =
      true;
  plan.head.profile_futures = plan.head.profile_atomics = plan.head.observe = true;
  plan.head.memory = true;
  plan.head.symmetry = true;
  plan.head.reads_from = true;
  plan.sites = {20, 21, 22};
  plan.wait_sites = {23};
  plan.pairs = {{24, 25}, {26, 27}};
  plan.trail = {{28, 29}};
  plan.predictions = {{30, 31, 32, 16, {33, 34}}, {35, 36, 37, 1, {38, 0}}};
  plan.edits = {trail::WhatIfEdit::atomic(40, MemoryOrder::kAcqRel), trail::WhatIfEdit::locked(41, 42),
                trail::WhatIfEdit::published_after(43, 44),
                trail::WhatIfEdit::reordered(trail::AtomicKind::kCompare, 45, MemoryOrder::kSeqCst,
                                             MemoryOrder::kAcquire),
                trail::WhatIfEdit::joins(46, 47, 48)};
  plan.planned = {{59, 60, 61, 62}, {63, 64, 65, 66}};
  plan.picks = {{49, 50}, {51, 52}, {53, 54}};
  plan.origins = {{0, 0}, {0, 55}, {1, 56}};
  plan.spins = {57, 58};
  return plan;
}

/// The lists of an execution, and a record of which every word is another one.
inline Execution execution_with_every_field() {
  Execution execution;
  u32 words[sizeof(trail::Record) / sizeof(u32)];
  for (u32 i = 0; i < std::size(words); ++i) words[i] = 1000 + i;
  std::memcpy(static_cast<void*>(&execution.record), words, sizeof execution.record);
  execution.trail = {{1, 2}, {3, 4}, {5, 6}};
  execution.future_values = {{7, 8, 9, 8, {10, 11}}, {12, 13, 14, 2, {15, 16}}};
  execution.atomic_profile = {
      {trail::AtomicKind::kFence, MemoryOrder::kRelease, MemoryOrder::kConsume, 0, {17, 18, 19}}};
  execution.side_events = {{trail::SideEvent::Kind::kJoined, 20, 21, 0, 0, {22, 23}},
                           {trail::SideEvent::Kind::kLimited, 0, 0, 26, 27, {24}}};
  execution.observed_pairs = {31, 32};
  execution.switch_points = {{33, 34, 35, 36, 37, 38}};
  execution.steps.resize(2);
  execution.steps[0].strand = 1;
  execution.steps[1].strand = 2;
  execution.steps[1].expected = 25;
  execution.steps[1].add(26, 4, exhaustive::Mode::kWrite, 27);
  execution.origins = {{0, 0}, {0, 28, 27}};
  execution.spins = {29};
  execution.limits = 30;
  execution.record.deviations = execution.trail.size();
  execution.record.future_value_count = execution.future_values.size();
  execution.record.atomic_profile_count = execution.atomic_profile.size();
  execution.record.side_event_count = execution.side_events.size();
  execution.record.observed_pair_count = execution.observed_pairs.size();
  execution.record.switch_point_count = execution.switch_points.size();
  return execution;
}

/// Without the lengths of lists: a plan has them in its lists. A new field of Request does not compile here
/// before it is compared.
inline void expect_same_head(const trail::Request& got, const trail::Request& sent) {
  const auto& [magic, version, seed, strategy, depth, expected_choices, most_steps, points, backend, detect,
               model, heuristic, fair_after, tear, exploration_order, priority_strands, trace_from, spurious,
               timeouts, trace, trace_plain, systematic, sample, profile_futures, profile_atomics, variables,
               early_timeouts, observe, symmetry, memory, skip_known, learn_accesses, reads_from, unused,
               sites, wait_sites, pairs, predictions, edits, picks, planned, ahead_count, deviations] = got;
  EXPECT_EQ(magic, sent.magic);
  EXPECT_EQ(version, sent.version);
  EXPECT_EQ(seed, sent.seed);
  EXPECT_EQ(strategy, sent.strategy);
  EXPECT_EQ(depth, sent.depth);
  EXPECT_EQ(expected_choices, sent.expected_choices);
  EXPECT_EQ(most_steps, sent.most_steps);
  EXPECT_EQ(points, sent.points);
  EXPECT_EQ(backend, sent.backend);
  EXPECT_EQ(detect, sent.detect);
  EXPECT_EQ(model, sent.model);
  EXPECT_EQ(heuristic, sent.heuristic);
  EXPECT_EQ(fair_after, sent.fair_after);
  EXPECT_EQ(tear, sent.tear);
  EXPECT_EQ(exploration_order, sent.exploration_order);
  EXPECT_EQ(priority_strands, sent.priority_strands);
  EXPECT_EQ(spurious, sent.spurious);
  EXPECT_EQ(timeouts, sent.timeouts);
  EXPECT_EQ(early_timeouts, sent.early_timeouts);
  EXPECT_EQ(observe, sent.observe);
  EXPECT_EQ(trace, sent.trace);
  EXPECT_EQ(trace_from, sent.trace_from);
  EXPECT_EQ(trace_plain, sent.trace_plain);
  EXPECT_EQ(systematic, sent.systematic);
  EXPECT_EQ(sample, sent.sample);
  EXPECT_EQ(variables, sent.variables);
  EXPECT_EQ(profile_futures, sent.profile_futures);
  EXPECT_EQ(profile_atomics, sent.profile_atomics);
  EXPECT_EQ(symmetry, sent.symmetry);
  EXPECT_EQ(memory, sent.memory);
  EXPECT_EQ(skip_known, sent.skip_known);
  EXPECT_EQ(learn_accesses, sent.learn_accesses);
  EXPECT_EQ(reads_from, sent.reads_from);
  EXPECT_EQ(unused[0] + ahead_count, 0u);
}

inline void expect_same(const Plan& got, const Plan& sent) {
  expect_same_head(got.head, sent.head);
  EXPECT_EQ(got.sites, sent.sites);
  EXPECT_EQ(got.wait_sites, sent.wait_sites);
  EXPECT_EQ(got.pairs, sent.pairs);
  EXPECT_EQ(got.trail, sent.trail);
  EXPECT_EQ(got.predictions, sent.predictions);
  EXPECT_EQ(got.edits, sent.edits);
  EXPECT_EQ(got.planned, sent.planned);
  EXPECT_EQ(got.picks, sent.picks);
  EXPECT_EQ(got.origins, sent.origins);
  EXPECT_EQ(got.spins, sent.spins);
}

/// What comes from the record; not what the host adds: exit status, times, sizes of captured streams.
inline void expect_same_record(const Execution& got, const Execution& sent) {
  EXPECT_EQ(std::memcmp(&got.record, &sent.record, sizeof got.record), 0);
  EXPECT_EQ(got.trail, sent.trail);
  EXPECT_EQ(got.future_values, sent.future_values);
  EXPECT_EQ(got.atomic_profile, sent.atomic_profile);
  EXPECT_EQ(got.side_events, sent.side_events);
  EXPECT_EQ(got.observed_pairs, sent.observed_pairs);
  EXPECT_EQ(got.switch_points, sent.switch_points);
  ASSERT_EQ(got.steps.size(), sent.steps.size());
  for (std::size_t i = 0; i < got.steps.size(); ++i) {
    EXPECT_EQ(got.steps[i].strand, sent.steps[i].strand);
    EXPECT_EQ(got.steps[i].expected, sent.steps[i].expected);
    EXPECT_EQ(got.steps[i].touches, sent.steps[i].touches);
    EXPECT_EQ(got.steps[i].touch[0].object, sent.steps[i].touch[0].object);
  }
  EXPECT_EQ(got.origins, sent.origins);
  EXPECT_EQ(got.spins, sent.spins);
  EXPECT_EQ(got.limits, sent.limits);
}

}  // namespace duress::exec::testing
