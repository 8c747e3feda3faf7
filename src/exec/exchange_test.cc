// SPDX-License-Identifier: Apache-2.0
//
// Every field of a request reaches the target, and every field of a record comes back. The test maps the two
// files a second time, as the target does.
#include "exec/exchange.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "exec/files.h"
#include "exec/testing/every_field.h"

namespace duress::exec {
namespace {

template <typename T>
std::vector<std::remove_const_t<T>> list(trail::List<T> items) {
  return {items.begin(), items.end()};
}

class ExchangeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string error;
    exchange_ = Exchange::make(error);
    ASSERT_TRUE(exchange_) << error;
    request_ = static_cast<trail::Request*>(map(exchange_->request_path(), trail::kRequestBytes));
    record_ = static_cast<trail::Record*>(map(exchange_->record_path(), trail::kRecordBytes));
  }
  void TearDown() override {
    munmap(request_, trail::kRequestBytes);
    munmap(record_, trail::kRecordBytes);
  }
  static void* map(const std::string& path, u64 bytes) {
    Descriptor file(open(path.c_str(), O_RDWR));
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    EXPECT_NE(memory, MAP_FAILED);
    return memory;
  }
  exhaustive::StepLog& step_log() {
    return *reinterpret_cast<exhaustive::StepLog*>(reinterpret_cast<char*>(record_) + trail::kStepsOffset);
  }
  /// The request as the target finds it.
  Plan read_request() {
    const trail::Request& request = *request_;
    const exhaustive::StepLog& log = step_log();
    return {request,
            list(request.sites()),
            list(request.wait_sites()),
            list(request.pairs()),
            list(request.trail()),
            list(request.predictions()),
            list(request.edits()),
            list(request.planned()),
            list(request.picks()),
            {log.origins, log.origins + log.strands},
            {log.spin, log.spin + log.spins}};
  }

  std::unique_ptr<Exchange> exchange_;
  trail::Request* request_ = nullptr;
  trail::Record* record_ = nullptr;
};

TEST_F(ExchangeTest, EveryFieldOfARequestReachesTheTarget) {
  Plan plan = testing::plan_with_every_field();
  ASSERT_TRUE(exchange_->put(plan));
  testing::expect_same(read_request(), plan);
  EXPECT_EQ(record_->magic, 0u);
}

TEST_F(ExchangeTest, EachFlagIsItsOwn) {
  bool trail::Request::* const flags[] = {&trail::Request::trace,           &trail::Request::systematic,
                                          &trail::Request::sample,          &trail::Request::profile_futures,
                                          &trail::Request::profile_atomics, &trail::Request::variables,
                                          &trail::Request::trace_plain};
  for (auto set : flags) {
    Plan plan;
    plan.head.*set = true;
    ASSERT_TRUE(exchange_->put(plan));
    for (auto flag : flags) EXPECT_EQ(request_->*flag, flag == set);
  }
}

TEST_F(ExchangeTest, ListsDoNotOverlapWhateverTheirLengths) {
  for (std::size_t bits = 0; bits < 64; ++bits) {
    Plan plan = testing::plan_with_every_field();
    if (bits & 1) plan.sites.pop_back();
    if (bits & 2) plan.wait_sites.clear();
    if (bits & 4) plan.pairs.clear();
    if (bits & 8) plan.predictions.clear();
    if (bits & 16) plan.edits.clear();
    if (bits & 32) plan.picks.pop_back();
    ASSERT_TRUE(exchange_->put(plan));
    testing::expect_same(read_request(), plan);
    EXPECT_EQ(request_->bytes() % 8, 0u);
  }
}

TEST_F(ExchangeTest, EveryFieldOfARecordComesBack) {
  ASSERT_TRUE(exchange_->put(testing::plan_with_every_field()));
  Execution sent = testing::execution_with_every_field();
  *record_ = sent.record;
  std::ranges::copy(sent.trail, record_->trail());
  std::ranges::copy(sent.future_values, record_->future_values());
  std::ranges::copy(sent.atomic_profile, record_->atomic_profile());
  std::ranges::copy(sent.side_events, record_->side_events());
  std::ranges::copy(sent.observed_pairs, record_->observed_pairs());
  std::ranges::copy(sent.switch_points, record_->switch_points());
  exhaustive::StepLog& log = step_log();
  log.count = static_cast<u32>(sent.steps.size());
  log.limits = sent.limits;
  log.strands = static_cast<u32>(sent.origins.size());
  log.spins = static_cast<u32>(sent.spins.size());
  std::ranges::copy(sent.steps, log.steps);
  std::ranges::copy(sent.origins, log.origins);
  std::ranges::copy(sent.spins, log.spin);
  Execution got;
  exchange_->take(got);
  testing::expect_same_record(got, sent);
}

