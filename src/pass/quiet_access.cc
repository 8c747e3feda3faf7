// SPDX-License-Identifier: Apache-2.0
#include "pass/quiet_access.h"

#include <duress/hooks.h>

#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "pass/bodies.h"
#include "pass/check_emitter.h"
#include "pass/hot_places.h"

namespace duress::pass {
namespace {

constexpr uint64_t kWord = 8;  // bytes that have one byte in the table of watched words

/// A call of a hook that performs an access.
struct HookCall {
  llvm::CallInst* call;
  uint64_t size;
  bool write;
};

bool is_access_hook(llvm::Instruction& inst, HookCall* found) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&inst);
  llvm::Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
  if (callee == nullptr) return false;
  llvm::StringRef name = callee->getName();
  bool write = name.consume_front("__duress_store");
  if (!write && !name.consume_front("__duress_load")) return false;
  uint64_t size;
  if (name.getAsInteger(10, size)) return false;  // __duress_loadn
  *found = {call, size, write};
  return true;
}

class QuietAccesses {
 public:
  QuietAccesses(llvm::Function& function, Unit& unit)
      : function_(function),
        unit_(unit),
        unlikely_(llvm::MDBuilder(function.getContext()).createBranchWeights(1, 1 << 20)),
        volatile_(is_for_lto(unit.module)) {}

  void run() {
    std::vector<HookCall> calls;
    for (llvm::Instruction& inst : llvm::instructions(function_)) {
      if (HookCall found; is_access_hook(inst, &found)) calls.push_back(found);
    }
    for (const HookCall& hook : choose(calls)) {
      llvm::Value* site = hook.call->getArgOperand(hook.write ? 2 : 1);
      // Calls that the optimiser made one of several have no site of their own.
      if (llvm::Constant* quiet = unit_.sites.quiet_byte(site)) split(hook, quiet);
    }
  }

 private:
  std::vector<HookCall> choose(std::vector<HookCall> calls) {
    llvm::DominatorTree tree(function_);
    llvm::LoopInfo loops(tree);
    std::vector<const llvm::Instruction*> places;
    for (const HookCall& hook : calls) places.push_back(hook.call);
    Places hot = choose_hot(places, loops);
    std::erase_if(calls, [&](const HookCall& hook) { return !hot.contains(hook.call); });
    return calls;
  }

  /// The byte of the word at `address`.
  llvm::Value* watched(llvm::IRBuilderBase& builder, llvm::Value* address) {
    llvm::Value* word = builder.CreateLShr(builder.CreatePtrToInt(address, builder.getInt64Ty()), 3);
    llvm::Value* index = builder.CreateAnd(word, builder.getInt64((uint64_t{1} << DURESS_WATCHED_BITS) - 1));
    llvm::Value* at = builder.CreateInBoundsGEP(builder.getInt8Ty(), unit_.hooks.watched(), index);
    return unseen_by_sanitizers(builder.CreateLoad(builder.getInt8Ty(), at));
  }

  llvm::Value* has_to_call(llvm::IRBuilderBase& builder, const HookCall& hook, llvm::Constant* quiet_byte) {
    llvm::Value* address = hook.call->getArgOperand(0);
    llvm::Value* quiet = unseen_by_sanitizers(builder.CreateLoad(builder.getInt8Ty(), quiet_byte));
    llvm::Value* table = watched(builder, address);
    if (hook.size > kWord || hook.call->getParamAlign(0).valueOrOne().value() < hook.size) {
      llvm::Value* last = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), address, hook.size - 1);
      table = builder.CreateOr(table, watched(builder, last));
    }
    // Quiet is 1, unwatched is 0: one comparison for both.
    return builder.CreateICmpULE(quiet, table);
  }

  void split(const HookCall& hook, llvm::Constant* quiet_byte) {
    llvm::CallInst* call = hook.call;
    llvm::IRBuilder<> builder(call);
    llvm::Value* condition = has_to_call(builder, hook, quiet_byte);
    llvm::BasicBlock* before = call->getParent();
    llvm::BasicBlock* after = before->splitBasicBlock(call->getIterator());
    llvm::BasicBlock* inlined = llvm::BasicBlock::Create(call->getContext(), "", &function_, after);
    // Last: the blocks of an optnone function stay in their order.
    llvm::BasicBlock* cold = llvm::BasicBlock::Create(call->getContext(), "", &function_);
    before->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(before);
    builder.SetCurrentDebugLocation(call->getDebugLoc());
    builder.CreateCondBr(condition, cold, inlined, unlikely_);
    builder.SetInsertPoint(cold);
    call->moveBefore(builder.CreateBr(after));
    builder.SetInsertPoint(inlined);
    builder.SetInsertPoint(builder.CreateBr(after));
    if (hook.write) {
      inline_store(hook, builder);
    } else {
      inline_load(hook, builder, after);
    }
  }

  void inline_store(const HookCall& hook, llvm::IRBuilderBase& builder) {
    llvm::Value* value = hook.call->getArgOperand(1);
    // As what it was before it was made an integer for the hook: a number of floating point stays in its
    // register.
    auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value);
    if (cast != nullptr && cast->hasOneUse() && cast->getParent() != hook.call->getParent()) {
      cast->moveBefore(hook.call);
      value = cast->getOperand(0);
    }
    unseen_by_sanitizers(
        builder.CreateAlignedStore(value, hook.call->getArgOperand(0), align(hook), volatile_));
  }

  void inline_load(const HookCall& hook, llvm::IRBuilderBase& builder, llvm::BasicBlock* after) {
    llvm::Instruction* result = hook.call;
    if (result->hasOneUse()) {
      auto* cast = llvm::dyn_cast<llvm::BitCastInst>(result->user_back());
      if (cast != nullptr && cast->getParent() == after) {
        cast->moveBefore(hook.call->getParent()->getTerminator());
        result = cast;
      }
    }
    llvm::Value* loaded = unseen_by_sanitizers(
        builder.CreateAlignedLoad(result->getType(), hook.call->getArgOperand(0), align(hook), volatile_));
    llvm::IRBuilder<> joined(after, after->begin());
    joined.SetCurrentDebugLocation(hook.call->getDebugLoc());
    llvm::PHINode* value = joined.CreatePHI(result->getType(), 2);
    result->replaceAllUsesWith(value);
    value->addIncoming(loaded, builder.GetInsertBlock());
    value->addIncoming(result, result->getParent());
  }

  static llvm::Align align(const HookCall& hook) { return hook.call->getParamAlign(0).valueOrOne(); }

  llvm::Function& function_;
  Unit& unit_;
  llvm::MDNode* unlikely_;
  bool volatile_;  // for an optimiser that comes after the late step
};

}  // namespace

void inline_quiet_accesses(llvm::Function& function, Unit& unit) {
  QuietAccesses(function, unit).run();
}

}  // namespace duress::pass
