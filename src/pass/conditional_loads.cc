// SPDX-License-Identifier: Apache-2.0
#include "pass/conditional_loads.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "pass/compat.h"

namespace duress::pass {
namespace {

constexpr char kHidden[] = "duress.chosen";  // metadata on our launder.invariant.group

/// Two loads of the source have places or variables of their own (!duress.var); what InstCombine made of one
/// load has neither, or the same.
bool made_of_one(const llvm::LoadInst& a, const llvm::LoadInst& b, const llvm::SelectInst& choice) {
  return a.isSimple() && b.isSimple() && a.hasOneUse() && b.hasOneUse() && a.getType() == b.getType() &&
         a.getParent() == choice.getParent() && b.getParent() == choice.getParent() &&
         a.getDebugLoc() == b.getDebugLoc() && a.getMetadata("duress.var") == b.getMetadata("duress.var");
}

bool nothing_written_between(const llvm::Instruction& first, const llvm::Instruction& last) {
  for (const llvm::Instruction* at = &first; at != &last; at = at->getNextNode()) {
    if (at == nullptr || at->mayWriteToMemory()) return false;
  }
  return true;
}

llvm::LoadInst* join(llvm::LoadInst& yes, llvm::LoadInst& no, llvm::SelectInst& choice) {
  llvm::IRBuilder<> builder(&choice);
  builder.SetCurrentDebugLocation(yes.getDebugLoc());
  llvm::Value* address = builder.CreateSelect(choice.getCondition(), yes.getPointerOperand(),
                                              no.getPointerOperand(), "", &choice);
  llvm::Function* launder =
      intrinsic(*choice.getModule(), llvm::Intrinsic::launder_invariant_group, {address->getType()});
  llvm::CallInst* hidden = builder.CreateCall(launder, {address});
  hidden->setMetadata(kHidden, llvm::MDNode::get(choice.getContext(), {}));
  return builder.CreateAlignedLoad(choice.getType(), hidden, std::min(yes.getAlign(), no.getAlign()));
}

}  // namespace

bool join_conditional_loads(llvm::Function& function) {
  bool changed = false;
  for (llvm::Instruction& inst : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* choice = llvm::dyn_cast<llvm::SelectInst>(&inst);
    if (choice == nullptr || choice->getCondition()->getType()->isVectorTy()) continue;
    auto* yes = llvm::dyn_cast<llvm::LoadInst>(choice->getTrueValue());
    auto* no = llvm::dyn_cast<llvm::LoadInst>(choice->getFalseValue());
    if (yes == nullptr || no == nullptr || yes == no || !made_of_one(*yes, *no, *choice)) continue;
    if (!nothing_written_between(*yes, *choice) || !nothing_written_between(*no, *choice)) continue;
    choice->replaceAllUsesWith(join(*yes, *no, *choice));
    choice->eraseFromParent();
    yes->eraseFromParent();
    no->eraseFromParent();
    changed = true;
  }
  return changed;
}

void open_addresses(llvm::Function& function) {
  for (llvm::Instruction& inst : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (!llvm::isa<llvm::IntrinsicInst>(inst) || inst.getMetadata(kHidden) == nullptr) continue;
    inst.replaceAllUsesWith(inst.getOperand(0));
    inst.eraseFromParent();
  }
}

llvm::PreservedAnalyses ConditionalLoads::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  if (!function.hasFnAttribute(llvm::Attribute::SanitizeThread) || !join_conditional_loads(function))
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace duress::pass
