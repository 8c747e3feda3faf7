// SPDX-License-Identifier: Apache-2.0
#include "pass/hook_set.h"

#include <duress/hooks.h>

#include "pass/signature.h"

namespace duress::pass {
namespace {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using u128 = unsigned __int128;

struct Signature {
  llvm::StringRef name;
  bool slow;
  llvm::FunctionType* (*type)(llvm::LLVMContext&);
};

const Signature kHooks[] = {
#define DURESS_HOOK(name, result, params) {#name, false, &TypeOf<result params>::get},
#define DURESS_HOOK_SLOW(name, result, params) {#name, true, &TypeOf<result params>::get},
#include <duress/hooks.def>
#undef DURESS_HOOK
#undef DURESS_HOOK_SLOW
};

}  // namespace

llvm::Function* HookSet::declare(llvm::StringRef name) {
  llvm::Function* function = module_.getFunction(name);
  if (function != nullptr) return function;
  for (const Signature& hook : kHooks) {
    if (hook.name != name) continue;
    llvm::LLVMContext& context = module_.getContext();
    function = llvm::cast<llvm::Function>(module_.getOrInsertFunction(name, hook.type(context)).getCallee());
    function->setDoesNotThrow();
    if (hook.slow) {
      function->setCallingConv(llvm::CallingConv::PreserveMost);
      // From a shared library the first call would go through the loader's resolver, which does not keep
      // %r10.
      function->addFnAttr(llvm::Attribute::NonLazyBind);
    }
    // The C calling convention wants small integers extended by the caller and by the callee's return.
    auto small = [](llvm::Type* type) { return type->isIntegerTy(8) || type->isIntegerTy(16); };
    for (llvm::Argument& arg : function->args()) {
      if (small(arg.getType())) arg.addAttr(llvm::Attribute::ZExt);
    }
    if (small(function->getReturnType())) function->addRetAttr(llvm::Attribute::ZExt);
    return function;
  }
  llvm::report_fatal_error(llvm::Twine("duress: no such hook: ") + name);
}

llvm::CallInst* HookSet::call(llvm::IRBuilderBase& builder, llvm::StringRef name,
                              llvm::ArrayRef<llvm::Value*> args) {
  llvm::Function* function = declare(name);
  llvm::CallInst* call = builder.CreateCall(function, args);
  call->setCallingConv(function->getCallingConv());
  call->setAttributes(function->getAttributes());
  return call;
}

llvm::Constant* HookSet::self(uint64_t offset) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::GlobalVariable* variable = module_.getGlobalVariable("__duress_self");
  if (variable == nullptr) {
    auto* type = llvm::StructType::get(
        context, {i64, i64, llvm::PointerType::get(context, 0), llvm::PointerType::get(context, 0), i64});
    // Code that can only end up in an executable reaches the runtime's variable, which is linked into
    // that executable, with a constant offset from %fs: one instruction less per use.
    variable = new llvm::GlobalVariable(
        module_, type, false, llvm::GlobalValue::ExternalLinkage, nullptr, "__duress_self", nullptr,
        is_executable() ? llvm::GlobalValue::LocalExecTLSModel : llvm::GlobalValue::InitialExecTLSModel);
  }
  if (offset == 0) return variable;
  return llvm::ConstantExpr::getGetElementPtr(llvm::Type::getInt8Ty(context), variable,
                                              llvm::ConstantInt::get(i64, offset));
}

llvm::Constant* HookSet::watched() {
  constexpr char kName[] = "__duress_watched";
  if (llvm::GlobalVariable* known = module_.getGlobalVariable(kName)) return known;
  auto* type =
      llvm::ArrayType::get(llvm::Type::getInt8Ty(module_.getContext()), uint64_t{1} << DURESS_WATCHED_BITS);
  auto* table =
      new llvm::GlobalVariable(module_, type, false, llvm::GlobalValue::ExternalLinkage, nullptr, kName);
  table->setDSOLocal(is_executable());
  return table;
}

}  // namespace duress::pass
