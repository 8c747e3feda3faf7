// SPDX-License-Identifier: Apache-2.0
//
// Faithful bodies: every source-level access of memory that may be shared is a call.
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "pass/access.h"
#include "pass/assembly.h"
#include "pass/atomics.h"
#include "pass/bodies.h"
#include "pass/check_emitter.h"
#include "pass/compat.h"
#include "pass/deciding_loads.h"
#include "pass/frames.h"
#include "pass/library_calls.h"
#include "pass/masked.h"
#include "pass/quiet_access.h"

namespace duress::pass {
namespace {

bool fits_register(llvm::Type* type, uint64_t size) {
  if (type->isAggregateType() || type->isX86_FP80Ty()) return false;
  if (!type->isPtrOrPtrVectorTy() && type->getPrimitiveSizeInBits() == 0) return false;
  return size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
}

void replace_bundles(llvm::CallBase* call, llvm::ArrayRef<llvm::OperandBundleDef> bundles) {
  llvm::CallBase* copy = copy_call(call, bundles);
  copy->takeName(call);
  call->replaceAllUsesWith(copy);
  call->eraseFromParent();
}

/// What inline_quiet_accesses() wants to know of the access.
void set_align(llvm::CallInst* call, llvm::Align align) {
  call->addParamAttr(0, llvm::Attribute::getWithAlignment(call->getContext(), align));
}

class FaithfulBody {
 public:
  FaithfulBody(llvm::Function& function, Unit& unit, uint32_t index)
      : function_(function), unit_(unit), index_(index), filter_(unit.module.getDataLayout()) {}

  void run() {
    std::vector<Access> accesses;
    std::vector<llvm::Instruction*> atomics;
    std::vector<llvm::CallInst*> assembly;
    std::vector<llvm::CallBase*> calls;
    std::vector<llvm::IntrinsicInst*> masked;
    // Which locals escape must be known before hooks take addresses, so classify everything first.
    for (llvm::Instruction& inst : llvm::instructions(function_)) {
      Access access;
      if (filter_.classify(&inst, &access)) {
        accesses.push_back(access);
        auto* load = llvm::dyn_cast<llvm::LoadInst>(&inst);
        if (load != nullptr && is_deciding(*load)) deciding_.insert(load);
      }
      if (filter_.is_hooked_atomic(&inst)) atomics.push_back(&inst);
      if (is_atomic_assembly(inst)) assembly.push_back(llvm::cast<llvm::CallInst>(&inst));
      if (is_masked_access(&inst, filter_)) masked.push_back(llvm::cast<llvm::IntrinsicInst>(&inst));
      auto* call = llvm::dyn_cast<llvm::CallBase>(&inst);
      if (call == nullptr) continue;
      if (memory_call(*call) != MemoryCall::kNone ? is_shared_copy(call) : is_real_call(inst))
        calls.push_back(call);
    }
    for (llvm::CallBase* call : calls) {
      if (memory_call(*call) != MemoryCall::kNone) {
        replace_memory_call(call);
      } else if (is_library_call(*call, filter_)) {
        replace_library_call(call, unit_, index_, DURESS_SITE_FAITHFUL);
      } else {
        copy_byval_arguments(call);
        make_opaque(call);
      }
    }
    CheckEmitter emitter(function_, unit_, index_, /*leaf=*/false);
    for (llvm::IntrinsicInst* inst : masked) check_masked_access(inst, emitter);
    for (Access& access : accesses) {
      access.address = llvm::getLoadStorePointerOperand(access.inst);  // may have been replaced since
      if (access.write) {
        replace_store(access);
      } else {
        replace_load(access);
      }
    }
    for (llvm::Instruction* inst : atomics) {
      AtomicShape shape = atomic_shape(inst);
      lower_atomic(inst, unit_.hooks, site(inst, shape.address, shape.access, shape.size, inst->isVolatile()),
                   [](llvm::IRBuilderBase&, bool) {});
    }
    announce_all(assembly, unit_, index_, DURESS_SITE_FAITHFUL, [](llvm::IRBuilderBase&, bool) {});
  }

