// SPDX-License-Identifier: Apache-2.0
//
// A copy of a function with debug info of its own. LLVM's CloneFunction does this too, but (in 19) it walks
// every type that the function's debug info can reach, once per copy: with C++ library headers that is most
// of the compile unit. Here the copy stops at what stays shared: types, and scopes of inlined functions.
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#include "pass/bodies.h"
#include "pass/compat.h"

namespace duress::pass {
namespace {

/// Marks what the copy shares with the original, so that the value mapper does not walk or copy it.
class SharedMetadata {
 public:
  SharedMetadata(llvm::ValueToValueMapTy& map, const llvm::DISubprogram* own) : map_(map), own_(own) {}

  void keep(const llvm::Metadata* node) {
    if (node != nullptr) map_.MD().try_emplace(node, llvm::TrackingMDRef(const_cast<llvm::Metadata*>(node)));
  }

  void visit_scope(const llvm::DIScope* scope) {
    auto* local = llvm::dyn_cast_or_null<llvm::DILocalScope>(scope);
    if (local == nullptr || !seen_.insert(local).second) return;
    const llvm::DISubprogram* function = local->getSubprogram();
    if (function == own_) return;  // copied
    // Of an inlined function: shared, with all blocks on the way.
    keep(function);
    while (local != nullptr && local != function) {
      keep(local);
      local = llvm::dyn_cast_or_null<llvm::DILocalScope>(local->getScope());
    }
  }

  void visit_location(const llvm::DILocation* location) {
    for (; location != nullptr; location = location->getInlinedAt()) visit_scope(location->getScope());
  }

  void visit_variable(const llvm::DILocalVariable* variable) {
    visit_scope(variable->getScope());
    keep(variable->getType());
    if (variable->getScope()->getSubprogram() != own_) keep(variable);
  }

 private:
  llvm::ValueToValueMapTy& map_;
  const llvm::DISubprogram* own_;
  llvm::SmallPtrSet<const llvm::Metadata*, 32> seen_;
};

void visit_instruction(llvm::Instruction& inst, SharedMetadata& shared) {
  shared.visit_location(inst.getDebugLoc().get());
  if (auto* debug = llvm::dyn_cast<llvm::DbgVariableIntrinsic>(&inst))
    shared.visit_variable(debug->getVariable());
  if (auto* debug = llvm::dyn_cast<llvm::DbgLabelInst>(&inst))
    shared.visit_scope(debug->getLabel()->getScope());
#if LLVM_VERSION_MAJOR >= 19
  for (llvm::DbgRecord& record : inst.getDbgRecordRange()) {
    shared.visit_location(record.getDebugLoc().get());
    if (auto* variable = llvm::dyn_cast<llvm::DbgVariableRecord>(&record)) {
      shared.visit_variable(variable->getVariable());
    } else if (auto* label = llvm::dyn_cast<llvm::DbgLabelRecord>(&record)) {
      shared.visit_scope(label->getLabel()->getScope());
    }
  }
#endif
  if (llvm::MDNode* type = inst.getMetadata("heapallocsite")) shared.keep(type);
}

void remap_instruction(llvm::Instruction& inst, llvm::ValueToValueMapTy& map) {
  llvm::RemapInstruction(&inst, map);
#if LLVM_VERSION_MAJOR >= 19
  llvm::RemapDbgRecordRange(inst.getModule(), inst.getDbgRecordRange(), map);
#endif
}

}  // namespace

llvm::Function* clone_body(llvm::Function& function) {
  auto* copy = llvm::Function::Create(function.getFunctionType(), function.getLinkage(),
                                      function.getAddressSpace(), function.getName(), function.getParent());
  llvm::ValueToValueMapTy map;
  auto to = copy->arg_begin();
  for (llvm::Argument& from : function.args()) {
    to->setName(from.getName());
    map[&from] = &*to++;
  }
  llvm::DISubprogram* info = function.getSubprogram();
  llvm::DISubprogram* own = nullptr;
  if (info != nullptr) {
    // Without the flag calls have no entry in debug info: copies are full of calls of hooks, which nobody
    // looks up there, and each entry costs two records and a relocation.
    llvm::TempDISubprogram fresh =
        info->cloneWithFlags(info->getFlags() & ~llvm::DINode::FlagAllCallsDescribed);
    own = llvm::MDNode::replaceWithDistinct(std::move(fresh));
    drop_retained_nodes(own);
    map.MD()[info].reset(own);
  }
  // Also for a function without debug info: code that was inlined into it has some.
  SharedMetadata shared(map, info);
  for (llvm::DICompileUnit* unit : function.getParent()->debug_compile_units()) shared.keep(unit);
  for (llvm::Instruction& inst : llvm::instructions(function)) visit_instruction(inst, shared);
  copy->copyAttributesFrom(&function);
  copy->copyMetadata(&function, 0);
  copy->setSubprogram(own);
  for (llvm::BasicBlock& block : function) map[&block] = llvm::CloneBasicBlock(&block, map, "", copy);
  for (llvm::Instruction& inst : llvm::instructions(*copy)) remap_instruction(inst, map);
  return copy;
}

}  // namespace duress::pass
