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

constexpr uint64_t kGranule = DURESS_GRANULE;
constexpr uint64_t kCellBytes = DURESS_CELL_BYTES;
constexpr uint64_t kReadWord = DURESS_READ_WORD;
static_assert(kCellBytes == 2 * kGranule);  // failed() finds a cell by doubling the address
constexpr uint64_t kInlineObject = 48;      // up to this many bytes inline checks are shorter than a call

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
  llvm::Constant* site =
      unit_.site(inst, start, write ? kDuressWrite : kDuressRead, site_size, function_index_, 0);
  around(builder, true);
  unit_.hooks.call(builder, write ? "__duress_range_write" : "__duress_range_read", {start, bytes, site});
  around(builder, false);
}

void CheckEmitter::emit(const Check& check) {
  const Access& access = check.access;
  if (check.range_start == nullptr && !has_hook(access.size) && access.size <= kInlineObject &&
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
  llvm::Value* slow = failed(builder, check, access.address);
  if (access.is_vptr_store) {
    auto* store = llvm::cast<llvm::StoreInst>(access.inst);
    auto* old =
        unseen_by_sanitizers(builder.CreateAlignedLoad(builder.getPtrTy(), access.address, access.align));
    slow = builder.CreateAnd(builder.CreateICmpNE(old, store->getValueOperand()), slow);
  }
  llvm::IRBuilder<> cold(split_if(slow, check.before, unlikely_)->getTerminator());
  cold.SetCurrentDebugLocation(access.inst->getDebugLoc());
  if (!words_.empty() && !access.write) {
    cold.SetInsertPoint(
        split_if(not_second_reader(cold, check), &*cold.GetInsertPoint(), nullptr)->getTerminator());
  }
  if (llvm::Value* unread = not_in_read_cache(cold, check)) {
    cold.SetInsertPoint(split_if(unread, &*cold.GetInsertPoint(), nullptr)->getTerminator());
  }
  around(cold, true);
  std::string hook =
      (llvm::Twine("__duress_check_") + (access.write ? "write" : "read") + llvm::Twine(access.size)).str();
  unit_.hooks.call(cold, hook, {access.address, site});
  around(cold, false);
}

llvm::Value* CheckEmitter::load_word(llvm::IRBuilderBase& builder, llvm::Value* cell) {
  // Monotonic: other threads write cells, and the word must not be read twice.
  auto* word = builder.CreateAlignedLoad(builder.getInt64Ty(),
                                         builder.CreateIntToPtr(cell, builder.getPtrTy()), llvm::Align(8));
  word->setAtomic(llvm::AtomicOrdering::Monotonic);
  words_.push_back(unseen_by_sanitizers(word));
  return word;
}

/// Is the access id of a word not of this thread's epoch?
llvm::Value* CheckEmitter::not_of_epoch(llvm::IRBuilderBase& builder, llvm::Value* word) {
  auto self = [&](uint64_t offset) {
    return unseen_by_sanitizers(
        builder.CreateAlignedLoad(builder.getInt64Ty(), unit_.hooks.self(offset), llvm::Align(8)));
  };
  llvm::Value* age = builder.CreateSub(word, self(offsetof(DuressSelf, epoch_low)));
  return builder.CreateICmpUGE(age, self(offsetof(DuressSelf, epoch_span)));
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

/// Two threads that read the same memory are both in its cell; inline code has looked at the newer one.
llvm::Value* CheckEmitter::not_second_reader(llvm::IRBuilderBase& builder, const Check& check) {
  llvm::Value* failed = nullptr;
  for (llvm::Value* word : words_) {
    llvm::Value* old = not_of_epoch(builder, builder.CreateShl(word, DURESS_OLD_ID_SHIFT));
    llvm::Value* one =
        builder.CreateICmpEQ(builder.CreateAnd(word, uint64_t{DURESS_TWO_READERS}), builder.getInt64(0));
    llvm::Value* bad = builder.CreateOr(old, one);
    if (words_.size() > 1)
      bad = builder.CreateAnd(bad, not_of_epoch(builder, word));  // it may be the other that failed
    bad = builder.CreateOr(bad, uncovered(builder, check, word));
    failed = failed == nullptr ? bad : builder.CreateOr(failed, bad);
  }
  return failed;
}

/// Are some of the accessed bytes' bits of a word set?
llvm::Value* CheckEmitter::uncovered(llvm::IRBuilderBase& builder, const Check& check, llvm::Value* word) {
  Position at = position(check);
  bool whole = check.access.size >= kGranule;
  uint64_t mask = whole ? 0xff : (uint64_t{1} << check.access.size) - 1;
  llvm::Value* bits = builder.CreateTrunc(word, builder.getInt8Ty());
  if (at.exact && !whole) {
    mask <<= at.offset;
  } else if (!whole) {
    // A rotation takes its count modulo 8 as it is: one instruction less than shifting the mask.
    llvm::Value* p = builder.CreatePtrToInt(check.access.address, builder.getInt64Ty());
    llvm::Value* rotation = builder.CreateTrunc(p, builder.getInt8Ty());
    bits = builder.CreateCall(intrinsic(unit_.module, llvm::Intrinsic::fshr, {builder.getInt8Ty()}),
                              {bits, bits, rotation});
  }
  return builder.CreateICmpNE(builder.CreateAnd(bits, builder.getInt8(static_cast<uint8_t>(mask))),
                              builder.getInt8(0));
}

/// Memory that several threads read fails the test of its cell for all but one or two of them; each thread
/// has a cache of what it has read in this epoch. Null where the cache does not apply.
llvm::Value* CheckEmitter::not_in_read_cache(llvm::IRBuilderBase& builder, const Check& check) {
  const Access& access = check.access;
  Position at = position(check);
  bool two_cells = access.size == 2 * kGranule && at.aligned;
  if (access.write || (!two_cells && (access.size > kGranule || at.may_cross))) return nullptr;
  llvm::Type* i64 = builder.getInt64Ty();
  llvm::Value* p = builder.CreatePtrToInt(access.address, i64);
  llvm::Value* cache = unseen_by_sanitizers(builder.CreateAlignedLoad(
      builder.getPtrTy(), unit_.hooks.self(offsetof(DuressSelf, read_cache)), llvm::Align(8)));
  llvm::Value* tag = unseen_by_sanitizers(
      builder.CreateAlignedLoad(i64, unit_.hooks.self(offsetof(DuressSelf, read_tag)), llvm::Align(8)));
  auto difference = [&](llvm::Value* granule) {
    llvm::Value* index =
        builder.CreateAnd(builder.CreateLShr(granule, 3), uint64_t{DURESS_READ_CACHE_ENTRIES - 1});
    llvm::Value* entry = unseen_by_sanitizers(
        builder.CreateAlignedLoad(i64, builder.CreateInBoundsGEP(i64, cache, index), llvm::Align(8)));
    return builder.CreateXor(entry,
                             builder.CreateOr(builder.CreateShl(granule, DURESS_READ_CACHE_SHIFT), tag));
  };
  if (two_cells) {  // both must be there, whole
    llvm::Value* both =
        builder.CreateOr(difference(p), difference(builder.CreateAdd(p, builder.getInt64(kGranule))));
    return builder.CreateICmpNE(both, builder.getInt64(0));
  }
  llvm::Value* one = difference(at.aligned ? p : builder.CreateAnd(p, ~(kGranule - 1)));
  llvm::Value* other = builder.CreateICmpUGT(one, builder.getInt64(0xff));
  return builder.CreateOr(other, uncovered(builder, check, one));
}

llvm::Value* CheckEmitter::failed(llvm::IRBuilderBase& builder, const Check& check, llvm::Value* address) {
  uint64_t size = check.access.size;
  llvm::Type* i64 = builder.getInt64Ty();
  llvm::Value* p = builder.CreatePtrToInt(address, i64);
  llvm::Value* index = builder.CreateShl(builder.CreateLShr(p, DURESS_REGION_BITS), 3);
  llvm::Value* entry = builder.CreateAdd(index, builder.getInt64(DURESS_SHADOW_TABLE));
  auto* base = unseen_by_sanitizers(
      builder.CreateAlignedLoad(i64, builder.CreateIntToPtr(entry, builder.getPtrTy()), llvm::Align(8)));

  Position at = position(check);

  // Two cell bytes per byte. Masked after doubling: the mask then fits an instruction.
  llvm::Value* doubled = builder.CreateShl(p, 1);
  if (!at.aligned) doubled = builder.CreateAnd(doubled, ~(kCellBytes - 1));
  llvm::Value* cell = builder.CreateAdd(base, doubled);
  if (!check.access.write) cell = builder.CreateAdd(cell, builder.getInt64(kReadWord));

  words_.clear();
  auto word_failed = [&](llvm::Value* at_cell) {
    llvm::Value* word = load_word(builder, at_cell);
    return builder.CreateOr(uncovered(builder, check, word), not_of_epoch(builder, word));
  };
  llvm::Value* result = word_failed(cell);
  llvm::Value* crosses = nullptr;  // out of the cells looked at
  if (size == 2 * kGranule) {
    result = builder.CreateOr(result, word_failed(builder.CreateAdd(cell, builder.getInt64(kCellBytes))));
    if (!at.aligned) crosses = builder.CreateICmpNE(builder.CreateAnd(p, kGranule - 1), builder.getInt64(0));
  } else if (at.may_cross) {
    crosses = builder.CreateICmpUGT(builder.CreateAnd(p, kGranule - 1), builder.getInt64(kGranule - size));
  }
  if (crosses == nullptr) return result;
  words_.clear();  // not the whole story
  return builder.CreateOr(crosses, result);
}

}  // namespace duress::pass
