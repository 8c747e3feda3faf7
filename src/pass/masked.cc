// SPDX-License-Identifier: Apache-2.0
#include "pass/masked.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"
#include "pass/compat.h"

namespace duress::pass {
namespace {

struct Masked {
  llvm::Value* address;  // or a vector of them
  llvm::Value* mask;
  llvm::FixedVectorType* data;
  bool write;
  bool packed;  // the enabled lanes are adjacent in memory
};

bool describe(const llvm::Instruction* inst, Masked* masked) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(inst);
  if (call == nullptr) return false;
  unsigned address = 0;
  bool packed = false;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::masked_expandload:
      packed = true;
      break;
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_gather:
      break;
    case llvm::Intrinsic::masked_compressstore:
      packed = true;
      address = 1;
      break;
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::masked_scatter:
      address = 1;
      break;
    default:
      return false;
  }
  bool write = call->getType()->isVoidTy();
  llvm::Type* type = write ? call->getArgOperand(0)->getType() : call->getType();
  // The mask's position has moved between versions (the alignment operand went away): it comes after the
  // address, and is the first operand from there on that is a vector of bits.
  llvm::Value* mask = nullptr;
  for (unsigned i = address + 1; i < call->arg_size() && mask == nullptr; ++i) {
    auto* vector = llvm::dyn_cast<llvm::VectorType>(call->getArgOperand(i)->getType());
    if (vector != nullptr && vector->getElementType()->isIntegerTy(1)) mask = call->getArgOperand(i);
  }
  *masked = {call->getArgOperand(address), mask, llvm::dyn_cast<llvm::FixedVectorType>(type), write, packed};
  return mask != nullptr && masked->data != nullptr;
}

}  // namespace

bool is_masked_access(const llvm::Instruction* inst, AccessFilter& filter) {
  Masked masked;
  return describe(inst, &masked) && filter.may_be_shared(masked.address);
}

void check_masked_access(llvm::IntrinsicInst* inst, CheckEmitter& emitter) {
  Masked masked;
  if (!describe(inst, &masked)) return;
  const llvm::DataLayout& layout = inst->getModule()->getDataLayout();
  uint64_t size = layout.getTypeStoreSize(masked.data->getElementType());
  unsigned lanes = masked.data->getNumElements();
  if (masked.packed) {
    llvm::IRBuilder<> builder(inst);
    llvm::Type* bits = builder.getIntNTy(lanes);
    llvm::Value* count = builder.CreateCall(intrinsic(*inst->getModule(), llvm::Intrinsic::ctpop, {bits}),
                                            {builder.CreateBitCast(masked.mask, bits)});
    llvm::Value* bytes =
        builder.CreateMul(builder.CreateZExtOrTrunc(count, builder.getInt64Ty()), builder.getInt64(size));
    emitter.emit_range(builder, inst, masked.address, bytes, masked.write, 0);
    return;
  }
  for (unsigned lane = 0; lane < lanes; ++lane) {
    llvm::IRBuilder<> builder(inst);
    llvm::Value* enabled = builder.CreateExtractElement(masked.mask, lane);
    auto* known = llvm::dyn_cast<llvm::ConstantInt>(enabled);
    if (known != nullptr && known->isZero()) continue;
    if (known == nullptr) builder.SetInsertPoint(split_if(enabled, inst, nullptr)->getTerminator());
    builder.SetCurrentDebugLocation(inst->getDebugLoc());
    llvm::Value* address = masked.address;
    if (address->getType()->isVectorTy()) {
      address = builder.CreateExtractElement(address, lane);
    } else {
      address = builder.CreateConstGEP1_64(masked.data->getElementType(), address, lane);
    }
    emitter.emit_range(builder, inst, address, builder.getInt64(size), masked.write, size);
  }
}

}  // namespace duress::pass
