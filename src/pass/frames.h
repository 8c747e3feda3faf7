// SPDX-License-Identifier: Apache-2.0
//
// Keeps the thread's shadow call stack, from which the runtime takes the stacks of both accesses of a
// race. A function that calls others pushes a frame at entry and pops it at each exit. A function that
// calls none pays nothing: its frame is pushed only around the hooks on its cold side.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "pass/hook_set.h"

namespace duress::pass {

class Frames {
 public:
  Frames(llvm::Function& function, HookSet& hooks);

  /// Push at entry, pop at exits, restore where control arrives from a deeper frame (landing pads,
  /// setjmp returning again).
  void instrument_body();

  /// For functions that make no calls: around one hook call.
  void push_around(llvm::IRBuilderBase& builder, bool before);

 private:
  llvm::Value* push(llvm::IRBuilderBase& builder);
  llvm::Value* top(llvm::IRBuilderBase& builder);
  void set_top(llvm::IRBuilderBase& builder, llvm::Value* frame);

  llvm::Function& function_;
  HookSet& hooks_;
  llvm::Value* frame_ = nullptr;  // pushed by push_around
};

}  // namespace duress::pass
