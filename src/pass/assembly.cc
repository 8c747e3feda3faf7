// SPDX-License-Identifier: Apache-2.0
#include "pass/assembly.h"

#include <duress/hooks.h>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace duress::pass {
namespace {

const llvm::InlineAsm* assembly_of(const llvm::Instruction& inst) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&inst);
  return call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
}

/// Calls visit(word) for each word of letters and digits, until it says false.
template <typename Visit>
void for_each_word(llvm::StringRef text, Visit visit) {
  while (!text.empty()) {
    text = text.drop_until([](char c) { return llvm::isAlnum(c); });
    llvm::StringRef word = text.take_while([](char c) { return llvm::isAlnum(c); });
    if (!word.empty() && !visit(word)) return;
    text = text.drop_front(word.size());
  }
}

bool has_word(llvm::StringRef text, llvm::ArrayRef<llvm::StringRef> beginnings) {
  bool found = false;
  for_each_word(text, [&](llvm::StringRef word) {
    found = llvm::any_of(beginnings, [&](llvm::StringRef beginning) { return word.starts_with(beginning); });
    return !found;
  });
  return found;
}

/// xchg with memory locks by itself.
bool is_locked(llvm::StringRef text) {
  return has_word(text, {"lock", "xchg"});
}

/// The number of the first argument that is the address of memory; -1: there is none.
int memory_argument(const llvm::CallInst& call, const llvm::InlineAsm& assembly) {
  int index = 0;
  for (const llvm::InlineAsm::ConstraintInfo& info : assembly.ParseConstraints()) {
    bool is_argument =
        info.Type == llvm::InlineAsm::isInput || (info.Type == llvm::InlineAsm::isOutput && info.isIndirect);
    if (!is_argument) continue;
    if (info.isIndirect && call.getArgOperand(static_cast<unsigned>(index))->getType()->isPointerTy())
      return index;
    ++index;
  }
  return -1;
}

/// Of the mnemonic's last letter, or the first value in a register. The operand's type says little: a habit
/// is to name a large structure there, so that the compiler keeps nothing of it in registers.
uint64_t operand_size(const llvm::CallInst& call, llvm::StringRef text) {
  uint64_t size = 0;
  for_each_word(text, [&](llvm::StringRef word) {
    static constexpr llvm::StringRef kNames[] = {"xchg", "cmpxchg", "xadd", "add", "sub", "inc", "dec", "and",
                                                 "or",   "xor",     "bts",  "btr", "btc", "not", "neg"};
    for (llvm::StringRef name : kNames) {
      if (word.size() != name.size() + 1 || !word.starts_with(name)) continue;
      size = llvm::StringSwitch<uint64_t>(word.take_back())
                 .Case("b", 1)
                 .Case("w", 2)
                 .Case("l", 4)
                 .Case("q", 8)
                 .Default(0);
    }
    return size == 0;
  });
  if (size != 0) return size;
  const llvm::DataLayout& layout = call.getModule()->getDataLayout();
  auto fits = [&](llvm::Type* type) {
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type);
        structure && structure->getNumElements() > 0)
      type = structure->getElementType(0);
    if (!type->isIntegerTy() && !type->isPointerTy()) return false;
    size = layout.getTypeStoreSize(type).getFixedValue();
    return size == 1 || size == 2 || size == 4 || size == 8;
  };
  if (fits(call.getType())) return size;
  for (const llvm::Use& argument : call.args()) {
    if (!argument->getType()->isPointerTy() && fits(argument->getType())) return size;
  }
  return 8;
}

bool can_be_atomic(const llvm::DataLayout& layout, llvm::Type* type, llvm::Align align,
                   const llvm::Value* address) {
  if (!type->isIntegerTy() && !type->isPointerTy() && !type->isFloatTy() && !type->isDoubleTy()) return false;
  uint64_t size = layout.getTypeStoreSize(type).getFixedValue();
  bool fits =
      (size == 1 || size == 2 || size == 4 || size == 8) && layout.getTypeSizeInBits(type) == size * 8;
  return fits && align.value() >= size && !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address));
}

bool has_assembly(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& inst : llvm::instructions(function)) {
      const llvm::InlineAsm* assembly = assembly_of(inst);
      if (assembly && (is_atomic_assembly(inst) ||
                       has_word(assembly->getAsmString(), {"lock", "mfence", "lfence", "sfence"})))
        return true;
    }
  }
  return false;
}

AtomicShape assembly_shape(const llvm::CallInst& call) {
  const llvm::InlineAsm& assembly = *assembly_of(call);
  int index = memory_argument(call, assembly);
  return {call.getArgOperand(static_cast<unsigned>(index)), operand_size(call, assembly.getAsmString()),
          kDuressAtomicRmw};
}

void announce(llvm::CallInst* call, const AtomicShape& shape, HookSet& hooks, llvm::Constant* site,
              const Around& around) {
  auto tell = [&](llvm::Instruction* before, llvm::StringRef hook) {
    llvm::IRBuilder<> builder(before);
    builder.SetCurrentDebugLocation(call->getDebugLoc());
    around(builder, true);
    hooks.call(builder, hook, {shape.address, builder.getInt64(shape.size), site});
    around(builder, false);
  };
  tell(call->getNextNode(), "__duress_assembly_end");
  tell(call, "__duress_assembly_begin");
}

}  // namespace

bool is_atomic_assembly(const llvm::Instruction& inst) {
  const llvm::InlineAsm* assembly = assembly_of(inst);
  return assembly && is_locked(assembly->getAsmString()) &&
         memory_argument(llvm::cast<llvm::CallInst>(inst), *assembly) >= 0;
}

bool has_only_seen_assembly(const llvm::Function& function) {
  bool any = false;
  for (const llvm::Instruction& inst : llvm::instructions(function)) {
    const llvm::InlineAsm* assembly = assembly_of(inst);
    if (assembly == nullptr || !is_locked(assembly->getAsmString())) continue;
    if (!is_atomic_assembly(inst)) return false;
    any = true;
  }
  return any;
}

void announce_all(llvm::ArrayRef<llvm::CallInst*> calls, Unit& unit, uint32_t function_index,
                  uint8_t site_flags, const Around& around) {
  for (llvm::CallInst* call : calls) {
    AtomicShape shape = assembly_shape(*call);
    llvm::Constant* site = unit.site(call, shape.address, static_cast<DuressAccess>(shape.access), shape.size,
                                     function_index, site_flags);
    announce(call, shape, unit.hooks, site, around);
  }
}

void make_volatile_atomic(llvm::Module& module) {
  if (!has_assembly(module)) return;
  const llvm::DataLayout& layout = module.getDataLayout();
  for (llvm::Function& function : module) {
    for (llvm::Instruction& inst : llvm::instructions(function)) {
      if (!inst.isVolatile() || inst.isAtomic()) continue;
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&inst)) {
        if (can_be_atomic(layout, load->getType(), load->getAlign(), load->getPointerOperand()))
          load->setAtomic(llvm::AtomicOrdering::Acquire);
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&inst)) {
        if (can_be_atomic(layout, store->getValueOperand()->getType(), store->getAlign(),
                          store->getPointerOperand()))
          store->setAtomic(llvm::AtomicOrdering::Release);
      }
    }
  }
}

}  // namespace duress::pass
