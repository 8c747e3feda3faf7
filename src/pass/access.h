// SPDX-License-Identifier: Apache-2.0
//
// Which instructions access memory that another thread could see. What cannot be shared is left alone:
// locals whose address never leaves the function, constants, v-tables, other tools' bookkeeping.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace duress::pass {

/// A plain (or volatile) load or store that may be shared.
struct Access {
  llvm::Instruction* inst;
  llvm::Value* address;
  uint64_t size;  // bytes
  llvm::Align align;
  bool write;
  bool is_volatile;
  /// The store sets up a v-table pointer. A destructor stores the same value again while other threads
  /// may still make virtual calls; that is not an access in the source, so only a change counts.
  bool is_vptr_store;
};

class AccessFilter {
 public:
  explicit AccessFilter(const llvm::DataLayout& layout) : layout_(layout) {}

  bool may_be_shared(const llvm::Value* address);

  /// Fills `access` if `inst` is a plain load or store that may be shared.
  bool classify(llvm::Instruction* inst, Access* access);

  /// An atomic load, store, rmw or cas of a size that has a hook, or a fence; across threads.
  bool is_hooked_atomic(const llvm::Instruction* inst) const;

 private:
  const llvm::DataLayout& layout_;
  llvm::DenseMap<const llvm::Value*, bool> escapes_;
};

/// Whether the call may order this thread with another one, or not return here. Such a call ends a
/// synchronisation-free region.
bool may_synchronise(const llvm::CallBase& call);
bool may_synchronise(const llvm::Instruction& inst);

/// A call that does work of its own: not an intrinsic, not inline assembly.
bool is_real_call(const llvm::Instruction& inst);

/// memcpy, memmove, memset as intrinsics or as library calls by these names.
enum class MemoryCall { kNone, kCopy, kMove, kSet };
MemoryCall memory_call(const llvm::CallBase& call);

}  // namespace duress::pass
