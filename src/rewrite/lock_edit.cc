// SPDX-License-Identifier: Apache-2.0
//
// Statements that access a variable come to hold a mutex. Those of one function that belong together (one is
// inside the other, or they follow each other) become one critical section: what is tested is still true when
// it is used.
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

#include "rewrite/mutexes.h"

namespace duress::rewrite {

using namespace clang;  // NOLINT(google-build-using-namespace): its names are the vocabulary of this folder

namespace {

/// Statements that follow each other in a block, or one that is the branch of another statement.
struct Section {
  const Stmt* holder = nullptr;
  std::size_t first = 0, last = 0;  // children of the block
  const Stmt* only = nullptr;       // not in a block
  const Expr* access = nullptr;

  const Stmt* begin() const { return only ? only : child(first); }
  const Stmt* end() const { return only ? only : child(last); }
  const Stmt* child(std::size_t i) const {
    return *(cast<CompoundStmt>(holder)->body_begin() + static_cast<std::ptrdiff_t>(i));
  }
  /// Whether nothing comes after it but the return of a constant.
  bool is_rest_of_block() const {
    if (only != nullptr) return false;
    std::size_t after = cast<CompoundStmt>(holder)->size() - last - 1;
    const auto* leave = after == 1 ? dyn_cast<ReturnStmt>(child(last + 1)) : nullptr;
    const Expr* value = leave == nullptr ? nullptr : leave->getRetValue();
    return after == 0 ||
           (leave != nullptr &&
            (value == nullptr || isa<CXXBoolLiteralExpr, IntegerLiteral>(value->IgnoreImpCasts())));
  }
};

class Leaves : public RecursiveASTVisitor<Leaves> {
 public:
  bool TraverseLambdaExpr(LambdaExpr*) { return true; }
  bool VisitReturnStmt(ReturnStmt* statement) {
    returns.push_back(statement);
    return true;
  }
  bool VisitGotoStmt(GotoStmt*) { return !(jumps = true); }
  bool VisitBreakStmt(BreakStmt*) { return jumps = true; }
  bool VisitContinueStmt(ContinueStmt*) { return jumps = true; }
  std::vector<const ReturnStmt*> returns;
  bool jumps = false;
};

class Uses : public RecursiveASTVisitor<Uses> {
 public:
  bool VisitDeclRefExpr(DeclRefExpr* reference) {
    used.insert(reference->getDecl());
    return true;
  }
  std::set<const Decl*> used;
};

class LockEdit {
 public:
  LockEdit(Source& source, const Mutex& mutex) : source_(source), mutex_(mutex) {}

  void add(const Expr& access) {
    Section section;
    section.access = &access;
    const Stmt* at = source_.statement_of(access);
    if (at == nullptr) {
      return source_.change().fail(source_.place_text(access.getExprLoc()) + " is not in a statement");
    }
    section.holder = source_.parent(*at);
    const auto* block = dyn_cast<CompoundStmt>(section.holder);
    if (block == nullptr) {
      section.only = at;
    } else {
      section.first = section.last = static_cast<std::size_t>(
          std::find(block->body_begin(), block->body_end(), at) - block->body_begin());
    }
    sections_.push_back(section);
  }

  void write() {
    while (join_two()) {
    }
    for (const Section& section : sections_) write(section);
  }

 private:
  /// Whether the second is inside the first; joins those that follow each other.
  bool absorbs(Section& one, const Section& other) const {
    if (one.holder == other.holder && one.only == nullptr && other.only == nullptr) {
      if (other.first > one.last + 1 || one.first > other.last + 1) return false;
      one.first = std::min(one.first, other.first);
      one.last = std::max(one.last, other.last);
      return true;
    }
    for (const Stmt* at = other.begin(); at != nullptr; at = source_.parent(*at)) {
      if (isa<LambdaExpr>(at)) return false;
      if (one.only == at) return true;
      if (one.only == nullptr && source_.parent(*at) == one.holder) {
        for (std::size_t i = one.first; i <= one.last; ++i) {
          if (one.child(i) == at) return true;
        }
      }
    }
    return false;
  }

  bool join_two() {
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      for (std::size_t k = 0; k < sections_.size(); ++k) {
        if (i == k || !absorbs(sections_[i], sections_[k])) continue;
        sections_.erase(sections_.begin() + static_cast<std::ptrdiff_t>(k));
        return true;
      }
    }
    return false;
  }

  /// Whether something declared in the section is used after it.
  bool declares_for_later(const Section& section) const {
    if (section.only != nullptr) return false;
    std::set<const Decl*> declared;
    for (std::size_t i = section.first; i <= section.last; ++i) {
      if (const auto* statement = dyn_cast<DeclStmt>(section.child(i)))
        declared.insert(statement->decl_begin(), statement->decl_end());
    }
    Uses later;
    for (std::size_t i = section.last + 1; i < cast<CompoundStmt>(section.holder)->size(); ++i)
      later.TraverseStmt(const_cast<Stmt*>(section.child(i)));
    return std::any_of(declared.begin(), declared.end(),
                       [&](const Decl* decl) { return later.used.count(decl) != 0; });
  }

