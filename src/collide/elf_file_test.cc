// SPDX-License-Identifier: Apache-2.0
//
// The test looks at its own binary.
#include "collide/elf_file.h"

#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "collide/function.h"
#include "collide/module.h"
#include "collide/target_memory.h"

int elf_file_test_variable = 1;
extern const int elf_file_test_constant;
const int elf_file_test_constant = 2;

extern "C" __attribute__((noinline)) int elf_file_test_function(int* p) {
  *p += 3;
  return *p;
}

namespace duress::collide {
namespace {

std::string own_bytes() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Address own_bias() {
  Address bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<Address*>(out) = info->dlpi_addr;
        return 1;
      },
      &bias);
  return bias;
}

Address in_file(const void* at) {
  return reinterpret_cast<Address>(at) - own_bias();
}

bool has_function(ElfFile& file, Address begin) {
  const std::vector<Range>& all = file.functions();
  return std::any_of(all.begin(), all.end(), [&](const Range& range) { return range.begin == begin; });
}

TEST(ElfFile, FunctionsAndTheirCode) {
  auto file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  Address begin = in_file(reinterpret_cast<const void*>(&elf_file_test_function));
  const std::vector<Range>& all = file->functions();
  auto it = std::find_if(all.begin(), all.end(), [&](const Range& range) { return range.begin == begin; });
  ASSERT_NE(it, all.end());
  auto function = Function::decode(file->code(*it), it->begin);
  ASSERT_TRUE(function);
  EXPECT_FALSE(function->instructions().empty());
  for (std::size_t i = 1; i < all.size(); ++i) ASSERT_LE(all[i - 1].end, all[i].begin);
}

TEST(ElfFile, WhatCanBeWritten) {
  auto file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->writable(in_file(&elf_file_test_variable)));
  EXPECT_FALSE(file->writable(in_file(&elf_file_test_constant)));
  EXPECT_FALSE(file->writable(in_file(reinterpret_cast<const void*>(&elf_file_test_function))));
}

TEST(ElfFile, BiasOfAMapping) {
  auto file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  for (const Mapping& mapping : read_maps(getpid())) {
    if (!mapping.executable || mapping.path != std::filesystem::read_symlink("/proc/self/exe")) continue;
    EXPECT_EQ(file->bias(mapping.begin, mapping.offset), own_bias());
    return;
  }
  FAIL() << "the test is not mapped";
}

TEST(ElfFile, TheHeaderOfTheTablesMayBeMissing) {
  std::string bytes = own_bytes();
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    char* at = bytes.data() + header.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr segment;
    std::memcpy(&segment, at, sizeof segment);
    if (segment.p_type != PT_GNU_EH_FRAME) continue;
    segment.p_type = PT_NULL;
    std::memcpy(at, &segment, sizeof segment);
  }
  auto file = ElfFile::from_bytes(bytes);
  ASSERT_TRUE(file);
  EXPECT_TRUE(has_function(*file, in_file(reinterpret_cast<const void*>(&elf_file_test_function))));
}

TEST(ElfFile, DamageNeverHurts) {
  const std::string whole = own_bytes();
  EXPECT_FALSE(ElfFile::from_bytes(""));
  EXPECT_FALSE(
      ElfFile::from_bytes("not ELF at all, but long enough to hold a header of such a file, if it were one"));
  for (std::size_t keep = 64; keep < whole.size(); keep = keep * 3 / 2) {
    if (auto file = ElfFile::from_bytes(whole.substr(0, keep))) file->functions();
  }
  // Every byte of the head and of the tables' beginning in turn.
  auto good = ElfFile::from_bytes(whole);
  ASSERT_TRUE(good);
  for (std::size_t i = 0; i < 64 + 14 * sizeof(Elf64_Phdr); ++i) {
    std::string bad = whole.substr(0, 1 << 16);
    bad[i] = static_cast<char>(~bad[i]);
    if (auto file = ElfFile::from_bytes(bad)) {
      file->functions();
      file->extent();
      file->only_gcc();
    }
  }
}

TEST(ElfFile, Class) {
  EXPECT_EQ(elf_class("/proc/self/exe"), 64);
  EXPECT_EQ(elf_class("/etc/passwd"), 0);
  EXPECT_EQ(elf_class("/nonexistent"), 0);
}

TEST(Module, TheRunTimeSystemIsKnown) {
  for (const char* path : {"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2",
                           "/usr/lib/libstdc++.so.6.0.30", "/lib/ld-musl-x86_64.so.1"})
    EXPECT_TRUE(is_runtime_library(path)) << path;
  for (const char* path : {"/usr/bin/xz", "/usr/lib/liblzma.so.5", "/opt/libcache.so"})
    EXPECT_FALSE(is_runtime_library(path)) << path;
}

TEST(Module, EveryInstructionHasTheSameChance) {
  Module module(0, "/proc/self/exe", ElfFile::open("/proc/self/exe"), own_bias());
  auto function = module.function_at(reinterpret_cast<Address>(&elf_file_test_function));
  ASSERT_TRUE(function);
  Prng prng(1);
  std::size_t found = 0;
  for (int i = 0; i < 20000; ++i) {
    auto pick = module.pick(prng);
    if (!pick) continue;
    ++found;
    // An instruction, with the bytes that are there.
    std::string bytes = module.bytes(pick->address, pick->length);
    auto instruction = decode(bytes, pick->address);
    ASSERT_TRUE(instruction);
    ASSERT_EQ(instruction->length, pick->length);
    ASSERT_GE(instruction->operands, 1);
    ASSERT_FALSE(instruction->atomic);
    ASSERT_EQ(std::memcmp(reinterpret_cast<const void*>(pick->address), bytes.data(), bytes.size()), 0);
  }
  EXPECT_GT(found, 100u);
}

}  // namespace
}  // namespace duress::collide
