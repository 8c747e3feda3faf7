// SPDX-License-Identifier: Apache-2.0
//
// The step before optimisation. Each function gets a faithful body: a copy in which each source-level access
// is a call (faithful.cc). Nothing refers to the copy until the late step, so three things must hold until
// then: the optimiser keeps it (it is in llvm.compiler.used), calls in it are not merged because of
// what is known about plain bodies (kOpaqueBundle), and the original keeps its signature and receives real
// arguments. For the last, functions local to the unit are disguised as external: else the optimiser would
// drop or replace parameters that the plain body happens not to need, but the faithful one does.
#include <cstdlib>

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/access.h"
#include "pass/assembly.h"
#include "pass/atomics.h"
#include "pass/bodies.h"
#include "pass/callees.h"
#include "pass/compat.h"
#include "pass/steps.h"

namespace duress::pass {
namespace {

/// Inline assembly that defines a symbol: a second copy would define it twice.
bool defines_label(llvm::StringRef assembly) {
  llvm::SmallVector<llvm::StringRef, 8> lines;
  assembly.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    llvm::SmallVector<llvm::StringRef, 4> parts;
    line.split(parts, ';');
    for (llvm::StringRef part : parts) {
      part = part.trim();
      size_t end = part.find(':');
      if (end == llvm::StringRef::npos || end == 0) continue;
      llvm::StringRef label = part.take_front(end);
      bool is_symbol =
          llvm::all_of(label, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$'; });
      if (is_symbol && !llvm::isDigit(label[0])) return true;  // "1:" may be repeated
    }
  }
  return false;
}

bool wants_instrumentation(const llvm::Function& function) {
  if (function.isDeclaration() || function.hasFnAttribute(llvm::Attribute::Naked)) return false;
  if (function.hasFnAttribute(llvm::Attribute::DisableSanitizerInstrumentation)) return false;
  llvm::StringRef name = function.getName();
  return !name.starts_with("__duress") && !name.starts_with("llvm.") && !name.starts_with("__asan") &&
         !name.starts_with("asan.");
}

/// A resolver of an indirect function runs before the program is relocated.
void exclude_resolvers(llvm::Module& module) {
  for (llvm::GlobalIFunc& ifunc : module.ifuncs()) {
    if (llvm::Function* resolver = ifunc.getResolverFunction()) {
      resolver->addFnAttr(llvm::Attribute::DisableSanitizerInstrumentation);
    }
  }
}

void name_accesses(llvm::Function& function, Unit& unit) {
  AccessFilter filter(unit.module.getDataLayout());
  for (llvm::Instruction& inst : llvm::instructions(function)) {
    Access access;
    if (filter.classify(&inst, &access)) {
      unit.namer.remember(&inst, access.address, access.size);
    } else if (filter.is_hooked_atomic(&inst)) {
      AtomicShape shape = atomic_shape(&inst);
      if (shape.address != nullptr) unit.namer.remember(&inst, shape.address, shape.size);
    }
  }
}

/// The optimiser must not conclude from the plain body what the faithful one does not keep: that an argument
/// is not needed, that the result is always 3. For a definition that the linker may replace by an equal one
/// it concludes nothing of that kind, but inlines it all the same.
void disguise_as_replaceable(llvm::Function& function, FunctionRecord& record) {
  record.linkage = function.getLinkage();
  if (!function.hasLocalLinkage() && !function.hasExternalLinkage()) return;
  record.disguised = true;
  record.visibility = function.getVisibility();
  bool local = function.hasLocalLinkage();
  function.setLinkage(local ? llvm::GlobalValue::LinkOnceODRLinkage : llvm::GlobalValue::WeakODRLinkage);
  if (local) function.setVisibility(llvm::GlobalValue::HiddenVisibility);
  function.setDSOLocal(local || function.isDSOLocal());
}

llvm::Function* clone_faithful(llvm::Function& function, Unit& unit) {
  llvm::Function* clone = clone_body(function);
  clone->setName(function.getName() + kFaithfulSuffix);
  clone->setComdat(nullptr);  // joins the original's in the late step
  clone->setVisibility(llvm::GlobalValue::DefaultVisibility);
  clone->setDLLStorageClass(llvm::GlobalValue::DefaultStorageClass);
  clone->setLinkage(llvm::GlobalValue::InternalLinkage);
  clone->setDSOLocal(true);
  clone->eraseMetadata(llvm::LLVMContext::MD_type);
  for (auto kind : {llvm::Attribute::AlwaysInline, llvm::Attribute::InlineHint, llvm::Attribute::Memory,
                    llvm::Attribute::NoSync, llvm::Attribute::NoFree, llvm::Attribute::WillReturn,
                    llvm::Attribute::Speculatable, llvm::Attribute::SanitizeThread}) {
    clone->removeFnAttr(kind);
  }
  // Nothing may be inlined into it either: plain code would come with it. Nor is it optimised (simplify.cc).
  for (auto kind : {llvm::Attribute::OptimizeForSize, llvm::Attribute::MinSize}) clone->removeFnAttr(kind);
  clone->addFnAttr(llvm::Attribute::NoInline);
  clone->addFnAttr(llvm::Attribute::OptimizeNone);
  for (llvm::Argument& argument : clone->args()) {
    for (auto kind : {llvm::Attribute::ReadOnly, llvm::Attribute::ReadNone, llvm::Attribute::WriteOnly}) {
      argument.removeAttr(kind);
    }
  }
  return clone;
}

}  // namespace

bool passes_by_value(const llvm::Function& function) {
  return llvm::any_of(function.args(), [](const llvm::Argument& argument) {
    return argument.hasByValAttr() || argument.hasInAllocaAttr() || argument.hasPreallocatedAttr();
  });
}

bool can_be_cloned(const llvm::Function& function) {
  if (function.isPresplitCoroutine()) return false;
  // Cannot be continued elsewhere: not with a tail call (late_step.cc), nor can "..." be passed on otherwise.
  if (function.isVarArg() && passes_by_value(function)) return false;
  for (const llvm::BasicBlock& block : function) {
    if (block.hasAddressTaken()) return false;
    for (const llvm::Instruction& inst : block) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&inst);
      if (call == nullptr) continue;
      if (auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand())) {
        if (defines_label(assembly->getAsmString())) return false;
      }
    }
  }
  return true;
}

