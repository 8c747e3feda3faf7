// SPDX-License-Identifier: Apache-2.0
//
// Checked bodies: race checks before plain accesses, hooks for atomics, frames for stacks.
#include <algorithm>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "pass/access.h"
#include "pass/assembly.h"
#include "pass/atomics.h"
#include "pass/bodies.h"
#include "pass/check_emitter.h"
#include "pass/check_plan.h"
#include "pass/frames.h"
#include "pass/library_calls.h"
#include "pass/masked.h"

namespace duress::pass {
namespace {

/// An object that a call reads or writes as a whole.
void check_operand(llvm::CallBase* call, unsigned operand, llvm::Value* bytes, uint64_t size, bool write,
                   CheckEmitter& emitter) {
  llvm::Value* address = call->getArgOperand(operand);
  if (size != 0) {
    llvm::Align align = call->getParamAlign(operand).valueOrOne();
    emitter.emit({.access = {call, address, size, align, write, false, false}, .before = call});
    return;
  }
  llvm::IRBuilder<> builder(call);
  emitter.emit_range(builder, call, address, bytes, write, size);
}

/// memcpy and the like: what they read and write, as ranges.
void check_memory_call(llvm::CallBase* call, AccessFilter& filter, CheckEmitter& emitter) {
  llvm::IRBuilder<> builder(call);
  llvm::Value* bytes = builder.CreateZExtOrTrunc(call->getArgOperand(2), builder.getInt64Ty());
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(bytes);
  uint64_t size = constant == nullptr ? 0 : constant->getZExtValue();
  if (constant != nullptr && size == 0) return;
  if (memory_call(*call) != MemoryCall::kSet && filter.may_be_shared(call->getArgOperand(1))) {
    check_operand(call, 1, bytes, size, false, emitter);
  }
  if (filter.may_be_shared(call->getArgOperand(0))) {
    check_operand(call, 0, bytes, size, true, emitter);
  }
}

/// Arguments passed by value are read by the call itself.
void check_byval_arguments(llvm::CallBase* call, AccessFilter& filter, CheckEmitter& emitter,
                           const llvm::DataLayout& layout) {
  for (unsigned i = 0; i < call->arg_size(); ++i) {
    if (!call->isByValArgument(i) || !filter.may_be_shared(call->getArgOperand(i))) continue;
    uint64_t size = layout.getTypeAllocSize(call->getParamByValType(i));
    if (size != 0) check_operand(call, i, nullptr, size, false, emitter);
  }
}

bool has_byval_argument(const llvm::CallBase& call) {
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    if (call.isByValArgument(i)) return true;
  }
  return false;
}

struct Work {
  std::vector<llvm::Instruction*> atomics;
  std::vector<llvm::CallInst*> assembly;
  std::vector<llvm::CallBase*> memory_calls;
  std::vector<llvm::CallBase*> byval_calls;
  std::vector<llvm::CallBase*> library_calls;
  std::vector<llvm::IntrinsicInst*> masked;
  bool leaf = true;
};

Work collect(llvm::Function& function, AccessFilter& filter) {
  Work work;
  for (llvm::Instruction& inst : llvm::instructions(function)) {
    if (filter.is_hooked_atomic(&inst)) work.atomics.push_back(&inst);
    if (is_atomic_assembly(inst)) work.assembly.push_back(llvm::cast<llvm::CallInst>(&inst));
    if (is_masked_access(&inst, filter)) work.masked.push_back(llvm::cast<llvm::IntrinsicInst>(&inst));
    auto* call = llvm::dyn_cast<llvm::CallBase>(&inst);
    if (call == nullptr) continue;
    if (memory_call(*call) != MemoryCall::kNone && !inst.hasMetadata(llvm::LLVMContext::MD_nosanitize)) {
      work.memory_calls.push_back(call);
    } else if (is_library_call(*call, filter)) {
      work.library_calls.push_back(call);
    }
    if (is_real_call(inst)) work.leaf = false;
    if (has_byval_argument(*call) && !call->isMustTailCall()) work.byval_calls.push_back(call);
  }
  return work;
}

/// In front of which there may be an inline test.
std::vector<const llvm::Instruction*> testable_places(const std::vector<Check>& checks, const Work& work) {
  std::vector<const llvm::Instruction*> places;
  for (const Check& check : checks) {
    if (check.range_start == nullptr) places.push_back(check.before);
  }
  places.insert(places.end(), work.memory_calls.begin(), work.memory_calls.end());
  places.insert(places.end(), work.byval_calls.begin(), work.byval_calls.end());
  return places;
}

}  // namespace

bool needs_instrumentation(llvm::Function& function) {
  AccessFilter filter(function.getParent()->getDataLayout());
  Access access;
  for (llvm::Instruction& inst : llvm::instructions(function)) {
    if (is_real_call(inst) || filter.is_hooked_atomic(&inst) || is_atomic_assembly(inst) ||
        filter.classify(&inst, &access) || is_masked_access(&inst, filter)) {
      return true;
    }
    auto* call = llvm::dyn_cast<llvm::CallBase>(&inst);
    if (call != nullptr && memory_call(*call) != MemoryCall::kNone) return true;
  }
  return false;
}

/// Whether the body is little more than calls, one after the other: then there is little between them that a
/// better translation could improve.
static bool is_made_of_calls(llvm::Function& function) {
  constexpr size_t kMostBetween = 12;  // instructions, on average
  constexpr uint64_t kMostStack =
      2048;  // optnone keeps a place for each local, whether they live together or not
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  size_t calls = 0, instructions = 0;
  uint64_t stack = 0;
  for (llvm::Instruction& inst : llvm::instructions(function)) {
    if (llvm::isa<llvm::DbgInfoIntrinsic>(inst)) continue;
    ++instructions;
    if (is_real_call(inst)) ++calls;  // hooks too
    if (auto* local = llvm::dyn_cast<llvm::AllocaInst>(&inst))
      stack += layout.getTypeAllocSize(local->getAllocatedType());
  }
  return instructions <= kMostBetween * calls && stack <= kMostStack;
}

