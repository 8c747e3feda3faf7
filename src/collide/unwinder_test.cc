// SPDX-License-Identifier: Apache-2.0
//
// A copy of the test's own stack, unwound after the functions have returned.
#include "collide/unwinder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "collide/space.h"

namespace duress::collide {
namespace {

struct Copy {
  Registers registers;
  std::string stack;
} copy;

__attribute__((noinline)) void take_copy() {
  Registers& r = copy.registers;
  // What the unwinder needs here: the registers that callers expect back, the stack, and where we are.
  asm volatile("mov %%rbx, %0" : "=m"(r.value[3]));
  asm volatile("mov %%rbp, %0" : "=m"(r.value[6]));
  asm volatile("mov %%r12, %0" : "=m"(r.value[12]));
  asm volatile("mov %%r13, %0" : "=m"(r.value[13]));
  asm volatile("mov %%r14, %0" : "=m"(r.value[14]));
  asm volatile("mov %%r15, %0" : "=m"(r.value[15]));
  asm volatile("mov %%rsp, %0" : "=m"(r.value[7]));
  asm volatile("lea 0(%%rip), %%rax\n\tmov %%rax, %0" : "=m"(r.value[16])::"rax");
  copy.stack.resize(2048);
  TargetMemory(getpid()).read(r[kRsp], copy.stack.data(), copy.stack.size());
}

__attribute__((noinline)) Address inner() {
  take_copy();
  asm volatile("");
  return reinterpret_cast<Address>(__builtin_return_address(0));
}

__attribute__((noinline)) Address outer() {
  Address address = inner();
  asm volatile("");
  return address;
}

TEST(Unwinder, CallersOfACopiedStack) {
  Space space(getpid());
  space.refresh();
  Address in_outer = outer();
  Unwinder unwinder(space.records());
  std::vector<Address> callers = unwinder.callers(copy.registers, copy.stack);
  ASSERT_GE(callers.size(), 3u);
  auto close_to = [](Address a, const void* function) {
    return a - reinterpret_cast<Address>(function) < 256;
  };
  EXPECT_TRUE(close_to(callers[0], reinterpret_cast<const void*>(&inner)));
  EXPECT_EQ(callers[1], in_outer);
  // Again, and from nowhere.
  EXPECT_EQ(unwinder.callers(copy.registers, copy.stack), callers);
  Registers nowhere;
  EXPECT_TRUE(unwinder.callers(nowhere, "").empty());
}

TEST(Space, KnowsItself) {
  Space space(getpid());
  EXPECT_TRUE(space.records().empty());
  space.refresh();
  EXPECT_FALSE(space.records().empty());
  Module* module = space.module_at(reinterpret_cast<Address>(&outer));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->path(), std::filesystem::read_symlink("/proc/self/exe").string());
  std::size_t before = space.records().size();
  space.refresh();
  EXPECT_EQ(space.records().size(), before);
}

}  // namespace
}  // namespace duress::collide
