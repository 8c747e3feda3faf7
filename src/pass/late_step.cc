// SPDX-License-Identifier: Apache-2.0
//
// The step after optimisation. The function itself stays as the optimiser left it, but for one test of its
// byte in `duress_flags` at entry; its copy with race checks and its faithful body are reached from there
// with a tail call, so that arguments of every kind, variadic ones too, arrive untouched.
#include <cstdlib>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/assembly.h"
#include "pass/bodies.h"
#include "pass/callees.h"
#include "pass/check_emitter.h"
#include "pass/compat.h"
#include "pass/conditional_loads.h"
#include "pass/frames.h"
#include "pass/steps.h"

namespace duress::pass {
namespace {

void become_second_body(llvm::Function& clone, llvm::Function& original, llvm::StringRef suffix) {
  clone.setName(original.getName() + suffix);
  clone.setVisibility(llvm::GlobalValue::DefaultVisibility);
  clone.setDLLStorageClass(llvm::GlobalValue::DefaultStorageClass);
  clone.setLinkage(llvm::GlobalValue::InternalLinkage);
  clone.setDSOLocal(true);
  clone.setComdat(original.getComdat());  // kept or dropped together with the function
  clone.setCallingConv(original.getCallingConv());
  clone.eraseMetadata(llvm::LLVMContext::MD_type);
  clone.removeFnAttr(llvm::Attribute::AlwaysInline);
  clone.removeFnAttr(llvm::Attribute::InlineHint);
  clone.removeFnAttr(llvm::Attribute::Memory);
  clone.addFnAttr(llvm::Attribute::NoInline);
}

/// Continues in another body. A tail call, except where structures are passed on the stack by value: there
/// LLVM's code for x86 overwrites the return address (seen in 19), so it is a call with a frame of its own.
void continue_in(llvm::IRBuilder<>& builder, llvm::Function& from, llvm::Function& to, HookSet& hooks) {
  llvm::SmallVector<llvm::Value*, 8> arguments;
  llvm::SmallVector<llvm::AttributeSet, 8> attributes;
  for (llvm::Argument& argument : from.args()) {
    arguments.push_back(&argument);
    attributes.push_back(from.getAttributes().getParamAttrs(argument.getArgNo()));
  }
  bool tail = !passes_by_value(from);
  Frames frames(from, hooks);
  if (!tail) frames.push_around(builder, true);
  llvm::CallInst* call = builder.CreateCall(&to, arguments);
  call->setCallingConv(from.getCallingConv());
  call->setTailCallKind(tail ? llvm::CallInst::TCK_MustTail : llvm::CallInst::TCK_NoTail);
  // Of the result only how it is passed: what was found out about the plain body's values may not hold.
  llvm::AttrBuilder result(from.getContext());
  for (auto kind : {llvm::Attribute::ZExt, llvm::Attribute::SExt, llvm::Attribute::InReg}) {
    if (from.hasRetAttribute(kind)) result.addAttribute(kind);
  }
  call->setAttributes(llvm::AttributeList::get(from.getContext(), llvm::AttributeSet(),
                                               llvm::AttributeSet::get(from.getContext(), result),
                                               attributes));
  if (!tail) frames.push_around(builder, false);
  if (from.getReturnType()->isVoidTy()) {
    builder.CreateRetVoid();
  } else {
    builder.CreateRet(call);
  }
}

void add_dispatch(llvm::Function& function, llvm::Constant* flag_address, llvm::Function& checked,
                  llvm::Function* faithful, HookSet& hooks) {
  llvm::LLVMContext& context = function.getContext();
  llvm::BasicBlock* entry = &function.getEntryBlock();
  // Allocas must stay in the entry block to be part of the fixed frame.
  llvm::SmallVector<llvm::AllocaInst*, 16> allocas;
  auto split = entry->begin();
  for (llvm::Instruction& inst : *entry) {
    if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&inst);
        alloca != nullptr && alloca->isStaticAlloca()) {
      allocas.push_back(alloca);
    }
  }
  for (llvm::AllocaInst* alloca : allocas) {
    if (&*split == alloca) {
      ++split;
    } else {
      alloca->moveBefore(*entry, split);
    }
  }
  llvm::BasicBlock* plain = entry->splitBasicBlock(split, "duress.plain");
  llvm::DebugLoc location;
  if (llvm::DISubprogram* info = function.getSubprogram()) {
    location = llvm::DILocation::get(context, info->getScopeLine(), 0, info);
  }
  entry->getTerminator()->eraseFromParent();
  llvm::BasicBlock* other = llvm::BasicBlock::Create(context, "duress.other", &function);
  llvm::IRBuilder<> builder(entry);
  builder.SetCurrentDebugLocation(location);
  // Loaded twice, so that the first test compares memory and needs no register.
  auto flag = [&] { return unseen_by_sanitizers(builder.CreateLoad(builder.getInt8Ty(), flag_address)); };
  llvm::MDNode* likely = llvm::MDBuilder(context).createBranchWeights(1 << 20, 1);
  builder.CreateCondBr(builder.CreateICmpEQ(flag(), builder.getInt8(DURESS_BODY_PLAIN)), plain, other,
                       likely);
  builder.SetInsertPoint(other);
  if (faithful != nullptr) {
    llvm::BasicBlock* to_faithful = llvm::BasicBlock::Create(context, "duress.faithful", &function);
    llvm::BasicBlock* to_checked = llvm::BasicBlock::Create(context, "duress.checked", &function);
    builder.CreateCondBr(builder.CreateICmpEQ(flag(), builder.getInt8(DURESS_BODY_FAITHFUL)), to_faithful,
                         to_checked);
    builder.SetInsertPoint(to_faithful);
    continue_in(builder, function, *faithful, hooks);
    builder.SetInsertPoint(to_checked);
  }
  continue_in(builder, function, checked, hooks);
}