 private:
  llvm::Constant* site(llvm::Instruction* inst, llvm::Value* address, int access, uint64_t size,
                       bool is_volatile, llvm::Type* type = nullptr) {
    uint8_t flags = DURESS_SITE_FAITHFUL | (is_volatile ? DURESS_SITE_VOLATILE : 0);
    if (deciding_.contains(inst)) flags |= DURESS_SITE_DECIDES;
    if (type != nullptr && type->isFloatingPointTy()) flags |= DURESS_SITE_FLOAT;
    if (type != nullptr && type->isPointerTy()) flags |= DURESS_SITE_POINTER;
    return unit_.site(inst, address, static_cast<DuressAccess>(access), size, index_, flags);
  }

  /// A place in the entry block for a value that does not fit a register.
  llvm::AllocaInst* temporary(llvm::Type* type) {
    llvm::IRBuilder<> builder(&*function_.getEntryBlock().getFirstInsertionPt());
    return builder.CreateAlloca(type);
  }

  void replace_load(const Access& access) {
    llvm::IRBuilder<> builder(access.inst);
    llvm::Type* type = access.inst->getType();
    llvm::Constant* where =
        site(access.inst, access.address, kDuressRead, access.size, access.is_volatile, type);
    llvm::Value* value;
    if (fits_register(type, access.size)) {
      llvm::CallInst* call = unit_.hooks.call(builder, ("__duress_load" + llvm::Twine(access.size)).str(),
                                              {access.address, where});
      set_align(call, access.align);
      value = from_integer(builder, call, type);
    } else {
      llvm::AllocaInst* slot = temporary(type);
      unit_.hooks.call(builder, "__duress_loadn",
                       {slot, access.address, builder.getInt64(access.size), where});
      value = builder.CreateLoad(type, slot);
    }
    access.inst->replaceAllUsesWith(value);
    access.inst->eraseFromParent();
  }

  void replace_store(const Access& access) {
    auto* store = llvm::cast<llvm::StoreInst>(access.inst);
    llvm::Value* value = store->getValueOperand();
    llvm::Constant* where =
        site(store, access.address, kDuressWrite, access.size, access.is_volatile, value->getType());
    llvm::IRBuilder<> builder(store);
    if (access.is_vptr_store) {
      auto* old =
          unseen_by_sanitizers(builder.CreateAlignedLoad(builder.getPtrTy(), access.address, access.align));
      builder.SetInsertPoint(split_if(builder.CreateICmpNE(old, value), store, nullptr)->getTerminator());
      builder.SetCurrentDebugLocation(store->getDebugLoc());
    }
    if (fits_register(value->getType(), access.size)) {
      set_align(unit_.hooks.call(builder, ("__duress_store" + llvm::Twine(access.size)).str(),
                                 {access.address, to_integer(builder, value, access.size), where}),
                access.align);
    } else {
      llvm::AllocaInst* slot = temporary(value->getType());
      builder.CreateStore(value, slot);
      unit_.hooks.call(builder, "__duress_storen",
                       {access.address, slot, builder.getInt64(access.size), where});
    }
    store->eraseFromParent();
  }

  bool is_shared_copy(llvm::CallBase* call) {
    if (call->hasMetadata(llvm::LLVMContext::MD_nosanitize)) return false;
    return filter_.may_be_shared(call->getArgOperand(0)) ||
           (memory_call(*call) != MemoryCall::kSet && filter_.may_be_shared(call->getArgOperand(1)));
  }