llvm::PreservedAnalyses EarlyStep::run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses) {
  if (module.getDataLayout().getPointerSizeInBits() != 64) return llvm::PreservedAnalyses::all();
  exclude_resolvers(module);
  // Functions that must be inlined often cannot stand alone (assembly with constant operands), so they are
  // inlined into their callers before bodies are copied.
  llvm::AlwaysInlinerPass().run(module, analyses);

  make_volatile_atomic(module);
  holder_->unit = std::make_unique<Unit>(module);
  Unit& unit = *holder_->unit;
  const char* bodies = std::getenv("DURESS_PASS_BODIES");  // set by the compiler wrapper
  unit.only_checked = bodies != nullptr && llvm::StringRef(bodies) == "run";
  std::vector<llvm::Function*> originals;
  for (llvm::Function& function : module) {
    if (!wants_instrumentation(function)) continue;
    // Makes the optimiser refrain from loads and stores that the source does not have. No other pass of
    // ThreadSanitizer runs; the late step removes the attribute and works on the functions that have it.
    function.addFnAttr(llvm::Attribute::SanitizeThread);
    if (!function.hasName()) function.setName("__unnamed");
    name_accesses(function, unit);
    if (function.hasAvailableExternallyLinkage() || !can_be_cloned(function)) continue;
    if (!unit.only_checked && needs_instrumentation(function)) originals.push_back(&function);
  }
  std::vector<llvm::GlobalValue*> clones;
  for (llvm::Function* function : originals) {
    FunctionRecord& record = unit.record(function->getName());
    llvm::Function* clone = clone_faithful(*function, unit);
    instrument_faithful(*clone, unit, record.index);
    record.has_faithful = true;
    record.optimised = !function->hasOptNone();
    disguise_as_replaceable(*function, record);
    clones.push_back(clone);
  }
  for (llvm::GlobalValue* clone : clones) hide_callees(*llvm::cast<llvm::Function>(clone), unit);
  llvm::appendToCompilerUsed(module, clones);
  return llvm::PreservedAnalyses::none();
}

}  // namespace duress::pass
