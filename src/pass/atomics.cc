// SPDX-License-Identifier: Apache-2.0
#include "pass/atomics.h"

#include <duress/hooks.h>

#include <optional>

#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LowerAtomic.h"

namespace duress::pass {
namespace {

uint32_t c_order(llvm::AtomicOrdering order) {
  switch (order) {
    case llvm::AtomicOrdering::Acquire:
      return __ATOMIC_ACQUIRE;
    case llvm::AtomicOrdering::Release:
      return __ATOMIC_RELEASE;
    case llvm::AtomicOrdering::AcquireRelease:
      return __ATOMIC_ACQ_REL;
    case llvm::AtomicOrdering::SequentiallyConsistent:
      return __ATOMIC_SEQ_CST;
    default:
      return __ATOMIC_RELAXED;
  }
}

std::optional<uint32_t> hook_operation(llvm::AtomicRMWInst::BinOp op) {
  using Rmw = llvm::AtomicRMWInst;
  switch (op) {
    case Rmw::Xchg:
      return kDuressXchg;
    case Rmw::Add:
      return kDuressAdd;
    case Rmw::Sub:
      return kDuressSub;
    case Rmw::And:
      return kDuressAnd;
    case Rmw::Or:
      return kDuressOr;
    case Rmw::Xor:
      return kDuressXor;
    case Rmw::Nand:
      return kDuressNand;
    case Rmw::Max:
      return kDuressMax;
    case Rmw::Min:
      return kDuressMin;
    case Rmw::UMax:
      return kDuressUMax;
    case Rmw::UMin:
      return kDuressUMin;
    default:
      return std::nullopt;  // floating point and wrapping operations
  }
}

class Lowering {
 public:
  Lowering(llvm::Instruction* inst, HookSet& hooks, llvm::Constant* site, const Around& around)
      : inst_(inst),
        builder_(inst),
        hooks_(hooks),
        site_(site),
        around_(around),
        shape_(atomic_shape(inst)) {}

  void run() {
    llvm::Value* result = nullptr;
    if (auto* fence = llvm::dyn_cast<llvm::FenceInst>(inst_)) {
      call("__duress_fence", {order(fence->getOrdering()), site_});
    } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(inst_)) {
      result = from_integer(builder_, sized("load", {shape_.address, order(load->getOrdering()), site_}),
                            load->getType());
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(inst_)) {
      sized("store", {shape_.address, bits(store->getValueOperand()), order(store->getOrdering()), site_});
    } else if (auto* cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(inst_)) {
      result = lower_cas(cas);
    } else {
      result = lower_rmw(llvm::cast<llvm::AtomicRMWInst>(inst_));
    }
    if (result != nullptr) inst_->replaceAllUsesWith(result);
    inst_->eraseFromParent();
  }

 private:
  llvm::Value* order(llvm::AtomicOrdering value) { return builder_.getInt32(c_order(value)); }
  llvm::Value* bits(llvm::Value* value) { return to_integer(builder_, value, shape_.size); }

  llvm::Value* call(llvm::StringRef name, llvm::ArrayRef<llvm::Value*> args) {
    around_(builder_, true);
    llvm::Value* result = hooks_.call(builder_, name, args);
    around_(builder_, false);
    return result;
  }
  llvm::Value* sized(llvm::StringRef what, llvm::ArrayRef<llvm::Value*> args) {
    return call(("__duress_atomic_" + what + llvm::Twine(shape_.size)).str(), args);
  }

  llvm::Value* cas(llvm::Value* expected, llvm::Value* desired, llvm::AtomicOrdering success,
                   llvm::AtomicOrdering failure) {
    return sized("cas", {shape_.address, expected, desired, order(success), order(failure), site_});
  }

  llvm::Value* lower_cas(llvm::AtomicCmpXchgInst* inst) {
    llvm::Value* expected = bits(inst->getCompareOperand());
    llvm::Value* old =
        cas(expected, bits(inst->getNewValOperand()), inst->getSuccessOrdering(), inst->getFailureOrdering());
    llvm::Value* success = builder_.CreateICmpEQ(old, expected);
    llvm::Value* pair = llvm::PoisonValue::get(inst->getType());
    pair = builder_.CreateInsertValue(pair, from_integer(builder_, old, inst->getCompareOperand()->getType()),
                                      0);
    return builder_.CreateInsertValue(pair, success, 1);
  }

  llvm::Value* lower_rmw(llvm::AtomicRMWInst* inst) {
    if (std::optional<uint32_t> op = hook_operation(inst->getOperation())) {
      llvm::Value* old = sized("rmw", {shape_.address, bits(inst->getValOperand()), builder_.getInt32(*op),
                                       order(inst->getOrdering()), site_});
      return from_integer(builder_, old, inst->getType());
    }
    return lower_to_cas_loop(inst);
  }

