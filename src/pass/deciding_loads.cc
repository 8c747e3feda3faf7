// SPDX-License-Identifier: Apache-2.0
#include "pass/deciding_loads.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace duress::pass {
namespace {

/// A local that only direct loads and stores touch: a register in all but name.
bool is_register(const llvm::Value* place) {
  auto* local = llvm::dyn_cast<llvm::AllocaInst>(place);
  if (local == nullptr || local->isArrayAllocation() || !local->getAllocatedType()->isSingleValueType())
    return false;
  for (const llvm::User* user : local->users()) {
    if (llvm::isa<llvm::LoadInst>(user)) continue;
    auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    if (store != nullptr && store->getValueOperand() != local) continue;
    auto* inst = llvm::dyn_cast<llvm::Instruction>(user);
    if (inst == nullptr || !(inst->isLifetimeStartOrEnd() || inst->isDebugOrPseudoInst())) return false;
  }
  return true;
}

/// Follows a value to where it is used. Operations on single bits only move it, because those of a bit-field
/// belong to several members.
class Uses {
 public:
  bool decide(const llvm::Value* value) {
    if (!seen_.insert(value).second) return false;
    for (const llvm::Use& use : value->uses()) {
      if (decides(use)) return true;
    }
    return false;
  }

 private:
  bool decides(const llvm::Use& use) {
    auto* inst = llvm::cast<llvm::Instruction>(use.getUser());
    if (llvm::isa<llvm::CmpInst, llvm::SwitchInst, llvm::BranchInst, llvm::GetElementPtrInst, llvm::LoadInst>(
            inst))
      return true;
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(inst)) {
      if (use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex()) return true;
      const llvm::Value* place = store->getPointerOperand();
      if (!is_register(place)) return false;
      for (const llvm::User* user : place->users()) {
        if (llvm::isa<llvm::LoadInst>(user) && decide(user)) return true;
      }
      return false;
    }
    if (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(inst)) {
      if (!binary->isBitwiseLogicOp() && !binary->isShift()) return true;
      return decide(inst);
    }
    if (llvm::isa<llvm::CastInst, llvm::FreezeInst>(inst)) return decide(inst);
    return false;
  }

  llvm::SmallPtrSet<const llvm::Value*, 16> seen_;
};

}  // namespace

bool is_deciding(const llvm::LoadInst& load) {
  return !load.getType()->isVectorTy() && Uses().decide(&load);
}

}  // namespace duress::pass