  void replace_memory_call(llvm::CallBase* call) {
    llvm::IRBuilder<> builder(call);
    llvm::Value* to = call->getArgOperand(0);
    llvm::Value* from = call->getArgOperand(1);
    llvm::Value* bytes = builder.CreateZExtOrTrunc(call->getArgOperand(2), builder.getInt64Ty());
    auto* constant = llvm::dyn_cast<llvm::ConstantInt>(bytes);
    uint64_t size = constant == nullptr ? 0 : constant->getZExtValue();
    // One hook does both accesses; its site names what is written, or what is read if that is a local.
    bool names_target = memory_call(*call) == MemoryCall::kSet || filter_.may_be_shared(to);
    llvm::Constant* where =
        site(call, names_target ? to : from, names_target ? kDuressWrite : kDuressRead, size, false);
    switch (memory_call(*call)) {
      case MemoryCall::kSet:
        unit_.hooks.call(builder, "__duress_memset",
                         {to, builder.CreateZExtOrTrunc(from, builder.getInt32Ty()), bytes, where});
        break;
      case MemoryCall::kMove:
        unit_.hooks.call(builder, "__duress_memmove", {to, from, bytes, where});
        break;
      default:
        unit_.hooks.call(builder, "__duress_memcpy", {to, from, bytes, where});
    }
    if (!call->getType()->isVoidTy()) call->replaceAllUsesWith(to);
    if (auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(call)) {
      builder.CreateBr(invoke->getNormalDest());
      invoke->getUnwindDest()->removePredecessor(invoke->getParent());
    }
    call->eraseFromParent();
  }

  /// An argument passed by value is read by the call: read it through the hook into a copy first.
  void copy_byval_arguments(llvm::CallBase* call) {
    if (call->isMustTailCall()) return;
    for (unsigned i = 0; i < call->arg_size(); ++i) {
      llvm::Value* from = call->getArgOperand(i);
      if (!call->isByValArgument(i) || !filter_.may_be_shared(from)) continue;
      llvm::Type* type = call->getParamByValType(i);
      uint64_t size = unit_.module.getDataLayout().getTypeAllocSize(type);
      if (size == 0) continue;
      llvm::AllocaInst* slot = temporary(type);
      slot->setAlignment(std::max(slot->getAlign(), call->getParamAlign(i).valueOrOne()));
      llvm::IRBuilder<> builder(call);
      unit_.hooks.call(builder, "__duress_loadn",
                       {slot, from, builder.getInt64(size), site(call, from, kDuressRead, size, false)});
      call->setArgOperand(i, slot);
    }
  }

  void make_opaque(llvm::CallBase* call) {
    if (call->isMustTailCall()) return;
    call->removeFnAttr(llvm::Attribute::AlwaysInline);
    call->removeFnAttr(llvm::Attribute::Builtin);
    call->removeFnAttr(llvm::Attribute::Memory);
    call->addFnAttr(llvm::Attribute::NoInline);
    call->addFnAttr(llvm::Attribute::NoBuiltin);
    llvm::SmallVector<llvm::OperandBundleDef, 2> bundles;
    call->getOperandBundlesAsDefs(bundles);
    bundles.emplace_back(kOpaqueBundle, std::vector<llvm::Value*>());
    replace_bundles(call, bundles);
  }

  llvm::Function& function_;
  Unit& unit_;
  uint32_t index_;
  AccessFilter filter_;
  llvm::SmallPtrSet<const llvm::Instruction*, 16> deciding_;  // before hooks take their places
};

}  // namespace

void instrument_faithful(llvm::Function& function, Unit& unit, uint32_t function_index) {
  FaithfulBody(function, unit, function_index).run();
}

/// The fast instruction selector leaves these to the slow one together with all of their block.
void part_slow_terminators(llvm::Function& function) {
  llvm::SmallVector<llvm::Instruction*, 16> slow;
  for (llvm::BasicBlock& block : function) {
    llvm::Instruction* end = block.getTerminator();
    if ((llvm::isa<llvm::InvokeInst>(end) || llvm::isa<llvm::SwitchInst>(end)) && end != &block.front())
      slow.push_back(end);
  }
  for (llvm::Instruction* end : slow) end->getParent()->splitBasicBlock(end->getIterator());
}

void finish_faithful(llvm::Function& function, Unit& unit) {
  for (llvm::Instruction& inst : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(&inst);
    if (call == nullptr || !call->getOperandBundle(kOpaqueBundle)) continue;
    llvm::SmallVector<llvm::OperandBundleDef, 2> bundles;
    call->getOperandBundlesAsDefs(bundles);
    llvm::erase_if(bundles,
                   [](const llvm::OperandBundleDef& bundle) { return bundle.getTag() == kOpaqueBundle; });
    replace_bundles(call, bundles);
  }
  Frames(function, unit.hooks).instrument_body();
  inline_quiet_accesses(function, unit);
  part_slow_terminators(function);
}

}  // namespace duress::pass
