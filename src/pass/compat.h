// SPDX-License-Identifier: Apache-2.0
//
// LLVM changes its C++ interface with each release; the pass is built against 16 to 22. Every
// difference that we meet is hidden here, so that the other files read as if there were one LLVM.
#pragma once

#include "llvm/Config/llvm-config.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif
#if __has_include("llvm/TargetParser/Triple.h")
#include "llvm/TargetParser/Triple.h"
#else
#include "llvm/ADT/Triple.h"
#endif

#include <type_traits>

namespace duress::pass {

inline llvm::Function* intrinsic(llvm::Module& module, llvm::Intrinsic::ID id,
                                 llvm::ArrayRef<llvm::Type*> types = {}) {
#if LLVM_VERSION_MAJOR >= 20
  return llvm::Intrinsic::getOrInsertDeclaration(&module, id, types);
#else
  return llvm::Intrinsic::getDeclaration(&module, id, types);
#endif
}

/// Forgets the variables that a function's debug info lists.
inline void drop_retained_nodes(llvm::DISubprogram* function) {
  auto* none = llvm::MDTuple::get(function->getContext(), {});
#if LLVM_VERSION_MAJOR >= 17
  function->replaceRetainedNodes(none);
#else
  function->replaceOperandWith(7, none);
#endif
}

/// Forgets where a body keeps the variables of the source; lines stay.
inline void drop_variable_records(llvm::Function& function) {
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& inst : llvm::make_early_inc_range(block)) {
#if LLVM_VERSION_MAJOR >= 19
      inst.dropDbgRecords();
#endif
      if (llvm::isa<llvm::DbgInfoIntrinsic>(inst)) inst.eraseFromParent();
    }
  }
}

/// A copy of `call` with `bundles` as its only operand bundles, placed before it.
inline llvm::CallBase* copy_call(llvm::CallBase* call, llvm::ArrayRef<llvm::OperandBundleDef> bundles) {
#if LLVM_VERSION_MAJOR >= 19
  return llvm::CallBase::Create(call, bundles, call->getIterator());
#else
  return llvm::CallBase::Create(call, bundles, call);
#endif
}

/// Whether it adds its operands: a sum, or an `or` of numbers without a common bit.
inline bool is_sum(const llvm::BinaryOperator& inst) {
#if LLVM_VERSION_MAJOR >= 18
  auto* either = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&inst);
  if (either != nullptr && either->isDisjoint()) return true;
#endif
  return inst.getOpcode() == llvm::Instruction::Add;
}

/// SCEVExpander lost its data layout parameter on the way.
template <class Expander = llvm::SCEVExpander>
Expander make_expander(llvm::ScalarEvolution& scev, const llvm::DataLayout& layout) {
  if constexpr (std::is_constructible_v<Expander, llvm::ScalarEvolution&, const llvm::DataLayout&,
                                        const char*>) {
    return Expander(scev, layout, "duress");
  } else {
    return Expander(scev, "duress");
  }
}

/// Calls `visit(DILocalVariable*)` for each source variable that debug info says lives at the address
/// `value` (declares), or has the value `value` (values).
template <class Visit>
void for_each_variable(llvm::Value* value, bool declares, Visit visit) {
  if (!llvm::isa<llvm::Instruction>(value) && !llvm::isa<llvm::Argument>(value)) return;
  auto* inst = llvm::dyn_cast<llvm::Instruction>(value);
#if LLVM_VERSION_MAJOR >= 19
  // With optimisation a variable's home is named by assignment records, linked to the alloca by an id.
  if (declares && inst != nullptr) {
    for (llvm::DbgVariableRecord* record : llvm::at::getDVRAssignmentMarkers(inst))
      visit(record->getVariable());
  }
  auto* metadata = llvm::LocalAsMetadata::getIfExists(value);
  if (metadata == nullptr) return;
  for (llvm::DbgVariableRecord* record : metadata->getAllDbgVariableRecordUsers()) {
    bool is_declare = record->isDbgDeclare();
    if (is_declare != declares || record->getNumVariableLocationOps() != 1) continue;
    if (!is_declare && record->getExpression()->getNumElements() != 0) continue;
    visit(record->getVariable());
  }
#else
  if (declares && inst != nullptr) {
    for (llvm::DbgAssignIntrinsic* marker : llvm::at::getAssignmentMarkers(inst))
      visit(marker->getVariable());
  }
  llvm::SmallVector<llvm::DbgVariableIntrinsic*, 4> users;
  llvm::findDbgUsers(users, value);
  for (llvm::DbgVariableIntrinsic* user : users) {
    bool is_declare = llvm::isa<llvm::DbgDeclareInst>(user);
    if (is_declare != declares || user->getNumVariableLocationOps() != 1) continue;
    if (!is_declare && user->getExpression()->getNumElements() != 0) continue;
    visit(user->getVariable());
  }
#endif
}

}  // namespace duress::pass