TEST_F(ExchangeTest, ListsOfARecordDoNotOverlap) {
  ASSERT_TRUE(exchange_->put({}));
  record_->deviations = record_->future_value_count = record_->atomic_profile_count =
      record_->side_event_count = record_->observed_pair_count = record_->switch_point_count =
          ~u64{0};  // more than fit
  record_->trail()[trail::kMostDeviations - 1] = {1, 2};
  record_->future_values()[0] = {3, 4, 5, 6, {}};
  record_->future_values()[trail::kMostFutureValues - 1] = {7, 8, 9, 10, {}};
  record_->atomic_profile()[0].calls[0] = 11;
  record_->atomic_profile()[trail::kMostAtomicProfile - 1].calls[7] = 12;
  record_->side_events()[0].joined = 13;
  record_->side_events()[trail::kMostSideEvents - 1].calls[13] = 14;
  step_log().count = 15;
  record_->observed_pairs()[0] = 16;
  record_->observed_pairs()[trail::kMostObservedPairs - 1] = 17;
  record_->switch_points()[0].strand = 18;
  record_->switch_points()[trail::kMostSwitchPoints - 1].last_targets = 19;
  Execution got;
  exchange_->take(got);
  ASSERT_EQ(got.trail.size(), trail::kMostDeviations);
  EXPECT_EQ(got.trail.back(), (trail::Deviation{1, 2}));
  ASSERT_EQ(got.future_values.size(), trail::kMostFutureValues);
  EXPECT_EQ(got.future_values.front().strand, 3u);
  EXPECT_EQ(got.future_values.back().strand, 7u);
  ASSERT_EQ(got.atomic_profile.size(), trail::kMostAtomicProfile);
  EXPECT_EQ(got.atomic_profile.front().calls[0], 11u);
  EXPECT_EQ(got.atomic_profile.back().calls[7], 12u);
  ASSERT_EQ(got.side_events.size(), trail::kMostSideEvents);
  EXPECT_EQ(got.side_events.front().joined, 13u);
  EXPECT_EQ(got.side_events.back().calls[13], 14u);
  EXPECT_EQ(step_log().count, 15u);
  ASSERT_EQ(got.observed_pairs.size(), trail::kMostObservedPairs);
  EXPECT_EQ(got.observed_pairs.front(), 16u);
  EXPECT_EQ(got.observed_pairs.back(), 17u);
  ASSERT_EQ(got.switch_points.size(), trail::kMostSwitchPoints);
  EXPECT_EQ(got.switch_points.front().strand, 18u);
  EXPECT_EQ(got.switch_points.back().last_targets, 19u);
}

class AheadTest : public ExchangeTest {
 protected:
  void SetUp() override {
    ExchangeTest::SetUp();
    plan_ = testing::plan_with_every_field();
    plan_.head.systematic = true;
    sent_ = testing::execution_with_every_field();
    trail::Record& record = sent_.record;
    record.magic = trail::kMagic;
    record.rollback = trail::Rollback::kDone;
    record.outcome = trail::Outcome::kEnded;
    record.wrote = record.write_failed = record.races_unchecked = record.tool_failed = 0;
    record.log_bytes = 0;
    sent_.origins = plan_.origins;
    sent_.spins = plan_.spins;
  }
  trail::Ahead& ahead() { return trail::ahead_of(record_); }
  trail::Request& request(u32 index) {
    return *reinterpret_cast<trail::Request*>(ahead().at(ahead().request_at[index]));
  }
  /// Moves the execution aside, as the target does. Returns where it ends.
  u64 keep(u64 at) {
    auto& result = *reinterpret_cast<trail::AheadResult*>(ahead().at(at));
    result.record = sent_.record;
    result.limits = sent_.limits;
    result.step_count = static_cast<u32>(sent_.steps.size());
    trail::AheadResult::Layout layout = result.layout(sizeof(exhaustive::Step));
    auto copy = [&](const auto& list, u64 begin) {
      std::memcpy(ahead().at(at + begin), list.data(), list.size() * sizeof list[0]);
    };
    copy(sent_.trail, layout.trail);
    copy(sent_.future_values, layout.future_values);
    copy(sent_.atomic_profile, layout.atomic_profile);
    copy(sent_.side_events, layout.side_events);
    copy(sent_.observed_pairs, layout.observed_pairs);
    copy(sent_.switch_points, layout.switch_points);
    copy(sent_.steps, layout.steps);
    ahead().result_at[ahead().performed++] = at;
    return at + layout.end;
  }

