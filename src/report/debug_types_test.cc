// SPDX-License-Identifier: Apache-2.0
//
// The test looks up its own variables; it is compiled with -g -O2 whatever the build.
#include "report/debug_types.h"

#include <gtest/gtest.h>
#include <link.h>

#include <atomic>
#include <cstddef>

namespace debug_types_test {

struct Inner {
  int low = 1, high = 2;
};
struct Holder {
  long plain = 1;
  std::atomic<int> atomic{2};
  volatile int changing = 3;
  Inner inner;
  int list[4] = {};
  unsigned bits : 3 = 1, more : 5 = 2;
};

int number = 1;
std::atomic<long> atomic_number{1};
volatile int volatile_number = 1;
Holder holder;
short table[10];

/// mov rax, [rdi + offset of plain] and so on, at the first byte.
__attribute__((noinline)) long read_plain(const Holder* p) {
  return p->plain;
}
__attribute__((noinline)) int read_atomic(const Holder* p) {
  return p->atomic.load(std::memory_order_relaxed);
}

}  // namespace debug_types_test

namespace duress::report {
namespace {

using namespace debug_types_test;
constexpr std::uint64_t kNowhere = 0x7fff00000000;

std::uintptr_t in_file(const volatile void* at) {
  std::uintptr_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<std::uintptr_t*>(out) = info->dlpi_addr;
        return 1;
      },
      &bias);
  return reinterpret_cast<std::uintptr_t>(at) - bias;
}

class DebugTypesTest : public testing::Test {
 protected:
  void expect_global(const volatile void* at, std::size_t size, const char* name, Declared declared) {
    auto found = types_.global(in_file(at), size);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->name, name);
    EXPECT_EQ(found->declared, declared) << name;
  }
  DebugTypes types_{"/proc/self/exe"};
};

TEST_F(DebugTypesTest, Globals) {
  expect_global(&number, 4, "debug_types_test::number", Declared::kPlain);
  expect_global(&atomic_number, 8, "debug_types_test::atomic_number", Declared::kAtomic);
  expect_global(&volatile_number, 4, "debug_types_test::volatile_number", Declared::kVolatile);
  expect_global(&table[3], 2, "debug_types_test::table[]", Declared::kPlain);
}

TEST_F(DebugTypesTest, FieldsOfAGlobal) {
  expect_global(&holder.plain, 8, "debug_types_test::Holder::plain", Declared::kPlain);
  expect_global(&holder.atomic, 4, "debug_types_test::Holder::atomic", Declared::kAtomic);
  expect_global(&holder.changing, 4, "debug_types_test::Holder::changing", Declared::kVolatile);
  expect_global(&holder.inner.high, 4, "debug_types_test::Holder::inner.high", Declared::kPlain);
  expect_global(&holder.list[2], 4, "debug_types_test::Holder::list[]", Declared::kPlain);
  auto* after = reinterpret_cast<const char*>(&holder.list[4]);
  expect_global(after, 1, "debug_types_test::Holder::bits", Declared::kPlain);
}

TEST_F(DebugTypesTest, WhatARegisterPointsTo) {
  finding::OperandRecord operand;
  operand.base = 5;  // rdi, the first argument
  operand.displacement = offsetof(Holder, plain);
  auto found = types_.behind(in_file(reinterpret_cast<const void*>(&read_plain)), operand, 8);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "debug_types_test::Holder::plain");
  EXPECT_EQ(found->declared, Declared::kPlain);
  operand.displacement = offsetof(Holder, atomic);
  found = types_.behind(in_file(reinterpret_cast<const void*>(&read_atomic)), operand, 4);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->declared, Declared::kAtomic);
  // The next element, if it were an array; a register that holds nothing; no code.
  operand.displacement = sizeof(Holder) + offsetof(Holder, plain);
  EXPECT_EQ(types_.behind(in_file(reinterpret_cast<const void*>(&read_plain)), operand, 8)->name,
            "debug_types_test::Holder::plain");
  operand.base = 12;
  EXPECT_FALSE(types_.behind(in_file(reinterpret_cast<const void*>(&read_plain)), operand, 8));
  EXPECT_FALSE(types_.behind(kNowhere, operand, 8));
}

TEST_F(DebugTypesTest, AtomicsShowInCxx) {
  EXPECT_TRUE(types_.atomics_would_show(in_file(reinterpret_cast<const void*>(&read_plain))));
  EXPECT_FALSE(types_.atomics_would_show(kNowhere));
}

TEST(DebugTypes, FilesWithout) {
  DebugTypes missing("/nonexistent/program"), text("/etc/passwd");
  for (DebugTypes* types : {&missing, &text}) {
    EXPECT_FALSE(types->global(0x1000, 4));
    EXPECT_FALSE(types->behind(0x1000, {}, 4));
    EXPECT_FALSE(types->atomics_would_show(0x1000));
  }
}

}  // namespace
}  // namespace duress::report
