// SPDX-License-Identifier: Apache-2.0
#include "catalog/lookup.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "catalog/heuristics.h"
#include "catalog/models.h"

namespace duress::catalog {
namespace {

TEST(Catalog, NearestNames) {
  std::vector<std::string> known{"run", "list", "doctor", "cmake"};
  EXPECT_EQ(nearest("lst", known), std::vector<std::string>{"list"});
  EXPECT_EQ(nearest("docter", known), std::vector<std::string>{"doctor"});
  EXPECT_EQ(nearest("doc", known), std::vector<std::string>{"doctor"});
  EXPECT_EQ(nearest("RUN", known), std::vector<std::string>{"run"});
  EXPECT_TRUE(nearest("frobnicate", known).empty());
  EXPECT_TRUE(nearest("", known).empty());
}

TEST(Catalog, EveryStrategyIsListed) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) {
    if (kind.name != std::string("strategies")) continue;
    for (const CatalogEntry& entry : kind.entries) names.emplace_back(entry.name);
  }
  for (const char* name :
       {"free", "portfolio", "random", "pct", "pos", "racefuzzer", "round-robin", "replay"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

TEST(Catalog, NamesAndIds) {
  EXPECT_EQ(id_of<HeuristicId>("OldestButDifferent"), HeuristicId::kOldestButDifferent);
  EXPECT_FALSE(id_of<HeuristicId>("oldest"));
  EXPECT_EQ(id_of<ModelId>("stale"), ModelId::kStale);
  EXPECT_FALSE(id_of<ModelId>(""));
  EXPECT_STREQ(name_of(ModelId::kRc11), "rc11");
  EXPECT_STREQ(name_of(ModelId{99}), "unknown");
}

TEST(Catalog, ModelsAreChecked) {
  ModelId model = ModelId::kBoth;
  std::optional<HeuristicId> heuristic;
  EXPECT_EQ(check_model("sc", "", model, heuristic), "");
  EXPECT_EQ(model, ModelId::kSc);
  EXPECT_EQ(check_model("rc11", "Oldest", model, heuristic), "");
  EXPECT_EQ(model, ModelId::kRc11);
  EXPECT_EQ(heuristic, HeuristicId::kOldest);
  EXPECT_NE(check_model("rc12", "", model, heuristic).find("nearest: rc11"), std::string::npos);
  EXPECT_NE(check_model("stale", "", model, heuristic).find("duress classify"), std::string::npos);
  EXPECT_NE(check_model("rc11", "Oldst", model, heuristic).find("nearest: Oldest"), std::string::npos);
  EXPECT_NE(check_model("sc", "Oldest", model, heuristic).find("--model rc11"), std::string::npos);
}

TEST(Catalog, ChainsAreChecked) {
  EXPECT_EQ(check_chain("FastTrack"), "");
  EXPECT_EQ(check_chain("Count:FastTrack"), "");
  EXPECT_NE(check_chain("FastTrak").find("nearest: FastTrack"), std::string::npos);
  EXPECT_NE(check_chain("Count::FastTrack"), "");
  EXPECT_NE(check_chain(""), "");
  EXPECT_NE(check_chain("FastTrack:"), "");
}

}  // namespace
}  // namespace duress::catalog