/// Has the body translated by the fast instruction selector, as a faithful one is.
static void translate_fast(llvm::Function& function) {
  for (auto kind : {llvm::Attribute::OptimizeForSize, llvm::Attribute::MinSize}) function.removeFnAttr(kind);
  function.addFnAttr(llvm::Attribute::OptimizeNone);
}

void instrument_checked(llvm::Function& function, Unit& unit, uint32_t function_index,
                        llvm::FunctionAnalysisManager& analyses) {
  const llvm::DataLayout& layout = unit.module.getDataLayout();
  AccessFilter filter(layout);
  std::vector<Check> checks = plan_checks(function, filter, unit.namer, analyses);
  Work work = collect(function, filter);
  std::vector<const llvm::Instruction*> places = testable_places(checks, work);
  llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  Places hot = choose_hot(places, loops);
  bool cold = !places.empty() && hot.empty() && !has_small_loop(loops);
  if (!llvm::all_of(places, [&](auto* place) { return hot.contains(place); })) work.leaf = false;
  CheckEmitter emitter(function, unit, function_index, work.leaf, std::move(hot));

  // From the end of each block to its start: then each split moves few instructions.
  llvm::DenseMap<const llvm::Instruction*, uint32_t> position;
  uint32_t next = 0;
  for (llvm::Instruction& inst : llvm::instructions(function)) position[&inst] = next++;
  std::stable_sort(checks.begin(), checks.end(),
                   [&](const Check& a, const Check& b) { return position[a.before] > position[b.before]; });
  for (const Check& check : checks) emitter.emit(check);
  for (llvm::CallBase* call : work.memory_calls) check_memory_call(call, filter, emitter);
  for (llvm::CallBase* call : work.byval_calls) check_byval_arguments(call, filter, emitter, layout);
  for (llvm::CallBase* call : work.library_calls) replace_library_call(call, unit, function_index, 0);
  for (llvm::IntrinsicInst* inst : work.masked) check_masked_access(inst, emitter);
  Around around = [&](llvm::IRBuilderBase& builder, bool before) { emitter.around(builder, before); };
  for (llvm::Instruction* inst : work.atomics) {
    AtomicShape shape = atomic_shape(inst);
    uint8_t flags = inst->isVolatile() ? DURESS_SITE_VOLATILE : 0;
    llvm::Constant* site = unit.site(inst, shape.address, static_cast<DuressAccess>(shape.access), shape.size,
                                     function_index, flags);
    lower_atomic(inst, unit.hooks, site, around);
  }
  announce_all(work.assembly, unit, function_index, 0, around);
  // It has places and none is hot, nor is there a loop that computes something else.
  bool fast = cold && !is_for_lto(unit.module) && is_made_of_calls(function);
  if (fast) translate_fast(function);
  if (!work.leaf) Frames(function, unit.hooks).instrument_body();
  if (fast) part_slow_terminators(function);
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
}

void instrument_in_place(llvm::Function& function, Unit& unit, uint32_t function_index) {
  AccessFilter filter(unit.module.getDataLayout());
  std::vector<Access> accesses;
  for (llvm::Instruction& inst : llvm::instructions(function)) {
    Access access;
    if (filter.classify(&inst, &access)) accesses.push_back(access);
  }
  Work work = collect(function, filter);
  CheckEmitter emitter(function, unit, function_index, /*leaf=*/false);
  llvm::MDNode* unlikely = llvm::MDBuilder(function.getContext()).createBranchWeights(1, 1 << 20);
  auto guard = [&](llvm::Instruction* inst) {
    llvm::IRBuilder<> builder(inst);
    auto* flag =
        unseen_by_sanitizers(builder.CreateLoad(builder.getInt8Ty(), unit.sites.flag(function_index)));
    return split_if(builder.CreateICmpNE(flag, builder.getInt8(0)), inst, unlikely)->getTerminator();
  };
  for (const Access& access : llvm::reverse(accesses)) {
    llvm::IRBuilder<> builder(guard(access.inst));
    builder.SetCurrentDebugLocation(access.inst->getDebugLoc());
    emitter.emit_range(builder, access.inst, access.address, builder.getInt64(access.size), access.write,
                       access.size);
  }
  for (llvm::CallBase* call : work.memory_calls) {
    auto* copy = llvm::cast<llvm::CallBase>(call->clone());
    // The ranges are computed from the call's operands, so a copy under the guard can stand for it.
    llvm::IRBuilder<>(guard(call)).Insert(copy);
    check_memory_call(copy, filter, emitter);
    copy->eraseFromParent();
  }
  for (llvm::IntrinsicInst* inst : work.masked) check_masked_access(inst, emitter);
  Around nothing = [](llvm::IRBuilderBase&, bool) {};
  for (llvm::Instruction* inst : work.atomics) {
    AtomicShape shape = atomic_shape(inst);
    llvm::Constant* site = unit.site(inst, shape.address, static_cast<DuressAccess>(shape.access), shape.size,
                                     function_index, inst->isVolatile() ? DURESS_SITE_VOLATILE : 0);
    lower_atomic(inst, unit.hooks, site, nothing);
  }
  announce_all(work.assembly, unit, function_index, 0, nothing);
}

}  // namespace duress::pass