bool is_faithful(const llvm::Function& function) {
  return function.getName().ends_with(kFaithfulSuffix);
}

/// Undoes what the early step did to keep the faithful bodies; returns the functions to instrument.
std::vector<llvm::Function*> restore(Unit& unit) {
  llvm::removeFromUsedLists(unit.module, [](llvm::Constant* used) {
    auto* function = llvm::dyn_cast<llvm::Function>(used->stripPointerCasts());
    return function != nullptr && is_faithful(*function);
  });
  std::vector<llvm::Function*> result;
  for (llvm::Function& function : unit.module) {
    auto it = unit.functions.find(function.getName());
    if (it != unit.functions.end() && it->second.disguised && !function.hasLocalLinkage()) {
      function.setVisibility(llvm::GlobalValue::DefaultVisibility);  // what a local one must have
      function.setLinkage(it->second.linkage);
      if (!function.hasLocalLinkage()) function.setVisibility(it->second.visibility);
    }
    if (function.isDeclaration() || !function.hasFnAttribute(llvm::Attribute::SanitizeThread)) continue;
    function.removeFnAttr(llvm::Attribute::SanitizeThread);
    join_conditional_loads(function);
    open_addresses(function);
    if (!function.hasAvailableExternallyLinkage() && !is_faithful(function)) result.push_back(&function);
  }
  return result;
}

void instrument(llvm::Function& function, Unit& unit, const FaithfulBodies& bodies,
                llvm::FunctionAnalysisManager& analyses) {
  llvm::Function* faithful = unit.module.getFunction((function.getName() + kFaithfulSuffix).str());
  if (!bodies.all.contains(faithful)) faithful = nullptr;
  if (!needs_instrumentation(function)) {
    if (faithful == nullptr) return;
    // Nothing is left to check after optimisation, but the source had accesses.
  }
  FunctionRecord& record = unit.record(function.getName());
  if (!can_be_cloned(function)) {
    instrument_in_place(function, unit, record.index);
    return;
  }
  llvm::Function* checked = clone_body(function);
  become_second_body(*checked, function, kCheckedSuffix);
  instrument_checked(*checked, unit, record.index, analyses);
  drop_variable_records(*checked);
  if (faithful != nullptr) {
    become_second_body(*faithful, function, kFaithfulSuffix);
    finish_faithful(*faithful, unit);
  }
  add_dispatch(function, unit.sites.flag(record.index), *checked, faithful, unit.hooks);
  // Link-time optimisation would change the function's result type and lose its tail calls (seen in
  // 19).
  if (is_for_lto(unit.module)) llvm::appendToCompilerUsed(unit.module, {&function});
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
}

}  // namespace

bool is_for_lto(const llvm::Module& module) {
  return module.getModuleFlag("EnableSplitLTOUnit") != nullptr || module.getModuleFlag("ThinLTO") != nullptr;
}

/// Functions that their author has excluded have a second symbol: atomics in them are not overlooked, they
/// are left out on purpose (src/collide/unseen_atomics). So have those whose assembly is announced.
static void mark_excluded(llvm::Module& module) {
  llvm::SmallVector<llvm::GlobalValue*, 4> marks;
  for (llvm::Function& function : module) {
    if (function.isDeclarationForLinker()) continue;
    bool announced = function.getName().ends_with(kCheckedSuffix) && has_only_seen_assembly(function);
    if (!announced && !function.hasFnAttribute(llvm::Attribute::DisableSanitizerInstrumentation)) continue;
    bool atomic = announced || llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& inst) {
                    const auto* call = llvm::dyn_cast<llvm::CallBase>(&inst);
                    return inst.isAtomic() || (call != nullptr && call->isInlineAsm());
                  });
    if (!atomic) continue;
    marks.push_back(llvm::GlobalAlias::create(function.getValueType(), function.getAddressSpace(),
                                              llvm::GlobalValue::InternalLinkage,
                                              function.getName() + kExcludedSuffix, &function, &module));
  }
  if (!marks.empty()) llvm::appendToCompilerUsed(module, marks);
}

llvm::PreservedAnalyses LateStep::run(llvm::Module& module, llvm::ModuleAnalysisManager& manager) {
  std::unique_ptr<Unit> unit = std::move(holder_->unit);
  if (unit == nullptr || &unit->module != &module) return llvm::PreservedAnalyses::all();
  auto& analyses = manager.getResult<llvm::FunctionAnalysisManagerModuleProxy>(module).getManager();
  std::vector<llvm::Function*> functions = restore(*unit);
  FaithfulBodies bodies = find_callees(*unit, analyses);
  for (llvm::Function* function : functions) instrument(*function, *unit, bodies, analyses);
  for (llvm::Function* body : bodies.alone) finish_faithful(*body, *unit);

  // Faithful bodies whose function was optimised away, or cannot use them.
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!is_faithful(function) || !function.use_empty()) continue;
    analyses.clear(function, function.getName());
    function.eraseFromParent();
  }
  mark_excluded(module);
  if (!unit->sites.empty()) {
    unit->sites.emit(unit->only_checked ? DURESS_UNIT_ONLY_CHECKED : 0);
    add_module_constructor(*unit);
  }
  if (std::getenv("DURESS_PASS_VERIFY") != nullptr && llvm::verifyModule(module, &llvm::errs())) {
    llvm::report_fatal_error("duress: the late step made a broken module");
  }
  return llvm::PreservedAnalyses::none();
}

}  // namespace duress::pass