  Plan plan_;
  Execution sent_;
};

TEST_F(AheadTest, RequestsAndResultsAreThoseOfOneAlone) {
  ASSERT_TRUE(exchange_->put(plan_));
  EXPECT_EQ(exchange_->performed(), 0u);
  Plan other = plan_;
  other.head.seed = 77;
  other.picks.pop_back();
  ASSERT_EQ(exchange_->put_ahead({other, plan_}, true), 2u);
  EXPECT_EQ(request_->ahead_count, 2u);
  for (u32 i = 0; i < 2; ++i) {
    EXPECT_EQ(request(i).ahead_count, 2u);
    trail::Request alone = request(i);
    std::memcpy(static_cast<void*>(request_), &request(i), alone.bytes());  // as the target does
    request_->ahead_count = 0;
    testing::expect_same(read_request(), i == 0 ? other : plan_);
  }
  keep(keep(ahead().results));
  ASSERT_EQ(exchange_->performed(), 2u);
  for (u32 i = 0; i < 2; ++i) {
    Execution got;
    ASSERT_TRUE(exchange_->take_ahead(i, plan_, got));
    testing::expect_same_record(got, sent_);
  }
  ASSERT_TRUE(exchange_->put(plan_));
  EXPECT_EQ(request_->ahead_count, 0u);
  EXPECT_EQ(exchange_->performed(), 0u);
}

TEST_F(AheadTest, NoMoreThanThereIsRoomFor) {
  std::vector<Plan> plans(100, plan_);
  ASSERT_TRUE(exchange_->put(plan_));
  EXPECT_EQ(exchange_->put_ahead(plans, true), trail::Ahead::kMost);
  plans[3].trail.resize(trail::Ahead::kMostRequestBytes);
  ASSERT_TRUE(exchange_->put(plan_));
  EXPECT_EQ(exchange_->put_ahead(plans, true), 3u);
}

TEST_F(AheadTest, WhatTheTargetHasWrittenOverIsRefused) {
  auto refused = [&](auto change) {
    ASSERT_TRUE(exchange_->put(plan_));
    ASSERT_EQ(exchange_->put_ahead({plan_}, true), 1u);
    keep(ahead().results);
    Execution got;
    ASSERT_TRUE(exchange_->take_ahead(0, plan_, got));
    change(*reinterpret_cast<trail::AheadResult*>(ahead().at(ahead().results)));
    EXPECT_FALSE(exchange_->take_ahead(0, plan_, got));
  };
  refused([&](trail::AheadResult&) { ahead().result_at[0] = ~u64{7}; });
  refused([&](trail::AheadResult&) { ahead().result_at[0] += 4; });
  refused([&](trail::AheadResult&) { ahead().result_at[0] = 0; });
  refused([](trail::AheadResult& result) { result.record.deviations = ~u64{0}; });
  refused([](trail::AheadResult& result) { result.record.deviations = trail::kAheadBytes / 8; });
  refused([](trail::AheadResult& result) { result.step_count = ~0u; });
  refused([](trail::AheadResult& result) { result.record.wrote = 1; });
  refused([](trail::AheadResult& result) { result.record.rollback = trail::Rollback::kNone; });
  ahead().performed = 1000;
  EXPECT_EQ(exchange_->performed(), 1u);
}

/// The target clears a record without knowing its fields.
TEST(Record, IsZeroBeforeAnExecution) {
  const trail::Record record;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&record);
  EXPECT_TRUE(std::all_of(bytes, bytes + sizeof record, [](unsigned char byte) { return byte == 0; }));
}

TEST_F(ExchangeTest, APlanThatDoesNotFitIsRefused) {
  Plan plan;
  plan.trail.resize(trail::kRequestBytes / sizeof(trail::Deviation));
  EXPECT_FALSE(exchange_->put(plan));
}

}  // namespace
}  // namespace duress::exec
