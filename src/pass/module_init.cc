// SPDX-License-Identifier: Apache-2.0
//
// The runtime needs the bounds of the site and flag sections of each executable and shared library. Every
// unit brings the same constructor in one comdat group with hidden symbols, so each linked file keeps one.
#include <duress/hooks.h>

#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "pass/bodies.h"

namespace duress::pass {
namespace {

llvm::Constant* section_bound(llvm::Module& module, llvm::StringRef name) {
  if (auto* known = module.getGlobalVariable(name)) return known;
  auto* bound = new llvm::GlobalVariable(module, llvm::Type::getInt8Ty(module.getContext()), false,
                                         llvm::GlobalValue::ExternalLinkage, nullptr, name);
  bound->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return bound;
}

}  // namespace

void add_module_constructor(Unit& unit) {
  llvm::Module& module = unit.module;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::Comdat* comdat = module.getOrInsertComdat("__duress_module_ctor");

  auto* type = llvm::StructType::get(context, {i32, i32, pointer, pointer, pointer, pointer});
  llvm::Constant* fields[] = {
      llvm::ConstantInt::get(i32, DURESS_HOOK_VERSION), llvm::ConstantInt::get(i32, 0),
      section_bound(module, "__start_duress_sites"),    section_bound(module, "__stop_duress_sites"),
      section_bound(module, "__start_duress_flags"),    section_bound(module, "__stop_duress_flags")};
  auto* info = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::LinkOnceODRLinkage,
                                        llvm::ConstantStruct::get(type, fields), "__duress_module");
  info->setVisibility(llvm::GlobalValue::HiddenVisibility);
  info->setComdat(comdat);
  llvm::GlobalValue::SanitizerMetadata metadata;
  metadata.NoAddress = true;
  metadata.NoHWAddress = true;
  info->setSanitizerMetadata(metadata);

  auto* constructor =
      llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
                             llvm::GlobalValue::LinkOnceODRLinkage, "__duress_module_ctor", module);
  constructor->setVisibility(llvm::GlobalValue::HiddenVisibility);
  constructor->setComdat(comdat);
  constructor->addFnAttr(llvm::Attribute::NoUnwind);
  constructor->addFnAttr(llvm::Attribute::NoInline);
  constructor->addFnAttr(llvm::Attribute::DisableSanitizerInstrumentation);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", constructor));
  unit.hooks.call(builder, "__duress_module_init", {info});
  builder.CreateRetVoid();
  llvm::appendToGlobalCtors(module, constructor, 0, constructor);
}

}  // namespace duress::pass
