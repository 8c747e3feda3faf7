// SPDX-License-Identifier: Apache-2.0
//
// The test looks itself up.
#include "report/symbolizer.h"

#include <gtest/gtest.h>
#include <link.h>

int symbolizer_test_global[4] = {1, 2, 3, 4};

namespace duress::report {
namespace {

std::uintptr_t load_bias() {
  std::uintptr_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<std::uintptr_t*>(out) = info->dlpi_addr;
        return 1;
      },
      &bias);
  return bias;
}

__attribute__((noinline)) std::uintptr_t return_address() {
  return reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
}

struct Marker {
  __attribute__((noinline)) static std::uintptr_t inside(int) {
    std::uintptr_t address = return_address();
    asm volatile("");
    return address;
  }
};

TEST(Symbolizer, NamesFunctionsWithAndWithoutParameters) {
  Symbolizer symbolizer;
  auto frames = symbolizer.code("/proc/self/exe", Marker::inside(1) - load_bias() - 1);
  ASSERT_FALSE(frames.empty());
  const finding::Frame& frame = frames.back();
  EXPECT_EQ(frame.function, "duress::report::(anonymous namespace)::Marker::inside");
  EXPECT_EQ(frame.signature, "duress::report::(anonymous namespace)::Marker::inside(int)");
}

/// Mangled, `w` would be wchar_t.
extern "C" __attribute__((noinline, used)) std::uintptr_t w() {
  std::uintptr_t address = return_address();
  asm volatile("");
  return address;
}

TEST(Symbolizer, NamesOfCAreNotDemangled) {
  Symbolizer symbolizer;
  auto frames = symbolizer.code("/proc/self/exe", w() - load_bias() - 1);
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(frames.back().function, "w");
  EXPECT_EQ(frames.back().signature, "w");
}

TEST(Symbolizer, FindsGlobalsAndTheirOffsets) {
  Symbolizer symbolizer;
  auto address = reinterpret_cast<std::uintptr_t>(&symbolizer_test_global[2]) - load_bias();
  auto data = symbolizer.data("/proc/self/exe", address);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->name, "symbolizer_test_global");
  EXPECT_EQ(address - data->start, 8u);
  EXPECT_GE(data->size, 16u);  // AddressSanitizer makes it longer
}

/// LLVM takes what follows a colon for an architecture, and crashed here.
TEST(Symbolizer, ArchitecturesInPathsAreNoArchitectures) {
  Symbolizer symbolizer;
  for (const char* module : {"/nonexistent", "/nonexistent:x86_64-", "/nonexistent:i386", ":x86_64-", ""}) {
    EXPECT_EQ(symbolizer.code(module, 0x1234)[0].function, "") << module;
    EXPECT_FALSE(symbolizer.data(module, 0x1234)) << module;
  }
  auto address = reinterpret_cast<std::uintptr_t>(&symbolizer_test_global[2]) - load_bias();
  EXPECT_FALSE(symbolizer.data("/proc/self/exe:x86_64", address)) << "another file";
}

TEST(Symbolizer, OnlyRegularFilesAreOpened) {
  Symbolizer symbolizer;
  for (const std::string& module :
       {std::string("/dev/zero"), std::string("/dev"), std::string("/proc/self/exe\0x", 16)})
    EXPECT_EQ(symbolizer.code(module, 0x1234)[0].function, "") << module;
}

TEST(Symbolizer, MissingFilesGiveAddresses) {
  Symbolizer symbolizer;
  auto frames = symbolizer.code("/nonexistent/program", 0x1234);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].module_offset, 0x1234u);
  EXPECT_EQ(frames[0].function, "");
  EXPECT_FALSE(symbolizer.data("/nonexistent/program", 0x1234));
  EXPECT_EQ(symbolizer.code("/etc/passwd", 1).size(), 1u);
}

}  // namespace
}  // namespace duress::report
