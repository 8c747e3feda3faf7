// SPDX-License-Identifier: Apache-2.0
//
// The site reader against a binary with a table written by hand (tests/report/fake_target.cc), and against
// damaged copies of it.
#include "report/site_table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "duress/hooks.h"

namespace duress::report {
namespace {

std::string target_bytes() {
  std::ifstream in(DURESS_FAKE_TARGET, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(SiteTable, ReadsSites) {
  SiteTable table = SiteTable::load(DURESS_FAKE_TARGET);
  EXPECT_EQ(table.problem(), "");
  EXPECT_EQ(table.size(), 9u);
  EXPECT_EQ(table.find(0), nullptr);  // the header
  const Site* site = table.find(1);
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(site->file, "/project/src/cache.cc");
  EXPECT_EQ(site->function, "Cache::evict");
  EXPECT_EQ(site->variable, "Cache::size_");
  EXPECT_EQ(site->line, 88u);
  EXPECT_EQ(site->column, 9u);
  EXPECT_EQ(site->access, kDuressWrite);
  EXPECT_EQ(site->variable_kind, kDuressField);
  EXPECT_FALSE(site->inlined_at);
  ASSERT_NE(table.find(3), nullptr);
  EXPECT_EQ(table.find(3)->inlined_at, 4u);
  EXPECT_EQ(table.find(4)->access, kDuressFrame);
  EXPECT_EQ(table.find(10), nullptr);
  EXPECT_EQ(table.find(0xffffffffu), nullptr);
}

TEST(SiteTable, FilesWithoutATable) {
  EXPECT_NE(SiteTable::load("/nonexistent/file").problem(), "");
  EXPECT_NE(SiteTable::parse("").problem(), "");
  EXPECT_NE(SiteTable::parse("#!/bin/sh\n").problem(), "");
  SiteTable none = SiteTable::load("/proc/self/exe");
  EXPECT_EQ(none.problem(), "");
  EXPECT_EQ(none.size(), 0u);
}

TEST(SiteTable, DamagedFilesNeverCrash) {
  const std::string whole = target_bytes();
  const std::size_t step = whole.size() / 499 + 1;
  for (std::size_t size = 0; size < whole.size(); size += step) SiteTable::parse(whole.substr(0, size));
  // Every byte of the ELF header and of the table's header, set to its worst.
  std::size_t magic = whole.find(std::string("DURS\5\0\0\0", 8));
  ASSERT_NE(magic, std::string::npos);
  for (std::size_t start : {std::size_t{0}, magic}) {
    for (std::size_t i = start; i < start + 64; ++i) {
      for (char value : {'\0', '\x7f', '\xff'}) {
        std::string bytes = whole;
        bytes[i] = value;
        SiteTable table = SiteTable::parse(bytes);
        for (std::uint32_t k = 0; k < 12; ++k) table.find(k);
      }
    }
  }
}

TEST(SiteTable, AnotherVersionIsSaid) {
  std::string bytes = target_bytes();
  std::size_t magic = bytes.find(std::string("DURS\5\0\0\0", 8));
  bytes[magic + 4] = 9;
  SiteTable table = SiteTable::parse(bytes);
  EXPECT_NE(table.problem().find("another version"), std::string::npos);
  EXPECT_TRUE(table.is_of_another_version());
  EXPECT_EQ(table.size(), 0u);
}

}  // namespace
}  // namespace duress::report
