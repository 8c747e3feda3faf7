// SPDX-License-Identifier: Apache-2.0
#include "analysis/chain.h"

#include <gtest/gtest.h>
#include <string.h>

#include <memory>
#include <string>
#include <vector>

#include "analysis/count/count.h"
#include "analysis/print/print.h"

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

class Lines final : public LineSink {
 public:
  void line(const char* text, size_t size) override { lines.emplace_back(text, size); }
  std::vector<std::string> lines;
};

struct Tools {
  Arena arena;
  Lines lines;
  Giver giver;
  std::unique_ptr<Count> count{static_cast<Count*>(malloc(sizeof(Count)))};
  Print print{arena, lines};
  Tools() { new (count.get()) Count(arena); }
  ~Tools() {
    free(count.release());
    arena.release_all();
  }
  static Analysis* make(void* self, const char* name, size_t length) {
    auto* tools = static_cast<Tools*>(self);
    std::string text(name, length);
    if (text == "Giver") return &tools->giver;
    if (text == "Count") return tools->count.get();
    if (text == "Print") return &tools->print;
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
    ASSERT_TRUE(chain->build("Giver:Count", &Tools::make, &tools, &bad));
    AnalysisThread t0{Tid{0}, nullptr, nullptr}, t1{Tid{1}, nullptr, nullptr};
    chain->access(t0, read_at(0x1000));
    EXPECT_EQ(tools.count->of_kind(AccessKind::kRead), 0u);
    chain->access(t1, read_at(0x1000));
    EXPECT_EQ(tools.count->of_kind(AccessKind::kRead), 1u);
    chain->access(t0, read_at(0x1000));
    EXPECT_EQ(tools.count->of_kind(AccessKind::kRead), 2u);
    EXPECT_EQ(tools.count->of_site(SiteId{40}), 2u);
    EXPECT_EQ(tools.giver.seen, 2) << "the first tool no longer owns the location";
    chain->access(t0, read_at(0x2000));
    EXPECT_EQ(tools.count->of_kind(AccessKind::kRead), 2u);
    chain->fresh(0x1000, 0x1008);
    chain->access(t0, read_at(0x1000));
    EXPECT_EQ(tools.giver.seen, 4);
  }
}

TEST(Chain, SynchronisationGoesToEveryTool) {
  Tools tools;
  const char* bad;
  auto chain = std::make_unique<Chain>(tools.arena);
  ASSERT_TRUE(chain->build("Giver:Print", &Tools::make, &tools, &bad));
  AnalysisThread t0{Tid{0}, nullptr, nullptr};
  chain->sync(t0, {SyncKind::kMutexLock, 0x77, 0});
  EXPECT_EQ(tools.lines.lines, std::vector<std::string>{"T0 lock 0x77"});
}

TEST(Chain, UnknownAndEmptyNamesAreSaidWhere) {
  Tools tools;
  const char* bad;
  const char* text = "Count:Fastrack";
  auto chain = std::make_unique<Chain>(tools.arena);
  EXPECT_FALSE(chain->build(text, &Tools::make, &tools, &bad));
  EXPECT_EQ(bad, text + 6);
  auto empty = std::make_unique<Chain>(tools.arena);
  EXPECT_FALSE(empty->build("", &Tools::make, &tools, &bad));
}

}  // namespace
}  // namespace duress
