// SPDX-License-Identifier: Apache-2.0
//
// Writes race checks into a body. The common case, "this thread has accessed these bytes before in its
// current epoch", is decided inline against the shadow cell; everything else is a call on the cold side.
#ifndef DURESS_PASS_CHECK_EMITTER_H_
#define DURESS_PASS_CHECK_EMITTER_H_

#include "llvm/IR/IRBuilder.h"
#include "pass/check_plan.h"
#include "pass/frames.h"
#include "pass/unit.h"

namespace duress::pass {

class CheckEmitter {
 public:
  /// `leaf`: the body makes no calls, so hooks push its frame themselves.
  CheckEmitter(llvm::Function& function, Unit& unit, uint32_t function_index, bool leaf);

  void emit(const Check& check);

  /// Checks `bytes` bytes at `start` before `inst`, whose site it is. Emitted at `builder`.
  void emit_range(llvm::IRBuilderBase& builder, llvm::Instruction* inst, llvm::Value* start, llvm::Value* bytes,
                  bool write, uint64_t site_size);

  /// Pushes and pops the frame around hooks in leaf bodies; nothing elsewhere.
  void around(llvm::IRBuilderBase& builder, bool before);

 private:
  llvm::Value* failed(llvm::IRBuilderBase& builder, const Check& check, llvm::Value* address);
  /// `mask`: the bits of the accessed bytes, after rotating right by `rotation` if that is given.
  llvm::Value* word_failed(llvm::IRBuilderBase& builder, llvm::Value* cell, uint8_t mask, llvm::Value* rotation);

  llvm::Function& function_;
  Unit& unit_;
  const llvm::DataLayout& layout_;
  uint32_t function_index_;
  bool leaf_;
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

#endif  // DURESS_PASS_CHECK_EMITTER_H_
