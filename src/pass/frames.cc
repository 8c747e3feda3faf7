// SPDX-License-Identifier: Apache-2.0
#include "pass/frames.h"

#include <duress/hooks.h>

#include <cstddef>

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "pass/compat.h"

namespace duress::pass {
namespace {

template <class Inst>
Inst* unseen(Inst* inst) {
  inst->setMetadata(llvm::LLVMContext::MD_nosanitize, llvm::MDNode::get(inst->getContext(), {}));
  return inst;
}

}  // namespace

Frames::Frames(llvm::Function& function, HookSet& hooks) : function_(function), hooks_(hooks) {}

/// The fast instruction selector, which faithful bodies are for, cannot access thread-local variables: at
/// such an access it would leave all of the block above it to the slow one. A call of the intrinsic is the
/// only instruction that it leaves.
llvm::Value* Frames::top(llvm::IRBuilderBase& builder) {
  if (!function_.hasOptNone()) return hooks_.self(offsetof(DuressSelf, frames));
  llvm::Value* self = builder.CreateThreadLocalAddress(llvm::cast<llvm::GlobalVariable>(hooks_.self(0)));
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), self, offsetof(DuressSelf, frames));
}

void Frames::set_top(llvm::IRBuilderBase& builder, llvm::Value* frame) {
  unseen(builder.CreateStore(frame, top(builder)));
}

llvm::Value* Frames::push(llvm::IRBuilderBase& builder) {
  llvm::Value* top_of_stack = top(builder);
  llvm::Value* frame = unseen(builder.CreateLoad(builder.getPtrTy(), top_of_stack));
  llvm::Value* caller = builder.CreateCall(intrinsic(*function_.getParent(), llvm::Intrinsic::returnaddress),
                                           {builder.getInt32(0)});
  unseen(builder.CreateStore(caller, frame));
  llvm::Value* node = builder.CreateConstGEP1_64(builder.getInt8Ty(), frame, offsetof(DuressFrame, node));
  unseen(builder.CreateStore(builder.getInt64(0), node));
  llvm::Value* above = builder.CreateConstGEP1_64(builder.getInt8Ty(), frame, sizeof(DuressFrame));
  unseen(builder.CreateStore(above, top_of_stack));
  return frame;
}

void Frames::push_around(llvm::IRBuilderBase& builder, bool before) {
  if (before) {
    frame_ = push(builder);
  } else {
    set_top(builder, frame_);
  }
}

void Frames::instrument_body() {
  llvm::BasicBlock& entry = function_.getEntryBlock();
  auto start = entry.getFirstInsertionPt();
  while (llvm::isa<llvm::AllocaInst>(*start)) ++start;
  llvm::IRBuilder<> builder(&*start);
  if (llvm::DISubprogram* info = function_.getSubprogram()) {
    builder.SetCurrentDebugLocation(
        llvm::DILocation::get(function_.getContext(), info->getScopeLine(), 0, info));
  }
  llvm::Value* frame = push(builder);
  auto above = [&](llvm::IRBuilderBase& at) {
    return at.CreateConstGEP1_64(at.getInt8Ty(), frame, sizeof(DuressFrame));
  };

  for (llvm::BasicBlock& block : function_) {
    if (block.isLandingPad()) {
      llvm::IRBuilder<> at(&*block.getFirstInsertionPt());
      set_top(at, above(at));
    }
    for (llvm::Instruction& inst : block) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&inst);
      if (call == nullptr || !call->canReturnTwice()) continue;
      llvm::IRBuilder<> at(call->getNextNode());
      set_top(at, above(at));
    }
    llvm::Instruction* end = block.getTerminator();
    if (llvm::isa<llvm::ReturnInst>(end)) {
      llvm::Instruction* tail = block.getTerminatingMustTailCall();
      llvm::IRBuilder<> at(tail != nullptr ? tail : end);
      set_top(at, frame);
    } else if (llvm::isa<llvm::ResumeInst>(end)) {
      llvm::IRBuilder<> at(end);
      set_top(at, frame);
    }
  }
}

}  // namespace duress::pass