  /// An operation that the runtime does not know: old = load; do { new = op(old) } while (!cas(old, new)).
  llvm::Value* lower_to_cas_loop(llvm::AtomicRMWInst* inst) {
    llvm::BasicBlock* before = inst->getParent();
    llvm::BasicBlock* after = before->splitBasicBlock(inst->getIterator(), "duress.rmw.end");
    llvm::BasicBlock* loop =
        llvm::BasicBlock::Create(inst->getContext(), "duress.rmw", before->getParent(), after);
    llvm::DebugLoc location = inst->getDebugLoc();
    before->getTerminator()->eraseFromParent();
    builder_.SetInsertPoint(before);
    builder_.SetCurrentDebugLocation(location);
    llvm::Value* first = sized("load", {shape_.address, order(llvm::AtomicOrdering::Monotonic), site_});
    llvm::BasicBlock* entry = builder_.GetInsertBlock();
    builder_.CreateBr(loop);
    builder_.SetInsertPoint(loop);
    llvm::PHINode* expected = builder_.CreatePHI(first->getType(), 2);
    expected->addIncoming(first, entry);
    llvm::Value* updated =
        llvm::buildAtomicRMWValue(inst->getOperation(), builder_,
                                  from_integer(builder_, expected, inst->getType()), inst->getValOperand());
    llvm::AtomicOrdering failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(inst->getOrdering());
    llvm::Value* old = cas(expected, bits(updated), inst->getOrdering(), failure);
    expected->addIncoming(old, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpEQ(old, expected), after, loop);
    builder_.SetInsertPoint(inst);
    return from_integer(builder_, old, inst->getType());
  }

  llvm::Instruction* inst_;
  llvm::IRBuilder<> builder_;
  HookSet& hooks_;
  llvm::Constant* site_;
  const Around& around_;
  AtomicShape shape_;
};

}  // namespace

llvm::Value* to_integer(llvm::IRBuilderBase& builder, llvm::Value* value, uint64_t size) {
  llvm::Type* type = builder.getIntNTy(size * 8);
  if (value->getType()->isPointerTy()) return builder.CreatePtrToInt(value, type);
  if (auto* vector = llvm::dyn_cast<llvm::VectorType>(value->getType());
      vector != nullptr && vector->getElementType()->isPointerTy()) {
    value =
        builder.CreatePtrToInt(value, llvm::VectorType::get(builder.getInt64Ty(), vector->getElementCount()));
  }
  if (!value->getType()->isIntegerTy()) {
    uint64_t width = value->getType()->getPrimitiveSizeInBits();
    value = builder.CreateBitCast(value, builder.getIntNTy(width));
  }
  return builder.CreateZExt(value, type);
}

llvm::Value* from_integer(llvm::IRBuilderBase& builder, llvm::Value* bits, llvm::Type* type) {
  if (type->isPointerTy()) return builder.CreateIntToPtr(bits, type);
  if (auto* vector = llvm::dyn_cast<llvm::VectorType>(type);
      vector != nullptr && vector->getElementType()->isPointerTy()) {
    auto* integers = llvm::VectorType::get(builder.getInt64Ty(), vector->getElementCount());
    return builder.CreateIntToPtr(builder.CreateBitCast(bits, integers), type);
  }
  uint64_t width = type->getPrimitiveSizeInBits();
  bits = builder.CreateTrunc(bits, builder.getIntNTy(width));
  return builder.CreateBitCast(bits, type);
}

AtomicShape atomic_shape(const llvm::Instruction* inst) {
  const llvm::DataLayout& layout = inst->getModule()->getDataLayout();
  auto shape = [&](const llvm::Value* address, llvm::Type* type, int access) {
    return AtomicShape{const_cast<llvm::Value*>(address), layout.getTypeStoreSize(type).getFixedValue(),
                       access};
  };
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(inst)) {
    return shape(load->getPointerOperand(), load->getType(), kDuressAtomicRead);
  }
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(inst)) {
    return shape(store->getPointerOperand(), store->getValueOperand()->getType(), kDuressAtomicWrite);
  }
  if (auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(inst)) {
    return shape(rmw->getPointerOperand(), rmw->getType(), kDuressAtomicRmw);
  }
  if (auto* cas = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(inst)) {
    return shape(cas->getPointerOperand(), cas->getCompareOperand()->getType(), kDuressAtomicRmw);
  }
  return {nullptr, 0, kDuressFence};
}

void lower_atomic(llvm::Instruction* inst, HookSet& hooks, llvm::Constant* site, const Around& around) {
  Lowering(inst, hooks, site, around).run();
}

}  // namespace duress::pass
