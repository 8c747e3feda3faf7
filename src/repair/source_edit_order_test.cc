// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "repair/source_edit.h"

namespace duress::repair {
namespace {

/// The text with the order of the call at that place changed; "": it is left to people.
std::string changed(const std::string& text, std::size_t line, std::size_t column, const char* order,
                    const char* failing = "") {
  FileEdit edit;
  edit.before = edit.after = split_lines(text);
  if (!change_order(edit, line, column, order, failing)) {
    EXPECT_EQ(edit.before, edit.after);
    return "";
  }
  std::string all;
  for (const std::string& one : edit.after) all += (all.empty() ? "" : "\n") + one;
  return all;
}

TEST(SourceEditOrder, EverySpelling) {
  EXPECT_EQ(changed("  if (x.load(std::memory_order_relaxed)) {", 1, 9, "acquire"),
            "  if (x.load(std::memory_order_acquire)) {");
  EXPECT_EQ(changed("x.store(f(1), memory_order::relaxed);", 1, 3, "release"),
            "x.store(f(1), memory_order::release);");
  EXPECT_EQ(changed("atomic_load_explicit(&x, memory_order_consume);", 1, 1, "seq_cst"),
            "atomic_load_explicit(&x, memory_order_seq_cst);");
  EXPECT_EQ(changed("__atomic_store_n(&x, 1, __ATOMIC_RELAXED);", 1, 1, "acq_rel"),
            "__atomic_store_n(&x, 1, __ATOMIC_ACQ_REL);");
}

TEST(SourceEditOrder, OnlyOfThatCall) {
  std::string nested = "x.store(y.load(std::memory_order_relaxed), std::memory_order_relaxed);";
  EXPECT_EQ(changed(nested, 1, 3, "release"),
            "x.store(y.load(std::memory_order_relaxed), std::memory_order_release);");
  EXPECT_EQ(changed(nested, 1, 11, "acquire"),
            "x.store(y.load(std::memory_order_acquire), std::memory_order_relaxed);");
}

TEST(SourceEditOrder, BothSidesOfACompareAndExchange) {
  EXPECT_EQ(changed("while (!x.compare_exchange_weak(old, old + 1,\n"
                    "                                std::memory_order_relaxed,\n"
                    "                                std::memory_order_relaxed)) {}",
                    1, 11, "acq_rel", "acquire"),
            "while (!x.compare_exchange_weak(old, old + 1,\n"
            "                                std::memory_order_acq_rel,\n"
            "                                std::memory_order_acquire)) {}");
  EXPECT_EQ(
      changed("x.compare_exchange_strong(a, b, std::memory_order_relaxed);", 1, 3, "release", "relaxed"),
      "x.compare_exchange_strong(a, b, std::memory_order_release);");
}

TEST(SourceEditOrder, WhatIsNotSpelledOutIsLeftToPeople) {
  EXPECT_EQ(changed("x.load(kOrder);", 1, 3, "acquire"), "");
  EXPECT_EQ(changed("x.store(1, weak ? memory_order_relaxed : memory_order_release);", 1, 3, "release"), "");
  EXPECT_EQ(changed("x.load(my_memory_order_relaxed);", 1, 3, "acquire"), "");
  EXPECT_EQ(changed("++x; y.load(std::memory_order_relaxed);", 1, 1, "acq_rel"), "");
  EXPECT_EQ(changed("x.load(/* weak */ std::memory_order_relaxed);", 1, 3, "acquire"), "");
  EXPECT_EQ(changed("x.load(std::memory_order_relaxed", 1, 3, "acquire"), "");
  EXPECT_EQ(changed("x.load(std::memory_order_relaxed);", 2, 3, "acquire"), "");
  EXPECT_EQ(changed("x.load(std::memory_order_relaxed);", 1, 0, "acquire"), "");
}

}  // namespace
}  // namespace duress::repair
