// SPDX-License-Identifier: Apache-2.0
#include "pass/access.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "pass/compat.h"

namespace duress::pass {
namespace {

bool is_vtable_access(const llvm::Instruction* inst) {
  llvm::MDNode* tag = inst->getMetadata(llvm::LLVMContext::MD_tbaa);
  return tag != nullptr && tag->isTBAAVtableAccess();
}

bool is_vtable(const llvm::Value* value) {
  auto* global = llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(value));
  return global != nullptr &&
         (global->getName().starts_with("_ZTV") || global->getName().starts_with("_ZTC"));
}

bool is_bookkeeping(llvm::StringRef name) {
  for (llvm::StringRef prefix : {"__duress", "__llvm", "llvm.", "__asan", "__ubsan", "__sanc", "__msan",
                                 "__tsan", "__profc_", "__profd_", "__profvp_", "___asan"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

/// Whether a use lets others than this function know the address. `follow` is set if it makes another pointer
/// into the same object.
bool captures(const llvm::Use& use, bool* follow) {
  const auto* inst = llvm::cast<llvm::Instruction>(use.getUser());
  *follow = llvm::isa<llvm::GetElementPtrInst, llvm::CastInst, llvm::PHINode, llvm::SelectInst>(inst) &&
            inst->getType()->isPtrOrPtrVectorTy();
  if (*follow || llvm::isa<llvm::ICmpInst>(inst)) return false;
  if (inst->isVolatile()) return true;
  if (llvm::isa<llvm::LoadInst>(inst)) return false;
  if (llvm::isa<llvm::StoreInst>(inst))
    return use.getOperandNo() != llvm::StoreInst::getPointerOperandIndex();
  const auto* call = llvm::dyn_cast<llvm::CallBase>(inst);
  if (call == nullptr || !call->isArgOperand(&use)) return true;
  unsigned argument = call->getArgOperandNo(&use);
  return !call->isByValArgument(argument) && !call->doesNotCapture(argument);
}

/// Whether the address of a local object may be known outside its function. LLVM's own answer is yes for
/// objects that are compared (`p != end`) or passed by value; neither makes them accessible to others. In a
/// ring of queues checking such objects took half of the time.
bool may_be_captured(const llvm::Value* object) {
  constexpr size_t kMostPointers = 256;
  llvm::SmallPtrSet<const llvm::Value*, 16> seen = {object};
  llvm::SmallVector<const llvm::Value*, 16> pointers = {object};
  while (!pointers.empty()) {
    for (const llvm::Use& use : pointers.pop_back_val()->uses()) {
      bool follow = false;
      if (captures(use, &follow)) return true;
      if (follow && seen.insert(use.getUser()).second) pointers.push_back(use.getUser());
    }
    if (seen.size() > kMostPointers) return true;
  }
  return false;
}

/// Functions of the C library that neither synchronise nor fail to return, but are not marked so.
const llvm::StringSet<>& quiet_library_functions() {
  static const llvm::StringSet<> names = {
      "sqrt",   "sqrtf",  "sin",     "sinf",     "cos",     "cosf",    "tan",     "atan",    "atan2",
      "atan2f", "exp",    "expf",    "exp2",     "log",     "logf",    "log2",    "log10",   "pow",
      "powf",   "fmod",   "fmodf",   "floor",    "floorf",  "ceil",    "ceilf",   "round",   "trunc",
      "fabs",   "hypot",  "cbrt",    "abs",      "labs",    "strlen",  "strcmp",  "strncmp", "memcmp",
      "memchr", "strchr", "strrchr", "strstr",   "memcpy",  "memmove", "memset",  "acos",    "asin",
      "sinh",   "cosh",   "tanh",    "ldexp",    "isalpha", "isdigit", "isspace", "toupper", "tolower",
      "lround", "lrint",  "rint",    "nearbyint"};
  return names;
}

}  // namespace

bool AccessFilter::may_be_shared(const llvm::Value* address) {
  if (address->getType()->isVectorTy()) return true;
  if (address->getType()->getPointerAddressSpace() != 0 || address->isSwiftError()) return false;
  const llvm::Value* object = llvm::getUnderlyingObject(address);
  if (auto* global = llvm::dyn_cast<llvm::GlobalVariable>(object)) {
    return !global->isConstant() && !is_bookkeeping(global->getName());
  }
  if (llvm::isa<llvm::ConstantData>(object)) return false;  // null, undef: a crash, not a race
  // What a v-table pointer points at is constant.
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(object)) return !is_vtable_access(load);
  auto* argument = llvm::dyn_cast<llvm::Argument>(object);
  bool is_local = llvm::isa<llvm::AllocaInst>(object) || (argument != nullptr && argument->hasByValAttr());
  if (!is_local) return true;
  auto [it, added] = escapes_.try_emplace(object, true);
  if (added) it->second = may_be_captured(object);
  return it->second;
}

bool AccessFilter::classify(llvm::Instruction* inst, Access* access) {
  llvm::Type* type;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(inst)) {
    if (load->isAtomic()) return false;
    *access = {inst, load->getPointerOperand(), 0, load->getAlign(), false, load->isVolatile(), false};
    type = load->getType();
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(inst)) {
    if (store->isAtomic()) return false;
    *access = {inst, store->getPointerOperand(), 0, store->getAlign(), true, store->isVolatile(), false};
    type = store->getValueOperand()->getType();
    access->is_vptr_store =
        type->isPointerTy() && (is_vtable_access(store) || is_vtable(store->getValueOperand()));
  } else {
    return false;
  }
  llvm::TypeSize size = layout_.getTypeStoreSize(type);
  if (size.isScalable() || size.getFixedValue() == 0) return false;
  access->size = size.getFixedValue();
  return !inst->hasMetadata(llvm::LLVMContext::MD_nosanitize) && may_be_shared(access->address);
}

bool AccessFilter::is_hooked_atomic(const llvm::Instruction* inst) const {
  if (!inst->isAtomic() || inst->hasMetadata(llvm::LLVMContext::MD_nosanitize)) return false;
  if (auto* fence = llvm::dyn_cast<llvm::FenceInst>(inst)) {
    return fence->getSyncScopeID() != llvm::SyncScope::SingleThread;
  }
  const llvm::Value* address = nullptr;
  llvm::Type* type = inst->getType();
  llvm::SyncScope::ID scope = llvm::SyncScope::System;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(inst)) {
    address = load->getPointerOperand();
    scope = load->getSyncScopeID();
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(inst)) {
    address = store->getPointerOperand();
    type = store->getValueOperand()->getType();
    scope = store->getSyncScopeID();
  } else if (auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(inst)) {
    address = rmw->getPointerOperand();
    scope = rmw->getSyncScopeID();
  } else if (auto* cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(inst)) {
    address = cas->getPointerOperand();
    type = cas->getCompareOperand()->getType();
    scope = cas->getSyncScopeID();
  } else {
    return false;
  }
  if (scope == llvm::SyncScope::SingleThread || address->getType()->getPointerAddressSpace() != 0)
    return false;
  auto* global = llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(address));
  if (global != nullptr && is_bookkeeping(global->getName())) return false;
  uint64_t size = layout_.getTypeStoreSize(type);
  return size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
}

