// SPDX-License-Identifier: Apache-2.0
//
// The replacements of one request, over all of its translation units, and the questions about a syntax tree
// that several kinds of edit ask.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Tooling/Core/Replacement.h>

#include <map>
#include <set>
#include <string>

#include "rewrite/request.h"

namespace duress::rewrite {

/// A header is seen by several units: equal replacements count once, different ones at a place are an error.
struct Change {
  std::map<std::string, clang::tooling::Replacements> files;
  std::set<std::string> includes;  // "<atomic>", of the file named before '\n'
  std::set<const Place*> done;     // of the request
  std::string error;               // the first
  void fail(const std::string& why) {
    if (error.empty()) error = why;
  }
};

/// One unit while it is edited.
class Source {
 public:
  Source(clang::ASTContext& context, Change& change) : context_(context), change_(change) {}

  clang::ASTContext& context() { return context_; }
  Change& change() { return change_; }
  const clang::SourceManager& manager() const { return context_.getSourceManager(); }
  bool is_cxx() const { return context_.getLangOpts().CPlusPlus; }

  /// Where it is written: an argument of a macro is written where the macro is used. Invalid: in the text of
  /// a macro.
  clang::SourceLocation written(clang::SourceLocation at) const;
  clang::CharSourceRange written(clang::SourceRange range) const;  // ends after the last token
  std::string text(clang::SourceRange range) const;
  bool is_at(clang::SourceRange range, const Place& place) const;  // is on that line, at least in part
  std::string place_text(clang::SourceLocation at) const;          // "bank.cc:7"

  void replace(clang::CharSourceRange range, const std::string& text);
  void replace(clang::SourceRange range, const std::string& text);
  void insert(clang::SourceLocation at, const std::string& text);
  void insert_after(clang::SourceRange range, const std::string& text);
  void erase_line_of(const clang::Stmt& statement);
  void add_include(clang::SourceLocation in, const std::string& header);  // "<atomic>"

  /// Beginning of a statement's line and the blanks before it; nothing else may stand there.
  std::string indent_of(clang::SourceLocation at) const;
  /// What one level of a block adds.
  std::string level(clang::SourceLocation in) const;
  /// After the ';' of a statement.
  clang::SourceLocation end_of(const clang::Stmt& statement) const;
  /// The lines of [first, last] one level deeper.
  void indent_lines(clang::SourceLocation first, clang::SourceLocation last);

  /// The innermost statement around it that stands by itself: in a block, or as the branch of another one.
  const clang::Stmt* statement_of(const clang::Expr& expression) const;
  const clang::Stmt* parent(const clang::Stmt& statement) const;  // null: none within the function
  const clang::FunctionDecl* function_of(const clang::Stmt& statement) const;
  /// A name that the function does not use yet.
  std::string fresh(const clang::FunctionDecl& function, const std::string& wish) const;

  /// The accesses of that name on the line: references of variables and members.
  std::vector<const clang::Expr*> accesses(const Place& place);

 private:
  /// Units may call a file by different names.
  clang::tooling::Replacement replacement(clang::CharSourceRange range, const std::string& text) const;

  clang::ASTContext& context_;
  Change& change_;
};

/// The variable or member that it names; null: something else.
const clang::ValueDecl* named(const clang::Expr& expression);

// ---- one file each: they add to source.change()

void make_atomic(Source& source, const Edit& edit);
void add_lock(Source& source, const Edit& edit);
void add_join(Source& source, const Edit& edit);
void move_publication(Source& source, const Edit& edit);

}  // namespace duress::rewrite
