// SPDX-License-Identifier: Apache-2.0
//
// no_sanitize("thread") leaves no trace in LLVM's code unless ThreadSanitizer is on. This plugin of clang's
// front end marks such functions with the attribute that does reach the pass, before code is made for them.
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/Sanitizers.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"

namespace {

class Marker : public clang::RecursiveASTVisitor<Marker> {
 public:
  explicit Marker(clang::ASTContext& context) : context_(context) {}

  // Bodies hold nothing of interest but lambdas; leaving them out keeps this cheap.
  bool TraverseStmt(clang::Stmt*) { return true; }
  bool shouldVisitTemplateInstantiations() const { return false; }

  bool VisitFunctionDecl(clang::FunctionDecl* function) {
    if (function->hasAttr<clang::DisableSanitizerInstrumentationAttr>()) return true;
    for (auto* attribute : function->specific_attrs<clang::NoSanitizeAttr>()) {
      if (!(attribute->getMask() & clang::SanitizerKind::Thread)) continue;
      function->addAttr(clang::DisableSanitizerInstrumentationAttr::CreateImplicit(context_));
      break;
    }
    return true;
  }

 private:
  clang::ASTContext& context_;
};

class Consumer : public clang::ASTConsumer {
 public:
  void Initialize(clang::ASTContext& context) override { context_ = &context; }

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group) Marker(*context_).TraverseDecl(declaration);
    return true;
  }

  void HandleInlineFunctionDefinition(clang::FunctionDecl* function) override {
    Marker(*context_).VisitFunctionDecl(function);
  }

  void HandleCXXImplicitFunctionInstantiation(clang::FunctionDecl* function) override {
    Marker(*context_).VisitFunctionDecl(function);
  }

 private:
  clang::ASTContext* context_ = nullptr;
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
