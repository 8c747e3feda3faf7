// SPDX-License-Identifier: Apache-2.0
//
// Writes race checks into a body. The common case, "this thread has accessed these bytes before in its
// current epoch", is decided inline by the thread's filter (include/duress/hooks.h); everything else is a
// call on the cold side.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "pass/check_plan.h"
#include "pass/frames.h"
#include "pass/hot_places.h"
#include "pass/unit.h"

namespace duress::pass {

class CheckEmitter {
 public:
  /// `leaf`: the body makes no calls, so hooks push its frame themselves. In front of `hot` the test is
  /// inline, elsewhere a call.
  CheckEmitter(llvm::Function& function, Unit& unit, uint32_t function_index, bool leaf, Places hot = {});

  void emit(const Check& check);

  /// Checks `bytes` bytes at `start` before `inst`, whose site it is. Emitted at `builder`.
  void emit_range(llvm::IRBuilderBase& builder, llvm::Instruction* inst, llvm::Value* start,
                  llvm::Value* bytes, bool write, uint64_t site_size);

  /// Pushes and pops the frame around hooks in leaf bodies; nothing elsewhere.
  void around(llvm::IRBuilderBase& builder, bool before);

 private:
  /// Where in its granule an access lies, as far as it is known.
  struct Position {
    uint64_t offset;  // if exact
    bool exact;
    bool aligned;    // offset 0
    bool may_cross;  // into the next granule
  };
  Position position(const Check& check);
  void emit_inline(llvm::IRBuilder<>& builder, const Check& check, llvm::Constant* site);
  llvm::Value* failed(llvm::IRBuilderBase& builder, const Check& check);
  llvm::Value* uncovered(llvm::IRBuilderBase& builder, const Check& check, llvm::Value* bits);

  llvm::Function& function_;
  Unit& unit_;
  const llvm::DataLayout& layout_;
  uint32_t function_index_;
  bool leaf_;
  Places hot_;
  Frames frames_;
  llvm::MDNode* unlikely_;
};

/// Splits before `inst`; returns a new block, entered if `condition`, that goes on to `inst`.
llvm::BasicBlock* split_if(llvm::Value* condition, llvm::Instruction* inst, llvm::MDNode* weights);

/// Marks an instruction of ours so that no sanitizer looks at it.
template <class Inst>
Inst* unseen_by_sanitizers(Inst* inst) {
  inst->setMetadata(llvm::LLVMContext::MD_nosanitize, llvm::MDNode::get(inst->getContext(), {}));
  return inst;
}

}  // namespace duress::pass
