// SPDX-License-Identifier: Apache-2.0
#include "collide/decoder.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace duress::collide {
namespace {

constexpr Address kHere = 0x1000;

Instruction decoded(std::initializer_list<unsigned char> bytes) {
  std::string text(bytes.begin(), bytes.end());
  auto instruction = decode(text, kHere);
  EXPECT_TRUE(instruction);
  if (!instruction) return {};
  EXPECT_EQ(instruction->length, bytes.size()) << disassemble(text, kHere);
  return *instruction;
}

TEST(Decoder, UpdateOfAGlobal) {
  Instruction i = decoded({0x48, 0x83, 0x05, 0x08, 0x2d, 0, 0, 1});  // add qword ptr [rip + 0x2d08], 1
  ASSERT_EQ(i.operands, 1);
  EXPECT_EQ(i.operand[0].base, kRip);
  EXPECT_EQ(i.operand[0].displacement, 0x1000 + 8 + 0x2d08);
  EXPECT_EQ(i.operand[0].size, 8u);
  EXPECT_TRUE(i.operand[0].reads);
  EXPECT_TRUE(i.operand[0].writes);
  EXPECT_EQ(i.update, Update::kAdds);
  EXPECT_FALSE(i.atomic);
  EXPECT_EQ(i.operand[0].address(Registers{}, 0x500000), 0x500000u + 0x1008 + 0x2d08);
}

TEST(Decoder, AddressFromBaseIndexAndDisplacement) {
  Instruction i = decoded({0x8b, 0x44, 0x8f, 0xf8});  // mov eax, [rdi + rcx*4 - 8]
  ASSERT_EQ(i.operands, 1);
  Registers registers;
  registers[5] = 0x7000;  // rdi
  registers[2] = 3;       // rcx
  EXPECT_EQ(i.operand[0].address(registers, 0x999), 0x7000u + 12 - 8);
  EXPECT_TRUE(i.plain_load);
  EXPECT_FALSE(i.operand[0].writes);
  EXPECT_EQ(i.reads_registers, 1u << 5 | 1u << 2);
  EXPECT_EQ(i.writes_registers, 1u << 0);
}

TEST(Decoder, EveryRegisterHasItsDwarfNumber) {
  const int expected[16] = {0, 2, 1, 3, -1, 6, 4, 5, 8, 9, 10, 11, -1, 13, 14, 15};
  for (unsigned char number = 0; number < 16; ++number) {
    if (expected[number] < 0) continue;  // rsp and r12 need another form
    Instruction i = decoded({static_cast<unsigned char>(0x48 | number >> 3), 0x8b,
                             static_cast<unsigned char>(0x40 | (number & 7)), 0x10});  // mov rax, [reg + 16]
    ASSERT_EQ(i.operands, 1);
    EXPECT_EQ(i.operand[0].base, expected[number]);
  }
}

TEST(Decoder, AtomicInstructions) {
  EXPECT_TRUE(decoded({0xf0, 0x0f, 0xc1, 0x07}).atomic);  // lock xadd [rdi], eax
  EXPECT_TRUE(decoded({0x87, 0x07}).atomic);              // xchg [rdi], eax: without a prefix too
  EXPECT_FALSE(decoded({0x0f, 0xb1, 0x0f}).atomic);       // cmpxchg [rdi], ecx
  EXPECT_FALSE(decoded({0x87, 0xc3}).atomic);             // xchg ebx, eax
}

TEST(Decoder, TheStackThreadLocalsAndHintsAreNoOperands) {
  EXPECT_EQ(decoded({0x50}).operands, 0);                                // push rax
  EXPECT_EQ(decoded({0xc3}).operands, 0);                                // ret
  EXPECT_EQ(decoded({0xe8, 0, 0, 0, 0}).operands, 0);                    // call
  EXPECT_EQ(decoded({0xc9}).operands, 0);                                // leave
  EXPECT_EQ(decoded({0x8b, 0x44, 0x24, 0x08}).operands, 0);              // mov eax, [rsp + 8]
  EXPECT_EQ(decoded({0x64, 0x8b, 0x04, 0x25, 0, 0, 0, 0}).operands, 0);  // mov eax, fs:[0]
  EXPECT_EQ(decoded({0x0f, 0x1f, 0x44, 0x00, 0x00}).operands, 0);        // nop [rax + rax]
  EXPECT_EQ(decoded({0x0f, 0x18, 0x08}).operands, 0);                    // prefetcht0 [rax]
  EXPECT_EQ(decoded({0x48, 0x8d, 0x47, 0x08}).operands, 0);              // lea rax, [rdi + 8]
  EXPECT_EQ(decoded({0xff, 0x25, 0x10, 0, 0, 0}).operands, 0);           // jmp [rip + 16]: the linker's table
  EXPECT_EQ(decoded({0xff, 0x50, 0x08}).operands, 1);                    // call [rax + 8]: a virtual function
}

TEST(Decoder, UnsureInstructions) {
  EXPECT_TRUE(decoded({0x0f, 0x44, 0x07}).unsure);                    // cmove eax, [rdi]
  EXPECT_TRUE(decoded({0x0f, 0xa3, 0x07}).unsure);                    // bt [rdi], eax: any bit from there on
  EXPECT_TRUE(decoded({0xc4, 0xe2, 0x75, 0x2c, 0x07}).unsure);        // vmaskmovps ymm0, ymm1, [rdi]
  EXPECT_TRUE(decoded({0xc4, 0xe2, 0x75, 0x92, 0x04, 0x97}).unsure);  // vgatherdps ymm0, [rdi + ymm2*4], ymm1
  EXPECT_TRUE(decoded({0x67, 0x8b, 0x07}).unsure);                    // mov eax, [edi]
  EXPECT_FALSE(decoded({0x0f, 0xba, 0x2f, 0x03}).unsure);             // bts [rdi], 3
}

TEST(Decoder, Bits) {
  Instruction i = decoded({0x83, 0x0f, 0x04});  // or dword ptr [rdi], 4
  EXPECT_EQ(i.update, Update::kBits);
  EXPECT_EQ(i.bits, 4u);
  i = decoded({0x80, 0x27, 0xfe});  // and byte ptr [rdi], 0xfe
  EXPECT_EQ(i.update, Update::kBits);
  EXPECT_EQ(i.bits, 1u);
  i = decoded({0xf6, 0x07, 0x10});  // test byte ptr [rdi], 16
  EXPECT_EQ(i.update, Update::kNone);
  EXPECT_EQ(i.bits, 16u);
  i = decoded({0x0f, 0xba, 0x2f, 0x23});  // bts dword ptr [rdi], 35: bit 3
  EXPECT_EQ(i.bits, 8u);
}

TEST(Decoder, VectorsAndStrings) {
  Instruction i = decoded({0x0f, 0x11, 0x07});  // movups [rdi], xmm0
  EXPECT_TRUE(i.vector);
  EXPECT_EQ(i.operand[0].size, 16u);
  i = decoded({0xf3, 0xa4});  // rep movsb
  EXPECT_TRUE(i.repeats);
  ASSERT_EQ(i.operands, 2);
  EXPECT_NE(i.operand[0].writes, i.operand[1].writes);
}

TEST(Decoder, Jumps) {
  Instruction i = decoded({0x74, 0x10});  // je +16
  EXPECT_TRUE(i.jumps);
  EXPECT_EQ(i.target, kHere + 2 + 16);
  i = decoded({0xe8, 0x10, 0, 0, 0});
  EXPECT_TRUE(i.calls);
  EXPECT_EQ(i.target, kHere + 5 + 16);
}

TEST(Decoder, NoInstruction) {
  EXPECT_FALSE(decode(std::string("\x06", 1), kHere));
  EXPECT_FALSE(decode("", kHere));
  EXPECT_FALSE(decode(std::string("\x48\x83", 2), kHere));  // cut off
  EXPECT_EQ(disassemble(std::string("\x06", 1), kHere), "");
}

}  // namespace
}  // namespace duress::collide
