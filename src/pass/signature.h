// SPDX-License-Identifier: Apache-2.0
//
// C signatures as LLVM function types, so that a table of C declarations (hooks.def, library_calls.def) is
// enough for the pass.
#pragma once

#include <type_traits>

#include "llvm/IR/DerivedTypes.h"

namespace duress::pass {

template <class T>
llvm::Type* ir_type(llvm::LLVMContext& context) {
  if constexpr (std::is_void_v<T>) {
    return llvm::Type::getVoidTy(context);
  } else if constexpr (std::is_pointer_v<T>) {
    return llvm::PointerType::get(context, 0);
  } else if constexpr (std::is_same_v<T, float>) {
    return llvm::Type::getFloatTy(context);
  } else if constexpr (std::is_same_v<T, double>) {
    return llvm::Type::getDoubleTy(context);
  } else if constexpr (std::is_same_v<T, long double>) {
    return llvm::Type::getX86_FP80Ty(context);
  } else {
    return llvm::Type::getIntNTy(context, sizeof(T) * 8);
  }
}

template <class F>
struct TypeOf;
template <class R, class... P>
struct TypeOf<R(P...)> {
  static llvm::FunctionType* get(llvm::LLVMContext& context) {
    return llvm::FunctionType::get(ir_type<R>(context), {ir_type<P>(context)...}, false);
  }
};
template <class R, class... P>
struct TypeOf<R(P..., ...)> {
  static llvm::FunctionType* get(llvm::LLVMContext& context) {
    return llvm::FunctionType::get(ir_type<R>(context), {ir_type<P>(context)...}, true);
  }
};

}  // namespace duress::pass
