// SPDX-License-Identifier: Apache-2.0
#include "pass/library_calls.h"

#include <duress/hooks.h>
#include <duress/library_types.h>

#include "llvm/ADT/StringMap.h"
#include "pass/signature.h"

namespace duress::pass {
namespace {

using TypeMaker = llvm::FunctionType* (*)(llvm::LLVMContext&);

#define UNPACK(...) __VA_ARGS__

const llvm::StringMap<TypeMaker>& library_functions() {
  static const llvm::StringMap<TypeMaker> functions = {
#define DURESS_LIBRARY_CALL(result, name, parameters, ...) {#name, &TypeOf<result parameters>::get},
#define DURESS_LIBRARY_CALL_CXX DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_ELSEWHERE DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_PURE DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_PURE_CXX DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_PROCEDURE(name, parameters, ...) {#name, &TypeOf<void parameters>::get},
#define DURESS_LIBRARY_FORMAT(result, name, parameters, ...) \
  {#name, &TypeOf<result(UNPACK parameters, ...)>::get},
#include <duress/library_calls.def>
  };
  return functions;
}

/// The type of the program's declaration must be the library's: a program may have its own getline().
bool is_in_table(const llvm::Function& callee) {
  auto it = library_functions().find(callee.getName());
  return it != library_functions().end() && it->second(callee.getContext()) == callee.getFunctionType();
}

llvm::FunctionCallee hook_for(const llvm::Function& callee) {
  llvm::Module& module = *const_cast<llvm::Module*>(callee.getParent());
  llvm::SmallVector<llvm::Type*, 8> parameters = {llvm::PointerType::get(module.getContext(), 0)};
  llvm::append_range(parameters, callee.getFunctionType()->params());
  auto* type = llvm::FunctionType::get(callee.getReturnType(), parameters, callee.isVarArg());
  return module.getOrInsertFunction(("__duress_lib_" + callee.getName()).str(), type);
}

}  // namespace

bool is_library_call(const llvm::CallBase& call, AccessFilter& filter) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || callee->isIntrinsic() || !callee->isDeclaration()) return false;
  if (call.isMustTailCall() || call.getFunctionType() != callee->getFunctionType()) return false;
  if (call.hasMetadata(llvm::LLVMContext::MD_nosanitize) || !is_in_table(*callee)) return false;
  for (const llvm::Use& argument : call.args()) {
    if (argument->getType()->isPointerTy() && filter.may_be_shared(argument)) return true;
  }
  return false;
}

void replace_library_call(llvm::CallBase* call, Unit& unit, uint32_t function_index, uint8_t flags) {
  // Which argument a race is about is not known here: the variable gets its name from the address.
  llvm::Constant* site = unit.site(call, nullptr, kDuressRead, 0, function_index, flags);
  llvm::SmallVector<llvm::Value*, 8> arguments = {site};
  llvm::append_range(arguments, call->args());
  llvm::FunctionCallee hook = hook_for(*call->getCalledFunction());
  llvm::IRBuilder<> builder(call);
  llvm::CallBase* made;
  if (auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(call)) {
    made = builder.CreateInvoke(hook, invoke->getNormalDest(), invoke->getUnwindDest(), arguments);
  } else {
    made = builder.CreateCall(hook, arguments);
    if (call->doesNotThrow()) made->setDoesNotThrow();
  }
  made->takeName(call);
  call->replaceAllUsesWith(made);
  call->eraseFromParent();
}

}  // namespace duress::pass
