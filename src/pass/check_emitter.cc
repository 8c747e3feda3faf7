// SPDX-License-Identifier: Apache-2.0
#include "pass/check_emitter.h"

#include <duress/hooks.h>

#include <cstddef>

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/KnownBits.h"
#include "pass/compat.h"

namespace duress::pass {
namespace {

constexpr uint64_t kGranule = 8;        // of the filter
constexpr uint64_t kInlineObject = 48;  // up to this many bytes inline checks are shorter than a call

std::string hook_name(const char* prefix, const Access& access) {
  return (llvm::Twine(prefix) + (access.write ? "write" : "read") + llvm::Twine(access.size)).str();
}

bool has_hook(uint64_t size) {
  return size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
}

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

CheckEmitter::CheckEmitter(llvm::Function& function, Unit& unit, uint32_t function_index, bool leaf,
                           Places hot)
    : function_(function),
      unit_(unit),
      layout_(function.getParent()->getDataLayout()),
      function_index_(function_index),
      leaf_(leaf),
      hot_(std::move(hot)),
      frames_(function, unit.hooks),
      unlikely_(llvm::MDBuilder(function.getContext()).createBranchWeights(1, 1 << 20)) {}

void CheckEmitter::around(llvm::IRBuilderBase& builder, bool before) {
  if (leaf_) frames_.push_around(builder, before);
}

void CheckEmitter::emit_range(llvm::IRBuilderBase& builder, llvm::Instruction* inst, llvm::Value* start,
                              llvm::Value* bytes, bool write, uint64_t site_size) {
  llvm::Constant* site =
      unit_.site(inst, start, write ? kDuressWrite : kDuressRead, site_size, function_index_, 0);
  around(builder, true);
  unit_.hooks.call(builder, write ? "__duress_range_write" : "__duress_range_read", {start, bytes, site});
  around(builder, false);
}

void CheckEmitter::emit(const Check& check) {
  const Access& access = check.access;
  bool in_line = hot_.contains(check.before);
  if (in_line && check.range_start == nullptr && !has_hook(access.size) && access.size <= kInlineObject &&
      access.size % kGranule == 0 && access.align >= llvm::Align(kGranule)) {
    // A small object as a whole (a point, a string's header): its parts inline.
    for (uint64_t at = 0; at < access.size;) {
      Check part = check;
      part.access.size = access.size - at >= 2 * kGranule ? 2 * kGranule : kGranule;
      llvm::IRBuilder<> here(check.before);
      part.access.address = here.CreateConstInBoundsGEP1_64(here.getInt8Ty(), access.address, at);
      at += part.access.size;
      emit(part);
    }
    return;
  }
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
  llvm::Constant* site = unit_.sites.add(
      {&function_, access.inst->getDebugLoc().get(), access.write ? kDuressWrite : kDuressRead,
       check.range_start != nullptr ? 0 : element, variable, function_index_, flags});

  if (check.stride != nullptr) {
    around(builder, true);
    unit_.hooks.call(
        builder, access.write ? "__duress_stride_write" : "__duress_stride_read",
        {check.range_start, check.range_bytes, check.stride, builder.getInt64(check.stride_size), site});
    around(builder, false);
    return;
  }
  if (check.range_start != nullptr || !has_hook(access.size)) {
    llvm::Value* start = check.range_start != nullptr ? check.range_start : access.address;
    llvm::Value* bytes = check.range_start != nullptr ? check.range_bytes : builder.getInt64(access.size);
    around(builder, true);
    unit_.hooks.call(builder, access.write ? "__duress_range_write" : "__duress_range_read",
                     {start, bytes, site});
    around(builder, false);
    return;
  }
  if (in_line || access.is_vptr_store) return emit_inline(builder, check, site);
  unit_.hooks.call(builder, hook_name("__duress_test_", access), {access.address, site});
}

void CheckEmitter::emit_inline(llvm::IRBuilder<>& builder, const Check& check, llvm::Constant* site) {
  const Access& access = check.access;
  llvm::Value* slow = failed(builder, check);
  if (access.is_vptr_store) {
    auto* store = llvm::cast<llvm::StoreInst>(access.inst);
    auto* old =
        unseen_by_sanitizers(builder.CreateAlignedLoad(builder.getPtrTy(), access.address, access.align));
    slow = builder.CreateAnd(builder.CreateICmpNE(old, store->getValueOperand()), slow);
  }
  llvm::IRBuilder<> cold(split_if(slow, check.before, unlikely_)->getTerminator());
  cold.SetCurrentDebugLocation(access.inst->getDebugLoc());
  around(cold, true);
  unit_.hooks.call(cold, hook_name("__duress_check_", access), {access.address, site});
  around(cold, false);
}

CheckEmitter::Position CheckEmitter::position(const Check& check) {
  // Where in its granule the access lies, if known.
  llvm::KnownBits low = llvm::computeKnownBits(check.access.address, layout_);
  uint64_t zeros = low.Zero.getZExtValue() & 7;
  uint64_t ones = low.One.getZExtValue() & 7;
  if (check.access.align.value() > 1) zeros |= std::min<uint64_t>(check.access.align.value(), 8) - 1;
  uint64_t highest = ~zeros & 7;  // the largest offset that is possible
  bool exact = (zeros | ones) == 7;
  return {ones, exact, /*aligned=*/highest == 0,
          /*may_cross=*/(exact ? ones : highest) + check.access.size > kGranule};
}

/// Are some of the accessed bytes' bits of a granule's mask clear?
llvm::Value* CheckEmitter::uncovered(llvm::IRBuilderBase& builder, const Check& check, llvm::Value* bits) {
  Position at = position(check);
  uint64_t mask = (uint64_t{1} << check.access.size) - 1;  // of 8 or 16 bits
  bool partial = check.access.size < kGranule;
  if (at.exact && partial) {
    mask = mask << at.offset & 0xff;
  } else if (partial) {
    // A rotation takes its count modulo 8 as it is: one instruction less than shifting the mask.
    llvm::Value* p = builder.CreatePtrToInt(check.access.address, builder.getInt64Ty());
    llvm::Value* rotation = builder.CreateTrunc(p, builder.getInt8Ty());
    bits = builder.CreateCall(intrinsic(unit_.module, llvm::Intrinsic::fshr, {builder.getInt8Ty()}),
                              {bits, bits, rotation});
  }
  llvm::Value* wanted = llvm::ConstantInt::get(bits->getType(), mask);
  if (partial) bits = builder.CreateAnd(bits, wanted);
  return builder.CreateICmpNE(bits, wanted);
}

/// Are some of the bytes not in the thread's filter?
llvm::Value* CheckEmitter::failed(llvm::IRBuilderBase& builder, const Check& check) {
  llvm::Type* i64 = builder.getInt64Ty();
  llvm::Type* i8 = builder.getInt8Ty();
  auto self = [&](llvm::Type* type, uint64_t offset) {
    return unseen_by_sanitizers(builder.CreateAlignedLoad(type, unit_.hooks.self(offset), llvm::Align(8)));
  };
  uint64_t size = check.access.size;
  llvm::Value* p = builder.CreatePtrToInt(check.access.address, i64);
  llvm::Value* index = builder.CreateAnd(builder.CreateLShr(p, uint64_t{DURESS_FILTER_BLOCK_BITS}),
                                         self(i64, offsetof(DuressSelf, filter_index)));
  llvm::Value* entry =
      builder.CreateInBoundsGEP(i8, self(builder.getPtrTy(), offsetof(DuressSelf, filter)),
                                builder.CreateMul(index, builder.getInt64(sizeof(DuressFilterEntry))));
  llvm::Value* key =
      builder.CreateOr(builder.CreateShl(builder.CreateAnd(p, self(i64, offsetof(DuressSelf, filter_blocks))),
                                         uint64_t{DURESS_FILTER_KEY_SHIFT}),
                       self(i64, offsetof(DuressSelf, filter_tag)));
  llvm::Value* other =
      builder.CreateICmpNE(unseen_by_sanitizers(builder.CreateAlignedLoad(i64, entry, llvm::Align(8))), key);

  uint64_t masks =
      check.access.write ? offsetof(DuressFilterEntry, written) : offsetof(DuressFilterEntry, read);
  llvm::Value* granule =
      builder.CreateAnd(builder.CreateLShr(p, 3), builder.getInt64(DURESS_FILTER_GRANULES - 1));
  llvm::Value* where =
      builder.CreateInBoundsGEP(i8, entry, builder.CreateAdd(granule, builder.getInt64(masks)));
  llvm::Type* type = size > kGranule ? builder.getInt16Ty() : builder.getInt8Ty();
  // At the end of a block two masks would reach into what follows the entry's; that case is sorted out below.
  llvm::Value* bits = unseen_by_sanitizers(builder.CreateAlignedLoad(type, where, llvm::Align(1)));
  llvm::Value* result = builder.CreateOr(other, uncovered(builder, check, bits));

  Position at = position(check);
  if (size == 2 * kGranule) {
    bool whole = check.access.align >= llvm::Align(2 * kGranule);
    if (!whole) {
      // Neither between granules nor in the last one of a block.
      llvm::Value* odd = builder.CreateICmpNE(builder.CreateAnd(p, kGranule - 1), builder.getInt64(0));
      llvm::Value* last = builder.CreateICmpEQ(granule, builder.getInt64(DURESS_FILTER_GRANULES - 1));
      result = builder.CreateOr(result, at.aligned ? last : builder.CreateOr(odd, last));
    }
  } else if (at.may_cross) {
    llvm::Value* crosses =
        builder.CreateICmpUGT(builder.CreateAnd(p, kGranule - 1), builder.getInt64(kGranule - size));
    result = builder.CreateOr(crosses, result);
  }
  return result;
}

}  // namespace duress::pass
