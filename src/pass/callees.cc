// SPDX-License-Identifier: Apache-2.0
#include "pass/callees.h"

#include "llvm/IR/InstIterator.h"
#include "pass/bodies.h"

namespace duress::pass {
namespace {

constexpr char kStandInSuffix[] = ".duress.callee";

llvm::Function* callee_of(llvm::Instruction& inst) {
  auto* call = llvm::dyn_cast<llvm::CallBase>(&inst);
  return call == nullptr ? nullptr : call->getCalledFunction();
}

/// A call that exists to fail compilation if it is not optimised away.
bool has_forbidden_call(llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](llvm::Instruction& inst) {
    llvm::Function* callee = callee_of(inst);
    return callee != nullptr &&
           (callee->hasFnAttribute("dontcall-error") || callee->hasFnAttribute("dontcall-warn"));
  });
}

llvm::Function* faithful_body(llvm::Module& module, llvm::StringRef name) {
  return module.getFunction((name + kFaithfulSuffix).str());
}

/// Whether the optimiser may drop it, and the faithful body can take its place.
bool can_be_hidden(llvm::Function& function, const FunctionRecord& record) {
  if (!llvm::GlobalValue::isLocalLinkage(record.linkage) &&
      !llvm::GlobalValue::isLinkOnceODRLinkage(record.linkage))
    return false;
  return record.has_faithful &&
         !has_forbidden_call(*faithful_body(*function.getParent(), function.getName()));
}

llvm::Function* stand_in(llvm::Function& function) {
  std::string name = (function.getName() + kStandInSuffix).str();
  llvm::Module& module = *function.getParent();
  if (llvm::Function* known = module.getFunction(name)) return known;
  auto* result = llvm::Function::Create(function.getFunctionType(), llvm::GlobalValue::ExternalLinkage,
                                        function.getAddressSpace(), name, &module);
  result->setCallingConv(function.getCallingConv());
  return result;
}

/// Each file that calls an inline function has such a body: the linker keeps one, as it does of the function.
void stand_alone(llvm::Function& faithful, const FunctionRecord& record) {
  if (!llvm::GlobalValue::isLinkOnceODRLinkage(record.linkage)) return;
  llvm::StringRef name = faithful.getName();
  name.consume_back(kFaithfulSuffix);
  faithful.setName(name + kAloneSuffix);
  faithful.setLinkage(llvm::GlobalValue::LinkOnceODRLinkage);
  faithful.setVisibility(llvm::GlobalValue::HiddenVisibility);
  faithful.setComdat(faithful.getParent()->getOrInsertComdat(faithful.getName()));
}

class CalleeFinder {
 public:
  CalleeFinder(Unit& unit, llvm::FunctionAnalysisManager& analyses) : unit_(unit), analyses_(analyses) {}

  FaithfulBodies run() {
    for (llvm::Function& function : unit_.module) {
      if (function.isDeclaration() || function.hasAvailableExternallyLinkage()) continue;
      if (FunctionRecord* record = find_record(function.getName())) add_existing(function, *record);
    }
    while (!work_.empty()) visit(*work_.pop_back_val());
    for (auto [faithful, record] : alone_) {
      stand_alone(*faithful, *record);
      found_.alone.push_back(faithful);
    }
    return std::move(found_);
  }

 private:
  FunctionRecord* find_record(llvm::StringRef name) {
    auto it = unit_.functions.find(name);
    return it == unit_.functions.end() || !it->second.has_faithful ? nullptr : &it->second;
  }

  void add_existing(llvm::Function& function, const FunctionRecord& record) {
    llvm::Function* faithful = faithful_body(unit_.module, function.getName());
    if (faithful == nullptr || faithful->getFunctionType() != function.getFunctionType()) return;
    if (record.optimised) simplify_faithful(*faithful, analyses_);
    if (!has_forbidden_call(*faithful)) add(faithful);
  }

  void add(llvm::Function* faithful) {
    if (found_.all.insert(faithful)) work_.push_back(faithful);
  }

  void visit(llvm::Function& faithful) {
    for (llvm::Instruction& inst : llvm::instructions(faithful)) {
      llvm::Function* callee = callee_of(inst);
      if (callee == nullptr) continue;
      llvm::StringRef name = callee->getName();
      if (name.consume_back(kStandInSuffix))
        llvm::cast<llvm::CallBase>(inst).setCalledFunction(resolve(name));
    }
  }

  llvm::Function* resolve(llvm::StringRef name) {
    llvm::Function* function = unit_.module.getFunction(name);
    if (function != nullptr && !function->isDeclaration()) return function;
    llvm::Function* faithful = faithful_body(unit_.module, name);
    if (found_.all.contains(faithful)) return faithful;
    FunctionRecord* record = find_record(name);
    if (record->optimised) simplify_faithful(*faithful, analyses_);
    alone_.emplace_back(faithful, record);
    add(faithful);
    return faithful;
  }

  Unit& unit_;
  llvm::FunctionAnalysisManager& analyses_;
  FaithfulBodies found_;
  llvm::SmallVector<llvm::Function*, 32> work_;
  std::vector<std::pair<llvm::Function*, const FunctionRecord*>> alone_;
};

}  // namespace

void hide_callees(llvm::Function& faithful, Unit& unit) {
  for (llvm::Instruction& inst : llvm::instructions(faithful)) {
    llvm::Function* callee = callee_of(inst);
    if (callee == nullptr || callee->isDeclaration()) continue;
    auto it = unit.functions.find(callee->getName());
    if (it == unit.functions.end()) continue;
    FunctionRecord& record = it->second;
    if (!record.hidden.has_value()) record.hidden = can_be_hidden(*callee, record);
    if (*record.hidden) llvm::cast<llvm::CallBase>(inst).setCalledFunction(stand_in(*callee));
  }
}

FaithfulBodies find_callees(Unit& unit, llvm::FunctionAnalysisManager& analyses) {
  return CalleeFinder(unit, analyses).run();
}

}  // namespace duress::pass
