// SPDX-License-Identifier: Apache-2.0
//
// no_sanitize("thread") leaves no trace in LLVM's code unless ThreadSanitizer is on. This plugin of clang's
// front end marks such functions with the attribute that does reach the pass, before code is made for them.
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/Sanitizers.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"

namespace {

void mark_function(clang::FunctionDecl& function) {
  if (function.hasAttr<clang::DisableSanitizerInstrumentationAttr>()) return;
  for (auto* attribute : function.specific_attrs<clang::NoSanitizeAttr>()) {
    if (!(attribute->getMask() & clang::SanitizerKind::Thread)) continue;
    function.addAttr(clang::DisableSanitizerInstrumentationAttr::CreateImplicit(function.getASTContext()));
    return;
  }
}

/// The functions declared in a namespace or class, and in those inside. Bodies hold nothing of interest but
/// lambdas; leaving them out keeps this cheap. clang's RecursiveASTVisitor takes 6 s to compile.
void mark(clang::Decl* declaration) {
  if (auto* befriended = llvm::dyn_cast<clang::FriendDecl>(declaration))
    declaration = befriended->getFriendDecl();
  if (auto* generic = llvm::dyn_cast_or_null<clang::TemplateDecl>(declaration))
    declaration = generic->getTemplatedDecl();
  if (declaration == nullptr) return;
  if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) return mark_function(*function);
  auto* scope = llvm::dyn_cast<clang::DeclContext>(declaration);
  if (scope == nullptr) return;
  for (clang::Decl* inner : scope->decls()) mark(inner);
}

class Consumer : public clang::ASTConsumer {
 public:
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group) mark(declaration);
    return true;
  }
  void HandleInlineFunctionDefinition(clang::FunctionDecl* function) override { mark_function(*function); }
  void HandleCXXImplicitFunctionInstantiation(clang::FunctionDecl* function) override {
    mark_function(*function);
  }
};

class Action : public clang::PluginASTAction {
 public:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Consumer>();
  }
  bool ParseArgs(const clang::CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

clang::FrontendPluginRegistry::Add<Action> registration("duress-attributes",
                                                        "Duress: honours no_sanitize(\"thread\")");

}  // namespace
