// SPDX-License-Identifier: Apache-2.0
#include "classify/campaign_record.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <barrier>
#include <fstream>
#include <thread>
#include <vector>

#include "exec/testing/folder_test.h"

namespace duress::classify {
namespace {

class CampaignRecordTest : public exec::testing::FolderTest {
 protected:
  static TrialName name(u64 number, const std::string& variable = "x") {
    return {"attack", variable, attacks()[1], number, 100 + number, "context"};
  }
  static Trial failing() {
    Trial trial;
    trial.outcome = TrialOutcome::kFailed;
    trial.failure.kind = "assertion";
    trial.failure.text = "assertion `a \"b\"' failed";
    trial.failure.identity = std::string("assertion\0a\0", 12);
    trial.failure.id = "F-12ab";
    trial.failure.place.file = "/a/b.cc";
    trial.failure.place.function = "f";
    trial.failure.place.line = 7;
    trial.output = ~u64{0} - 5;
    trial.steps = 1000;
    trial.stale_loads = 3;
    trial.stores = 4;
    trial.changing_stores = 2;
    trial.figures = {1, 2, 3, 4, 5};
    trial.created = {{11, 22}};
    return trial;
  }
  CampaignName campaign_{"classify", "target", 1, "./target"};
};

TEST_F(CampaignRecordTest, GoesOnWhereItStopped) {
  {
    CampaignRecord record;
    ASSERT_EQ(record.open(folder_, campaign_), "");
    EXPECT_EQ(record.resumed(), 0u);
    EXPECT_FALSE(record.find(name(0)));
    record.add(name(0), failing());
    record.add(name(1), Trial{});
    record.set_text("witness", "text with \0 zero");
    EXPECT_EQ(record.error(), "");
  }
  CampaignRecord record;
  ASSERT_EQ(record.open(folder_, campaign_), "");
  EXPECT_EQ(record.resumed(), 2u);
  std::optional<Trial> trial = record.find(name(0));
  ASSERT_TRUE(trial);
  Trial wanted = failing();
  EXPECT_TRUE(trial->failed());
  EXPECT_EQ(trial->failure.kind, wanted.failure.kind);
  EXPECT_EQ(trial->failure.text, wanted.failure.text);
  EXPECT_EQ(trial->failure.identity, wanted.failure.identity);
  EXPECT_EQ(trial->failure.id, wanted.failure.id);
  EXPECT_EQ(trial->failure.place.file, wanted.failure.place.file);
  EXPECT_EQ(trial->failure.place.function, wanted.failure.place.function);
  EXPECT_EQ(trial->failure.place.line, wanted.failure.place.line);
  EXPECT_EQ(trial->output, wanted.output);
  EXPECT_EQ(trial->steps, wanted.steps);
  EXPECT_EQ(trial->stale_loads, wanted.stale_loads);
  EXPECT_EQ(trial->stores, wanted.stores);
  EXPECT_EQ(trial->changing_stores, wanted.changing_stores);
  EXPECT_EQ(trial->figures.largest_uncompressed, 4u);
  ASSERT_EQ(trial->created.size(), 1u);
  EXPECT_EQ(trial->created[0].second, 22u);
  EXPECT_TRUE(record.find(name(1))->passed());
  EXPECT_FALSE(record.find(name(2)));
  EXPECT_EQ(record.text("witness"), "text with ");
}

/// `duress test` starts the campaigns of several cases at the same time, in one folder that is new.
TEST_F(CampaignRecordTest, SeveralCampaignsOpenANewRecordAtOnce) {
  constexpr int kRounds = 50, kCampaigns = 4;
  for (int round = 0; round < kRounds; ++round) {
    const std::string folder = folder_ + "/" + std::to_string(round);
    std::string errors[kCampaigns];
    std::barrier begin(kCampaigns);
    std::vector<std::jthread> threads;
    for (int i = 0; i < kCampaigns; ++i) {
      threads.emplace_back([&, i] {
        CampaignRecord record;
        begin.arrive_and_wait();
        errors[i] = record.open(folder, {"classify", "target" + std::to_string(i), 1, "./target"});
        record.add(name(0), Trial{});
        if (errors[i].empty()) errors[i] = record.error();
      });
    }
    threads.clear();
    for (const std::string& error : errors) ASSERT_EQ(error, "") << "round " << round;
  }
}

TEST_F(CampaignRecordTest, AllThatNamesATrialTellsItApart) {
  CampaignRecord record;
  ASSERT_EQ(record.open(folder_, campaign_), "");
  record.add(name(0), Trial{});
  TrialName other = name(0);
  other.variable = "y";
  EXPECT_FALSE(record.find(other));
  other = name(0);
  other.attack = attacks()[2];
  EXPECT_FALSE(record.find(other));
  other = name(0);
  other.context = "another budget";
  EXPECT_FALSE(record.find(other));
  other = name(0);
  other.seed = 1;
  EXPECT_FALSE(record.find(other));
  EXPECT_TRUE(record.find(name(0)));
}

TEST_F(CampaignRecordTest, AFinishedCampaignStartsAnew) {
  {
    CampaignRecord record;
    ASSERT_EQ(record.open(folder_, campaign_), "");
    record.add(name(0), Trial{});
    record.finish();
  }
  CampaignRecord record;
  ASSERT_EQ(record.open(folder_, campaign_), "");
  EXPECT_EQ(record.resumed(), 0u);
}

TEST_F(CampaignRecordTest, OthersAreOthers) {
  CampaignRecord record;
  ASSERT_EQ(record.open(folder_, campaign_), "");
  record.add(name(0), Trial{});
  for (CampaignName other :
       {CampaignName{"classify", "target", 2, ""}, CampaignName{"classify", "rebuilt", 1, ""},
        CampaignName{"test", "target", 1, ""}}) {
    CampaignRecord second;
    ASSERT_EQ(second.open(folder_, other), "");
    EXPECT_EQ(second.resumed(), 0u);
  }
  CampaignRecord again;
  ASSERT_EQ(again.open(folder_, campaign_), "");
  EXPECT_EQ(again.resumed(), 1u);
}

TEST_F(CampaignRecordTest, AFullDiskIsOneLineAndLosesNothing) {
  u64 kept = 0;
  {
    CampaignRecord record;
    ASSERT_EQ(record.open(folder_, campaign_), "");
    record.limit_pages(20);
    for (u64 i = 0; i < 10000 && record.error().empty(); ++i) {
      record.add(name(i), failing());
      if (record.error().empty()) kept = i + 1;
    }
    ASSERT_NE(record.error(), "") << "20 pages hold 10000 trials?";
    EXPECT_EQ(record.error().find('\n'), std::string::npos);
    EXPECT_NE(record.error().find("full"), std::string::npos) << record.error();
    EXPECT_NE(record.error().find("make room"), std::string::npos) << record.error();
    EXPECT_GT(kept, 10u);
  }
  CampaignRecord record;
  ASSERT_EQ(record.open(folder_, campaign_), "");
  EXPECT_EQ(record.resumed(), kept);
  record.add(name(20000), failing());  // with room again it goes on
  EXPECT_EQ(record.error(), "");
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ + "/campaign.sqlite").c_str(), &database), SQLITE_OK);
  std::string answer;
  auto row = [](void* into, int, char** values, char**) {
    *static_cast<std::string*>(into) = values[0];
    return 0;
  };
  sqlite3_exec(database, "PRAGMA integrity_check", row, &answer, nullptr);
  sqlite3_close(database);
  EXPECT_EQ(answer, "ok");
}

TEST_F(CampaignRecordTest, WhatIsNoRecordIsSaidSo) {
  std::ofstream(folder_ + "/campaign.sqlite") << "this is a text of some length, and no database at all\n";
  CampaignRecord record;
  std::string error = record.open(folder_, campaign_);
  EXPECT_NE(error.find("campaign.sqlite"), std::string::npos) << error;
  EXPECT_NE(error.find("not a database"), std::string::npos) << error;
}

TEST_F(CampaignRecordTest, ADamagedTrialIsRunAgain) {
  {
    CampaignRecord record;
    ASSERT_EQ(record.open(folder_, campaign_), "");
    record.add(name(0), failing());
    record.add(name(1), failing());
  }
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ + "/campaign.sqlite").c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "UPDATE trial SET detail='{' WHERE number=1", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(database);
  CampaignRecord record;
  ASSERT_EQ(record.open(folder_, campaign_), "");
  EXPECT_TRUE(record.find(name(0)));
  EXPECT_FALSE(record.find(name(1)));
}

}  // namespace
}  // namespace duress::classify
