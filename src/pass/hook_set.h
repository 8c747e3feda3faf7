// SPDX-License-Identifier: Apache-2.0
//
// Declarations of the runtime's hooks in a module. hooks.def is the only list: its C signatures are
// turned into LLVM function types here by templates, so pass and runtime cannot drift apart.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace duress::pass {

class HookSet {
 public:
  explicit HookSet(llvm::Module& module) : module_(module) {}

  /// Calls the hook `name` with `args` at the builder's place. The name must be in hooks.def.
  llvm::CallInst* call(llvm::IRBuilderBase& builder, llvm::StringRef name, llvm::ArrayRef<llvm::Value*> args);

  /// The thread's DuressSelf: `offset` bytes into it, as a constant address.
  llvm::Constant* self(uint64_t offset);

  /// The table of watched words.
  llvm::Constant* watched();

 private:
  /// Whether the code can only end up in an executable, into which the runtime is linked.
  bool is_executable() const {
    return module_.getPICLevel() == llvm::PICLevel::NotPIC ||
           module_.getPIELevel() != llvm::PIELevel::Default;
  }
  llvm::Function* declare(llvm::StringRef name);

  llvm::Module&
      module_;  // declarations are found by name: the optimiser deletes unused ones between the steps
};

}  // namespace duress::pass