bool may_synchronise(const llvm::CallBase& call) {
  if (llvm::isa<llvm::IntrinsicInst>(call)) {
    return call.mayThrow() || !call.willReturn();
  }
  if (call.isInlineAsm()) return true;
  if (!call.willReturn() || call.mayThrow()) {
    const llvm::Function* callee = call.getCalledFunction();
    return callee == nullptr || !callee->isDeclaration() ||
           !quiet_library_functions().contains(callee->getName());
  }
  return !call.hasFnAttr(llvm::Attribute::NoSync) && !call.doesNotAccessMemory() &&
         (call.getCalledFunction() == nullptr || !call.getCalledFunction()->isDeclaration() ||
          !quiet_library_functions().contains(call.getCalledFunction()->getName()));
}

bool may_synchronise(const llvm::Instruction& inst) {
  if (auto* call = llvm::dyn_cast<llvm::CallBase>(&inst)) return may_synchronise(*call);
  return inst.isAtomic() || inst.isVolatile();
}

bool is_real_call(const llvm::Instruction& inst) {
  auto* call = llvm::dyn_cast<llvm::CallBase>(&inst);
  return call != nullptr && !call->isInlineAsm() && !llvm::isa<llvm::IntrinsicInst>(call);
}

MemoryCall memory_call(const llvm::CallBase& call) {
  if (llvm::isa<llvm::MemSetInst>(call)) return MemoryCall::kSet;
  if (llvm::isa<llvm::MemMoveInst>(call)) return MemoryCall::kMove;
  if (llvm::isa<llvm::MemCpyInst>(call)) return MemoryCall::kCopy;
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || callee->isIntrinsic() || !callee->isDeclaration() || call.arg_size() != 3) {
    return MemoryCall::kNone;
  }
  if (!call.getArgOperand(0)->getType()->isPointerTy() ||
      !call.getArgOperand(2)->getType()->isIntegerTy(64)) {
    return MemoryCall::kNone;
  }
  if (callee->getName() == "memcpy") return MemoryCall::kCopy;
  if (callee->getName() == "memmove") return MemoryCall::kMove;
  if (callee->getName() == "memset") return MemoryCall::kSet;
  return MemoryCall::kNone;
}

}  // namespace duress::pass
