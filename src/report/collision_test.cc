// SPDX-License-Identifier: Apache-2.0
//
// Judging hand-made collisions in a binary without debug information, where only instructions speak.
#include "report/collision.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/document.h"
#include "report/json_writer.h"
#include "report/text_writer.h"

namespace duress::report {
namespace {

using finding::Access;
using finding::AccessRecord;
using finding::Category;

AccessRecord access(Access kind, finding::Address code = 0x100) {
  AccessRecord record;
  record.thread = kind == Access::kRead ? 1 : 2;
  record.access = kind;
  record.address = 0x7000;
  record.size = 4;
  record.stack = {code + 1};
  record.instruction.emplace();
  record.instruction->address = code;
  return record;
}

AccessRecord update(bool direct, bool only_gcc) {
  AccessRecord record = access(Access::kWrite);
  record.instruction->updates = true;
  record.instruction->direct = direct;
  record.instruction->adds = direct;
  record.instruction->only_gcc = only_gcc;
  return record;
}

TEST(Collision, PlainMovesProveNothing) {
  EXPECT_FALSE(instructions_prove_race(access(Access::kWrite), access(Access::kRead)));
  EXPECT_FALSE(instructions_prove_race(access(Access::kWrite), access(Access::kWrite)));
}

TEST(Collision, AnUnlockedUpdateIsNoAtomicOneOfGcc) {
  EXPECT_TRUE(instructions_prove_race(update(true, true), access(Access::kRead)));
  EXPECT_TRUE(instructions_prove_race(access(Access::kRead), update(true, true)));
  // Clang's may be a relaxed load and store by the only writer.
  EXPECT_FALSE(instructions_prove_race(update(true, false), access(Access::kRead)));
}

TEST(Collision, TwoWritersLoseAnUpdate) {
  EXPECT_TRUE(instructions_prove_race(update(false, false), access(Access::kWrite)));
  EXPECT_TRUE(instructions_prove_race(access(Access::kWrite), update(false, false)));
  EXPECT_FALSE(instructions_prove_race(update(false, false), access(Access::kRead)));
  // The load of an update, and another's.
  AccessRecord load = access(Access::kRead);
  load.instruction->updates = true;
  EXPECT_TRUE(instructions_prove_race(load, update(false, false)));
}

TEST(Collision, AWideWriteIsPlain) {
  AccessRecord wide = access(Access::kWrite);
  wide.size = 16;
  wide.instruction->wide = true;
  EXPECT_TRUE(instructions_prove_race(wide, access(Access::kRead)));
  wide.access = Access::kRead;
  EXPECT_FALSE(instructions_prove_race(wide, access(Access::kWrite)));
}

TEST(Collision, AnUnknownWriterProvesNothing) {
  AccessRecord unknown = access(Access::kWrite);
  unknown.instruction.reset();
  unknown.thread = -1;
  EXPECT_FALSE(instructions_prove_race(unknown, access(Access::kRead)));
  EXPECT_TRUE(instructions_prove_race(unknown, update(false, false)));
}

TEST(Collision, DifferentBits) {
  AccessRecord a = access(Access::kWrite), b = access(Access::kWrite);
  EXPECT_FALSE(different_bits(a, b));
  a.instruction->bits = 1;
  b.instruction->bits = 2;
  EXPECT_TRUE(different_bits(a, b));
  b.instruction->bits = 3;
  EXPECT_FALSE(different_bits(a, b));
  // The second byte of the same word.
  a.instruction->bits = 0x100;
  b.address += 1;
  b.instruction->bits = 1;
  EXPECT_FALSE(different_bits(a, b));
  b.instruction->bits = 2;
  EXPECT_TRUE(different_bits(a, b));
}

TEST(Collision, Values) {
  EXPECT_EQ(value_text(std::string("\x2a\0\0\0", 4)), "42");
  EXPECT_EQ(value_text(std::string("\xff\xff\xff\xff", 4)), "0xffffffff");
  EXPECT_EQ(value_text(std::string("\1\0\0\0\0\0\0\0\2", 9)), "0x020000000000000001");
}

/// The report of one collision of a stripped program that is nowhere to be found.
Document report_of(AccessRecord met, AccessRecord held, std::set<Category> hidden,
                   const std::string& before = "a", const std::string& after = "b") {
  finding::RunLog log;
  finding::ProcessLog process;
  process.pid = 7;
  process.exe = "/nonexistent/program";
  finding::ModuleRecord module;
  module.path = process.exe;
  module.high = 0x10000;
  process.modules.push_back(module);
  finding::RaceRecord record;
  record.analysis = "Collide";
  record.address = held.address;
  record.size = 4;
  record.prev = std::move(met);
  record.cur = std::move(held);
  record.modules_loaded = 1;
  record.collision = finding::CollisionRecord{before, after, 900};
  process.races.push_back(std::move(record));
  log.processes.push_back(std::move(process));
  Document report;
  report.command = "collide";
  report.root_pid = 7;
  report.collide.emplace();
  report.collide->hidden = std::move(hidden);
  Suppressions suppressions;
  fill_document(log, suppressions, report);
  return report;
}

std::uint64_t found(const Document& report, Category category) {
  return report.collide->found[static_cast<std::size_t>(category)];
}

TEST(Collision, CategoriesAreCountedAndHidden) {
  Document untyped = report_of(access(Access::kWrite), access(Access::kRead), {Category::kUntyped});
  EXPECT_EQ(found(untyped, Category::kUntyped), 1u);
  EXPECT_TRUE(untyped.races.empty());

  Document counter = report_of(update(true, true), update(true, true), {});
  EXPECT_EQ(found(counter, Category::kCounter), 1u);
  ASSERT_EQ(counter.races.size(), 1u);
  EXPECT_STREQ(counter.races[0].kind(), "write-write");

  Document lost = report_of(access(Access::kWrite), update(true, true), {});
  EXPECT_EQ(found(lost, Category::kOther), 1u);

  Document same = report_of(access(Access::kWrite), update(true, true), {Category::kSameValue}, "a", "a");
  EXPECT_EQ(found(same, Category::kSameValue), 1u);
  EXPECT_TRUE(same.races.empty());

  AccessRecord locked = update(true, true);
  locked.instruction->atomic = true;
  EXPECT_EQ(found(report_of(locked, update(true, true), {}), Category::kAtomic), 1u);
}

TEST(Collision, AStringFunctionMayReadTooFar) {
  AccessRecord vector = access(Access::kRead);
  vector.size = 32;
  EXPECT_EQ(found(report_of(vector, update(true, true), {}), Category::kUntyped), 1u);
}

TEST(Collision, Text) {
  AccessRecord unknown;
  unknown.thread = -1;
  unknown.access = Access::kWrite;
  unknown.address = 0x7000;
  unknown.size = 4;
  AccessRecord held = update(true, true);
  held.instruction->text = "inc dword ptr [rdi]";
  Document report = report_of(unknown, held, {});
  std::string text = to_text(report, {});
  EXPECT_NE(text.find("somebody writes: only the value changed, the writer is not known"), std::string::npos)
      << text;
  EXPECT_NE(text.find("inc dword ptr [rdi]"), std::string::npos) << text;
  EXPECT_NE(text.find("held for 0.9 ms just before its access; the value went from 97 to 98"),
            std::string::npos)
      << text;
  nlohmann::json json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["races"][0]["sites"][0]["thread"], -1);
  EXPECT_EQ(json["races"][0]["before"], "97");
  EXPECT_EQ(json["collide"]["categories"]["race"]["found"], 1);
}

}  // namespace
}  // namespace duress::report
