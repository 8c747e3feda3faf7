// SPDX-License-Identifier: Apache-2.0
#include "collide/function.h"

#include <gtest/gtest.h>

namespace duress::collide {
namespace {

using Bytes = std::vector<unsigned char>;
constexpr Address kBegin = 0x2000;

std::optional<Function> function(std::initializer_list<Bytes> instructions) {
  std::string text;
  for (const Bytes& bytes : instructions) text.append(bytes.begin(), bytes.end());
  return Function::decode(text, kBegin);
}

const Bytes kLoad = {0x8b, 0x07};                     // mov eax, [rdi]
const Bytes kStore = {0x89, 0x07};                    // mov [rdi], eax
const Bytes kIncrement = {0x83, 0xc0, 0x01};          // add eax, 1
const Bytes kConstant = {0xb8, 1, 0, 0, 0};           // mov eax, 1
const Bytes kNextPointer = {0x48, 0x83, 0xc7, 0x08};  // add rdi, 8
const Bytes kReturn = {0xc3};
const Bytes kNop = {0x90};

TEST(Function, LoadAddStoreIsAnUpdate) {
  auto f = function({kLoad, kIncrement, kStore, kReturn});
  ASSERT_TRUE(f);
  EXPECT_TRUE(f->updates(0));
  EXPECT_FALSE(f->updates(1));
  EXPECT_TRUE(f->updates(2));
}

TEST(Function, LeaMakesANewValueToo) {
  auto f =
      function({kLoad, {0x8d, 0x50, 0x01}, {0x89, 0x17}, kReturn});  // lea edx, [rax + 1]; mov [rdi], edx
  ASSERT_TRUE(f);
  EXPECT_TRUE(f->updates(0));
  EXPECT_TRUE(f->updates(2));
}

TEST(Function, TestThenSetIsNone) {
  // if (x == 0) x = 1: right for an atomic flag.
  auto f = function({kLoad, {0x85, 0xc0}, kConstant, kStore, kReturn});
  ASSERT_TRUE(f);
  EXPECT_FALSE(f->updates(0));
  EXPECT_FALSE(f->updates(3));
}

TEST(Function, AnotherPlaceIsNone) {
  auto f = function({kLoad, kIncrement, kNextPointer, kStore, kReturn});
  ASSERT_TRUE(f);
  EXPECT_FALSE(f->updates(0));
  EXPECT_FALSE(f->updates(3));
}

TEST(Function, NotAcrossALabelOrACall) {
  // jmp from the end to the store: it may come from elsewhere.
  auto label = function({kLoad, kIncrement, kStore, {0xeb, 0xfc}});
  ASSERT_TRUE(label);
  EXPECT_FALSE(label->updates(0));
  auto call = function({kLoad, {0xe8, 0, 1, 0, 0}, kStore, kReturn});
  ASSERT_TRUE(call);
  EXPECT_FALSE(call->updates(2));
}

TEST(Function, JumpIntoAnInstructionIsLeftAlone) {
  EXPECT_TRUE(function({kNop, kConstant, {0xeb, 0xf8}}));   // to the nop
  EXPECT_FALSE(function({kNop, kConstant, {0xeb, 0xfa}}));  // into the constant
}

TEST(Function, DataAmongTheCodeIsLeftAlone) {
  EXPECT_FALSE(function({kLoad, {0x06, 0x07}, kReturn}));
  EXPECT_FALSE(function({kLoad, kReturn, {0x48, 0x83}}));  // the last one is cut off
}

TEST(Function, WhichAreSampled) {
  auto f = function({kLoad,
                     {0x8b, 0x05, 0x10, 0, 0, 0},  // mov eax, [rip + 16]: 0x2018
                     {0x8b, 0x05, 0x10, 0, 0, 0},  // ... 0x201e
                     {0xf0, 0x01, 0x07},           // lock add [rdi], eax
                     {0x8b, 0x44, 0x24, 0x08},     // mov eax, [rsp + 8]
                     {0x8b, 0x45, 0xfc},           // mov eax, [rbp - 4]
                     kStore,
                     kReturn});
  ASSERT_TRUE(f);
  auto writable = [](Address address) { return address == 0x2018; };
  EXPECT_EQ(f->samples(writable), (std::vector<std::size_t>{0, 1, 5, 6}));
}

TEST(Function, AFramePointerPointsToTheStack) {
  auto f = function({{0x55}, {0x48, 0x89, 0xe5}, {0x8b, 0x45, 0xfc}, kLoad, {0x5d}, kReturn});
  ASSERT_TRUE(f);
  EXPECT_EQ(f->samples([](Address) { return true; }), std::vector<std::size_t>{3});
}

TEST(Function, ALoadForACmovIsNotBelieved) {
  // mov eax, [rdi]; test esi, esi; cmove eax, edx
  auto f = function({kLoad, {0x85, 0xf6}, {0x0f, 0x44, 0xc2}, kReturn});
  ASSERT_TRUE(f);
  EXPECT_TRUE(f->speculative(0));
  EXPECT_TRUE(f->samples([](Address) { return true; }).empty());
  // Used before: the source wanted it.
  auto used = function({kLoad, {0x01, 0xc1}, {0x0f, 0x44, 0xc2}, kReturn});
  ASSERT_TRUE(used);
  EXPECT_FALSE(used->speculative(0));
}

TEST(Function, ByAddress) {
  auto f = function({kLoad, kIncrement, kStore, kReturn});
  ASSERT_TRUE(f);
  EXPECT_EQ(f->at(kBegin + 2), 1u);
  EXPECT_FALSE(f->at(kBegin + 3));
  EXPECT_EQ(f->ending_at(kBegin + 2), 0u);
  EXPECT_EQ(f->ending_at(kBegin + 8), 3u);
  EXPECT_FALSE(f->ending_at(kBegin));
  EXPECT_FALSE(f->ending_at(kBegin + 3));
}

}  // namespace
}  // namespace duress::collide
