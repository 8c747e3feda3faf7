// SPDX-License-Identifier: Apache-2.0
#include "analysis/chain.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace duress {
namespace {

/// Keeps a location until a second thread comes, then gives it away, as ThreadLocal does.
class Giver final : public Analysis {
 public:
  const char* name() const override { return "Giver"; }
  Pass access(AnalysisThread& thread, const Access&) override {
    ++seen;
    return raw(thread.tid) == 0 ? Pass::kKeep : Pass::kGive;
  }
  int seen = 0;
};

/// Counts what comes to it, and passes it on.
class Counter final : public Analysis {
 public:
  const char* name() const override { return "Counter"; }
  Pass access(AnalysisThread&, const Access&) override {
    ++accesses;
    return Pass::kForward;
  }
  void sync(AnalysisThread&, const Sync& sync) override { syncs.push_back(sync.object); }
  int accesses = 0;
  std::vector<uptr> syncs;
};

struct Tools {
  Arena arena;
  Giver giver;
  Counter counter;
  ~Tools() { arena.release_all(); }
  static Analysis* make(void* self, const char* name, size_t length) {
    auto* tools = static_cast<Tools*>(self);
    std::string text(name, length);
    if (text == "Giver") return &tools->giver;
    if (text == "Counter") return &tools->counter;
    return nullptr;
  }
};

Access read_at(uptr address) {
  return {address, 4, AccessKind::kRead, {SiteId{40}, StackId{0}}};
}

TEST(Chain, ALocationIsGivenDownTheChainAndStaysThere) {
  Tools tools;
  const char* bad;
  {
    auto chain = std::make_unique<Chain>(tools.arena);
    ASSERT_TRUE(chain->build("Giver:Counter", &Tools::make, &tools, &bad));
    AnalysisThread t0{Tid{0}, nullptr, nullptr}, t1{Tid{1}, nullptr, nullptr};
    chain->access(t0, read_at(0x1000));
    EXPECT_EQ(tools.counter.accesses, 0);
    chain->access(t1, read_at(0x1000));
    EXPECT_EQ(tools.counter.accesses, 1);
    chain->access(t0, read_at(0x1000));
    EXPECT_EQ(tools.counter.accesses, 2);
    EXPECT_EQ(tools.giver.seen, 2) << "the first tool no longer owns the location";
    chain->access(t0, read_at(0x2000));
    EXPECT_EQ(tools.counter.accesses, 2);
    chain->fresh(0x1000, 0x1008);
    chain->access(t0, read_at(0x1000));
    EXPECT_EQ(tools.giver.seen, 4);
  }
}

TEST(Chain, SynchronisationGoesToEveryTool) {
  Tools tools;
  const char* bad;
  auto chain = std::make_unique<Chain>(tools.arena);
  ASSERT_TRUE(chain->build("Giver:Counter", &Tools::make, &tools, &bad));
  AnalysisThread t0{Tid{0}, nullptr, nullptr};
  chain->sync(t0, {SyncKind::kMutexLock, 0x77, 0});
  EXPECT_EQ(tools.counter.syncs, std::vector<uptr>{0x77});
}

TEST(Chain, UnknownAndEmptyNamesAreSaidWhere) {
  Tools tools;
  const char* bad;
  const char* text = "Counter:Fastrack";
  auto chain = std::make_unique<Chain>(tools.arena);
  EXPECT_FALSE(chain->build(text, &Tools::make, &tools, &bad));
  EXPECT_EQ(bad, text + 8);
  auto empty = std::make_unique<Chain>(tools.arena);
  EXPECT_FALSE(empty->build("", &Tools::make, &tools, &bad));
}

}  // namespace
}  // namespace duress