  void write(const Section& section) {
    const FunctionDecl* function = source_.function_of(*section.begin());
    if (function == nullptr) return source_.change().fail("a lock is needed outside of functions");
    std::string expression = expression_for(source_, mutex_, *section.access, *function);
    if (expression.empty()) return;
    SourceLocation begin = source_.written(section.begin()->getBeginLoc()),
                   end = source_.end_of(*section.end());
    if (begin.isInvalid() || end.isInvalid())
      return source_.change().fail(source_.place_text(section.begin()->getBeginLoc()) + " is inside a macro");
    if (mutex_.kind == Mutex::Kind::kCxx) {
      source_.add_include(begin, "<mutex>");
      write_guard(section, *function, expression, begin, end);
    } else {
      write_calls(section, *function, expression, begin, end);
    }
  }

  /// What goes before a statement: a line of its own where the statement begins a line.
  std::string separator(SourceLocation begin) const {
    std::string indent = source_.indent_of(begin);
    bool starts = source_.manager().getSpellingColumnNumber(begin) == indent.size() + 1;
    return starts ? "\n" + indent : " ";
  }

  void write_guard(const Section& section, const FunctionDecl& function, const std::string& expression,
                   SourceLocation begin, SourceLocation end) {
    std::string gap = separator(begin);
    bool later = declares_for_later(section);
    std::string name = source_.fresh(function, later ? "lock" : "guard");
    std::string guard = mutex_.guard(source_, name, expression, later ? "unique_lock" : "lock_guard");
    if (section.is_rest_of_block()) {
      source_.insert(begin, guard + gap);
    } else if (later) {
      source_.insert(begin, guard + gap);
      source_.insert(end, gap + name + ".unlock();");
    } else {
      std::string deeper = gap == " " ? "" : source_.level(begin);
      source_.insert(begin, "{" + gap + deeper + guard + gap + deeper);
      source_.insert(end, gap + "}");
      if (gap != " ") source_.indent_lines(begin, end);
    }
  }

  void write_calls(const Section& section, const FunctionDecl& function, const std::string& expression,
                   SourceLocation begin, SourceLocation end) {
    Leaves leaves;
    std::size_t last = section.only ? section.first : section.last;
    for (std::size_t i = section.first; i <= last; ++i)
      leaves.TraverseStmt(const_cast<Stmt*>(section.only ? section.only : section.child(i)));
    bool whole_loop = isa<ForStmt, WhileStmt, DoStmt, SwitchStmt>(section.begin());
    if (leaves.jumps && !whole_loop)
      return source_.change().fail(source_.place_text(begin) + " is left by a jump while the lock is held");
    std::string gap = separator(begin), unlock = mutex_.unlock(expression);
    std::string lock = mutex_.lock(expression) + gap;
    for (const ReturnStmt* leave : leaves.returns)
      write_return(*leave, function, leave == section.begin() ? lock : "", unlock);
    if (isa<ReturnStmt>(section.begin())) return;
    bool returns = isa<ReturnStmt>(section.end());
    if (section.only != nullptr) {
      source_.insert(begin, "{ " + lock);
      source_.insert(end, returns ? " }" : " " + unlock + " }");
      return;
    }
    source_.insert(begin, lock);
    if (!returns) source_.insert(end, gap + unlock);
  }

  /// `return e;` takes the value, unlocks, and returns.
  void write_return(const ReturnStmt& leave, const FunctionDecl& function, const std::string& lock,
                    const std::string& unlock) {
    bool in_block = isa_and_nonnull<CompoundStmt>(source_.parent(leave));
    SourceLocation begin = source_.written(leave.getBeginLoc());
    std::string gap = in_block ? separator(begin) : " ";
    const Expr* value = leave.getRetValue();
    if (value == nullptr) {
      source_.insert(begin, (in_block ? "" : "{ ") + lock + unlock + gap);
    } else {
      std::string name = source_.fresh(function, "result");
      std::string type = function.getReturnType().getAsString(source_.context().getPrintingPolicy());
      source_.replace(leave.getSourceRange(), std::string(in_block ? "" : "{ ") + lock + type + " " + name +
                                                  " = " + source_.text(value->getSourceRange()) + ";" + gap +
                                                  unlock + gap + "return " + name);
    }
    if (!in_block) source_.insert(source_.end_of(leave), " }");
  }

  Source& source_;
  const Mutex& mutex_;
  std::vector<Section> sections_;
};

}  // namespace

void add_lock(Source& source, const Edit& edit) {
  std::set<const Expr*> accesses;
  std::vector<const Expr*> ordered;
  for (const Place& place : edit.places) {
    for (const Expr* access : source.accesses(place)) {
      source.change().done.insert(&place);
      if (accesses.insert(access).second) ordered.push_back(access);
    }
  }
  if (ordered.empty()) return;  // of another unit
  Mutex mutex = edit.kind == Edit::Kind::kLock ? find_mutex(source, edit.mutex)
                                               : new_mutex(source, *named(*ordered[0]));
  if (!source.change().error.empty()) return;
  LockEdit lock(source, mutex);
  for (const Expr* access : ordered) lock.add(*access);
  if (source.change().error.empty()) lock.write();
}

}  // namespace duress::rewrite
