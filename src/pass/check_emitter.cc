// SPDX-License-Identifier: Apache-2.0
#include "pass/check_emitter.h"

#include <duress/hooks.h>

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/KnownBits.h"
#include "pass/compat.h"

#include <cstddef>

namespace duress::pass {
namespace {

constexpr uint64_t kGranule = 8;      // bytes of memory per shadow cell
constexpr uint64_t kCellBytes = 16;   // a write word, then a read word
constexpr uint64_t kReadWord = 8;

bool has_hook(uint64_t size) { return size == 1 || size == 2 || size == 4 || size == 8 || size == 16; }

}  // namespace

llvm::BasicBlock* split_if(llvm::Value* condition, llvm::Instruction* inst, llvm::MDNode* weights) {
  llvm::BasicBlock* before = inst->getParent();
  llvm::BasicBlock* after = before->splitBasicBlock(inst->getIterator());
  llvm::BasicBlock* then = llvm::BasicBlock::Create(inst->getContext(), "", before->getParent(), after);
  llvm::IRBuilder<> builder(then);
  builder.SetCurrentDebugLocation(inst->getDebugLoc());
  builder.CreateBr(after);
  before->getTerminator()->eraseFromParent();
  builder.SetInsertPoint(before);
  builder.SetCurrentDebugLocation(inst->getDebugLoc());
  builder.CreateCondBr(condition, then, after, weights);
  return then;
}

CheckEmitter::CheckEmitter(llvm::Function& function, Unit& unit, uint32_t function_index, bool leaf)
    : function_(function),
      unit_(unit),
      layout_(function.getParent()->getDataLayout()),
      function_index_(function_index),
      leaf_(leaf),
      frames_(function, unit.hooks),
      unlikely_(llvm::MDBuilder(function.getContext()).createBranchWeights(1, 1 << 20)) {}

void CheckEmitter::around(llvm::IRBuilderBase& builder, bool before) {
  if (leaf_) frames_.push_around(builder, before);
}

void CheckEmitter::emit_range(llvm::IRBuilderBase& builder, llvm::Instruction* inst, llvm::Value* start,
                              llvm::Value* bytes, bool write, uint64_t site_size) {
  llvm::Constant* site = unit_.site(inst, start, write ? kDuressWrite : kDuressRead, site_size, function_index_, 0);
  around(builder, true);
  unit_.hooks.call(builder, write ? "__duress_range_write" : "__duress_range_read", {start, bytes, site});
  around(builder, false);
}

void CheckEmitter::emit(const Check& check) {
  const Access& access = check.access;
  llvm::IRBuilder<> builder(check.before);
  builder.SetCurrentDebugLocation(access.inst->getDebugLoc());
  uint64_t element = 0;
  llvm::Value* address = access.address;
  if (check.range_start != nullptr) {
    // Named after one of the accesses that it stands for.
    element = layout_.getTypeStoreSize(llvm::getLoadStoreType(access.inst)).getFixedValue();
    address = llvm::getLoadStorePointerOperand(access.inst);
  } else {
    element = access.size;
  }
  uint8_t flags = access.is_volatile ? DURESS_SITE_VOLATILE : 0;
  Variable variable = unit_.namer.name(access.inst, address, element);
  llvm::Constant* site =
      unit_.sites.add({&function_, access.inst->getDebugLoc().get(), access.write ? kDuressWrite : kDuressRead,
                       check.range_start != nullptr ? 0 : element, variable, function_index_, flags});

  if (check.range_start != nullptr || !has_hook(access.size)) {
    llvm::Value* start = check.range_start != nullptr ? check.range_start : access.address;
    llvm::Value* bytes = check.range_start != nullptr ? check.range_bytes : builder.getInt64(access.size);
    around(builder, true);
    unit_.hooks.call(builder, access.write ? "__duress_range_write" : "__duress_range_read", {start, bytes, site});
    around(builder, false);
    return;
  }
  llvm::Value* slow = failed(builder, check, access.address);
  if (access.is_vptr_store) {
    auto* store = llvm::cast<llvm::StoreInst>(access.inst);
    auto* old = unseen_by_sanitizers(builder.CreateAlignedLoad(builder.getPtrTy(), access.address, access.align));
    slow = builder.CreateAnd(builder.CreateICmpNE(old, store->getValueOperand()), slow);
  }
  llvm::IRBuilder<> cold(split_if(slow, check.before, unlikely_)->getTerminator());
  cold.SetCurrentDebugLocation(access.inst->getDebugLoc());
  around(cold, true);
  std::string hook = (llvm::Twine("__duress_check_") + (access.write ? "write" : "read") + llvm::Twine(access.size)).str();
  unit_.hooks.call(cold, hook, {access.address, site});
  around(cold, false);
}

llvm::Value* CheckEmitter::word_failed(llvm::IRBuilderBase& builder, llvm::Value* cell, uint8_t mask,
                                       llvm::Value* rotation) {
  llvm::Type* i64 = builder.getInt64Ty();
  // Monotonic: other threads write cells, and the word must not be read twice.
  auto* word = builder.CreateAlignedLoad(i64, builder.CreateIntToPtr(cell, builder.getPtrTy()), llvm::Align(8));
  word->setAtomic(llvm::AtomicOrdering::Monotonic);
  unseen_by_sanitizers(word);
  auto self = [&](uint64_t offset) {
    return unseen_by_sanitizers(builder.CreateAlignedLoad(i64, unit_.hooks.self(offset), llvm::Align(8)));
  };
  llvm::Value* age = builder.CreateSub(word, self(offsetof(DuressSelf, epoch_low)));
  llvm::Value* old = builder.CreateICmpUGE(age, self(offsetof(DuressSelf, epoch_span)));
  llvm::Value* bits = builder.CreateTrunc(word, builder.getInt8Ty());
  if (rotation != nullptr) {
    // A rotation takes its count modulo 8 as it is: one instruction less than shifting the mask.
    bits = builder.CreateCall(intrinsic(unit_.module, llvm::Intrinsic::fshr, {builder.getInt8Ty()}), {bits, bits, rotation});
  }
  llvm::Value* uncovered = builder.CreateICmpNE(builder.CreateAnd(bits, builder.getInt8(mask)), builder.getInt8(0));
  return builder.CreateOr(uncovered, old);
}

llvm::Value* CheckEmitter::failed(llvm::IRBuilderBase& builder, const Check& check, llvm::Value* address) {
  uint64_t size = check.access.size;
  llvm::Type* i64 = builder.getInt64Ty();
  llvm::Value* p = builder.CreatePtrToInt(address, i64);
  llvm::Value* index = builder.CreateShl(builder.CreateLShr(p, 32), 3);
  llvm::Value* entry = builder.CreateAdd(index, builder.getInt64(DURESS_SHADOW_TABLE));
  auto* base = unseen_by_sanitizers(
      builder.CreateAlignedLoad(i64, builder.CreateIntToPtr(entry, builder.getPtrTy()), llvm::Align(8)));

  // Where in its granule the access lies, if known.
  llvm::KnownBits low = llvm::computeKnownBits(address, layout_);
  uint64_t zeros = low.Zero.getZExtValue() & 7;
  uint64_t ones = low.One.getZExtValue() & 7;
  if (check.access.align.value() > 1) zeros |= std::min<uint64_t>(check.access.align.value(), 8) - 1;
  uint64_t highest = ~zeros & 7;  // the largest offset that is possible
  bool aligned = highest == 0;
  bool exact = (zeros | ones) == 7;

  // Two cell bytes per byte. Masked after doubling: the mask then fits an instruction.
  llvm::Value* doubled = builder.CreateShl(p, 1);
  if (!aligned) doubled = builder.CreateAnd(doubled, ~uint64_t{15});
  llvm::Value* cell = builder.CreateAdd(base, doubled);
  if (!check.access.write) cell = builder.CreateAdd(cell, builder.getInt64(kReadWord));

  if (size == 16) {
    llvm::Value* second = builder.CreateAdd(cell, builder.getInt64(kCellBytes));
    llvm::Value* result = builder.CreateOr(word_failed(builder, cell, 0xff, nullptr), word_failed(builder, second, 0xff, nullptr));
    if (aligned) return result;
    return builder.CreateOr(result, builder.CreateICmpNE(builder.CreateAnd(p, 7), builder.getInt64(0)));
  }
  uint64_t bits = (uint64_t{1} << size) - 1;
  llvm::Value* rotation = exact ? nullptr : builder.CreateTrunc(p, builder.getInt8Ty());
  llvm::Value* result = word_failed(builder, cell, static_cast<uint8_t>(exact ? bits << ones : bits), rotation);
  bool may_cross = exact ? ones + size > kGranule : highest + size > kGranule;
  if (!may_cross) return result;
  llvm::Value* crosses = builder.CreateICmpUGT(builder.CreateAnd(p, 7), builder.getInt64(kGranule - size));
  return builder.CreateOr(crosses, result);
}

}  // namespace duress::pass
