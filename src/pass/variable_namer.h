// SPDX-License-Identifier: Apache-2.0
//
// Which source variable does an address belong to? Races are reported, tracked and suppressed by
// variable, so each site wants a name: "Point::x", "ns::counter", "f()::local", "*p".
//
// The answer is read off the IR by carrying source types along the address computation: a global or a
// local has a type in debug info; a load of a pointer variable leads to its pointee; an offset leads
// into a member. This works best before optimisation, when each source variable still has a home, so
// the early step attaches the answer to each access as metadata. Where that was lost later, the same
// walk is tried on the optimised code, then the access's TBAA tag, which also holds type and offset.
#pragma once

#include <duress/hooks.h>

#include <optional>
#include <string>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Module.h"

namespace duress::pass {

struct Variable {
  std::string name;
  DuressVariable kind = kDuressUnknown;
  std::string captured = {};  // of a member of a closure: the variable it is named after, "f()::sum"
};

class VariableNamer {
 public:
  explicit VariableNamer(llvm::Module& module);

  /// Names what `inst` accesses at `address`. `size` is 0 when it is not known (memcpy).
  Variable name(llvm::Instruction* inst, llvm::Value* address, uint64_t size);

  /// Attaches the name to the access, so that name() still finds it after optimisation.
  void remember(llvm::Instruction* inst, llvm::Value* address, uint64_t size);

 private:
  /// An object in memory: its source type, and how it is called if nothing inside it is meant.
  struct Place {
    const llvm::DIType* type = nullptr;
    std::string name;
    DuressVariable kind = kDuressUnknown;
  };

  std::optional<Place> object_at(llvm::Value* base, unsigned depth);
  std::optional<Place> pointee_of(llvm::Value* pointer, unsigned depth);
  std::optional<Place> common_place(llvm::Value* merged, llvm::ArrayRef<llvm::Value*> choices,
                                    unsigned depth);
  std::optional<Variable> from_address(llvm::Value* address, uint64_t size, unsigned depth,
                                       const llvm::DIType** type);
  std::optional<Variable> from_tbaa(llvm::Instruction* inst, uint64_t size);
  Variable inside(const Place& place, uint64_t offset, uint64_t size, bool indexed,
                  const llvm::DIType** type);
  llvm::Value* split_offset(llvm::Value* address, uint64_t* offset, bool* indexed);
  void index_types();

  llvm::Module& module_;
  const llvm::DataLayout& layout_;
  unsigned metadata_kind_;
  bool indexed_types_ = false;
  unsigned pointers_left_ = 0;                           // to look at for the current address
  llvm::StringMap<const llvm::DICompositeType*> types_;  // by linkage identifier and by plain name
};

}  // namespace duress::pass
