// SPDX-License-Identifier: Apache-2.0
//
// Statements that move or are added in front of another: a thread is joined before its result is read, an
// object is published after it is complete.
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include "rewrite/change.h"

namespace duress::rewrite {

using namespace clang;  // NOLINT(google-build-using-namespace): its names are the vocabulary of this folder

namespace {

/// How a thread is joined, and the statements that join or detach it.
struct Joining {
  std::string text;  // "worker.join();"
  const FunctionDecl* function = nullptr;
  std::vector<const Stmt*> statements;  // joins and detaches of the same thread
};

/// Threads that are made or joined on a line.
class Threads : public RecursiveASTVisitor<Threads> {
 public:
  Threads(Source& source, const Place& place) : source_(source), place_(place) {}

  bool VisitVarDecl(VarDecl* decl) {
    const CXXRecordDecl* record = decl->getType()->getAsCXXRecordDecl();
    bool thread = record != nullptr && record->isInStdNamespace() && record->getName() == "thread";
    if (thread && source_.is_at(decl->getSourceRange(), place_)) names.insert(decl->getNameAsString());
    return true;
  }
  bool VisitCallExpr(CallExpr* call) {
    const FunctionDecl* callee = call->getDirectCallee();
    if (callee == nullptr || callee->getIdentifier() == nullptr || call->getNumArgs() == 0) return true;
    if (callee->getName() == "pthread_create" && source_.is_at(call->getSourceRange(), place_)) {
      std::string thread = source_.text(call->getArg(0)->getSourceRange());
      if (!thread.empty() && thread[0] == '&') pthreads.insert(thread.substr(1));
    }
    return true;
  }
  std::set<std::string> names, pthreads;

 private:
  Source& source_;
  const Place& place_;
};

/// Calls that join or detach the thread of a name.
class Calls : public RecursiveASTVisitor<Calls> {
 public:
  Calls(Source& source, std::string name) : source_(source), name_(std::move(name)) {}
  bool VisitCXXMemberCallExpr(CXXMemberCallExpr* call) {
    const CXXMethodDecl* method = call->getMethodDecl();
    if (method == nullptr || method->getIdentifier() == nullptr) return true;
    bool known = method->getName() == "join" || method->getName() == "detach";
    if (known && source_.text(call->getImplicitObjectArgument()->getSourceRange()) == name_) take(*call);
    return true;
  }
  bool VisitCallExpr(CallExpr* call) {
    const FunctionDecl* callee = call->getDirectCallee();
    if (callee == nullptr || callee->getIdentifier() == nullptr || call->getNumArgs() == 0) return true;
    bool known = callee->getName() == "pthread_join" || callee->getName() == "pthread_detach";
    if (known && source_.text(call->getArg(0)->getSourceRange()) == name_) take(*call);
    return true;
  }
  std::vector<const Stmt*> found;

 private:
  void take(const Expr& call) {
    if (const Stmt* statement = source_.statement_of(call)) found.push_back(statement);
  }
  Source& source_;
  std::string name_;
};

/// Where a statement can be put so that it comes before the access: in a block.
const Stmt* in_block(Source& source, const Expr& access) {
  const Stmt* at = source.statement_of(access);
  while (at != nullptr && !isa_and_nonnull<CompoundStmt>(source.parent(*at))) at = source.parent(*at);
  return at;
}

}  // namespace

void add_join(Source& source, const Edit& edit) {
  if (edit.places.empty()) return;
  const Place& place = edit.places[0];
  std::vector<const Expr*> accesses = source.accesses(place);
  if (accesses.empty()) return;
  source.change().done.insert(&place);
  const Stmt* before = in_block(source, *accesses[0]);
  const FunctionDecl* function = source.function_of(*accesses[0]);
  if (before == nullptr || function == nullptr)
    return source.change().fail(source.place_text(accesses[0]->getExprLoc()) + " is not in a statement");
  std::string text;
  std::string indent = source.indent_of(before->getBeginLoc());
  for (const Place& made : edit.threads) {
    Threads threads(source, made);
    threads.TraverseStmt(function->getBody());
    if (threads.names.size() + threads.pthreads.size() != 1)
      return source.change().fail("which thread is made at line " + std::to_string(made.line) +
                                  " is not clear");
    source.change().done.insert(&made);
    bool posix = threads.names.empty();
    std::string name = posix ? *threads.pthreads.begin() : *threads.names.begin();
    Calls calls(source, name);
    calls.TraverseStmt(function->getBody());
    for (const Stmt* statement : calls.found) {
      if (!isa_and_nonnull<CompoundStmt>(source.parent(*statement)))
        return source.change().fail(name + " is joined inside another statement");
      source.erase_line_of(*statement);
    }
    text += posix ? "pthread_join(" + name + ", " + (source.is_cxx() ? "nullptr" : "NULL") + ");"
                  : name + ".join();";
    text += "\n" + indent;
  }
  source.insert(before->getBeginLoc(), text);
}

void move_publication(Source& source, const Edit& edit) {
  if (edit.places.empty() || edit.threads.empty()) return;
  std::vector<const Expr*> kept = source.accesses(edit.places[0]);
  if (kept.empty()) return;
  source.change().done.insert(&edit.places[0]);
  const Stmt* below = in_block(source, *kept[0]);
  const auto* block = below == nullptr ? nullptr : dyn_cast_or_null<CompoundStmt>(source.parent(*below));
  const Stmt* moved = nullptr;
  if (block != nullptr) {
    for (const Stmt* one : block->body()) {
      if (source.is_at(one->getSourceRange(), edit.threads[0]) && one != below) moved = one;
    }
  }
  if (moved == nullptr || isa<DeclStmt>(moved))
    return source.change().fail("the publication is not a statement of the same block");
  source.change().done.insert(&edit.threads[0]);
  std::string text = source.text(SourceRange(moved->getBeginLoc(), moved->getEndLoc())) + ";";
  source.erase_line_of(*moved);
  source.insert(source.end_of(*below), "\n" + source.indent_of(below->getBeginLoc()) + text);
}

void Source::erase_line_of(const Stmt& statement) {
  SourceLocation begin = written(statement.getBeginLoc()), end = end_of(statement);
  if (begin.isInvalid() || end.isInvalid())
    return change_.fail(place_text(statement.getBeginLoc()) + " is inside a macro");
  // With the line, if nothing else is on it.
  const char* text = manager().getCharacterData(end);
  const char* rest = text;
  while (*rest == ' ' || *rest == '\t') ++rest;
  std::string indent = indent_of(begin);
  if (*rest == '\n' && manager().getSpellingColumnNumber(begin) == indent.size() + 1) {
    begin = begin.getLocWithOffset(-static_cast<int>(indent.size()));
    end = end.getLocWithOffset(static_cast<int>(rest - text) + 1);
  }
  replace(CharSourceRange::getCharRange(begin, end), "");
}

}  // namespace duress::rewrite
