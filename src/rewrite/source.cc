// SPDX-License-Identifier: Apache-2.0
#include <clang/AST/ParentMapContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>
#include <llvm/Support/Path.h>

#include "rewrite/change.h"

namespace duress::rewrite {

using namespace clang;  // NOLINT(google-build-using-namespace): its names are the vocabulary of this folder

namespace {

/// References of a name on a line.
class Accesses : public RecursiveASTVisitor<Accesses> {
 public:
  Accesses(Source& source, const Place& place) : source_(source), place_(place) {}
  bool shouldVisitImplicitCode() const { return false; }
  bool VisitDeclRefExpr(DeclRefExpr* reference) { return take(*reference); }
  bool VisitMemberExpr(MemberExpr* reference) { return take(*reference); }
  std::vector<const Expr*> found;

 private:
  bool take(const Expr& expression) {
    const ValueDecl* decl = named(expression);
    if (decl != nullptr && decl->getName() == place_.name &&
        source_.is_at(expression.getSourceRange(), place_))
      found.push_back(&expression);
    return true;
  }
  Source& source_;
  const Place& place_;
};

class Names : public RecursiveASTVisitor<Names> {
 public:
  bool VisitNamedDecl(NamedDecl* decl) { return take(*decl); }
  bool VisitDeclRefExpr(DeclRefExpr* reference) { return take(*reference->getDecl()); }
  bool VisitMemberExpr(MemberExpr* reference) { return take(*reference->getMemberDecl()); }
  std::set<std::string> found;

 private:
  bool take(const NamedDecl& decl) {
    if (decl.getIdentifier() != nullptr) found.insert(decl.getName().str());
    return true;
  }
};

}  // namespace

const ValueDecl* named(const Expr& expression) {
  if (const auto* reference = dyn_cast<DeclRefExpr>(&expression))
    return dyn_cast<VarDecl>(reference->getDecl()) ? reference->getDecl() : nullptr;
  if (const auto* member = dyn_cast<MemberExpr>(&expression)) {
    bool data = isa<FieldDecl>(member->getMemberDecl()) || isa<VarDecl>(member->getMemberDecl());
    return data && member->getMemberDecl()->getIdentifier() != nullptr ? member->getMemberDecl() : nullptr;
  }
  return nullptr;
}

SourceLocation Source::written(SourceLocation at) const {
  while (at.isMacroID()) {
    if (!manager().isMacroArgExpansion(at)) return {};
    at = manager().getImmediateSpellingLoc(at);
  }
  return at;
}

CharSourceRange Source::written(SourceRange range) const {
  SourceLocation first = written(range.getBegin()), last = written(range.getEnd());
  if (first.isInvalid() || last.isInvalid() || manager().getFileID(first) != manager().getFileID(last))
    return {};
  return CharSourceRange::getCharRange(
      first, Lexer::getLocForEndOfToken(last, 0, manager(), context_.getLangOpts()));
}

std::string Source::text(SourceRange range) const {
  return Lexer::getSourceText(written(range), manager(), context_.getLangOpts()).str();
}

bool Source::is_at(SourceRange range, const Place& place) const {
  SourceLocation first = manager().getFileLoc(range.getBegin()), last = manager().getFileLoc(range.getEnd());
  OptionalFileEntryRef file = manager().getFileEntryRefForID(manager().getFileID(first));
  if (!file) return false;
  llvm::StringRef real = file->getFileEntry().tryGetRealPathName();
  if (real != place.file && file->getName() != place.file) return false;
  return manager().getSpellingLineNumber(first) <= place.line &&
         place.line <= manager().getSpellingLineNumber(last);
}

std::string Source::place_text(SourceLocation at) const {
  SourceLocation where = manager().getFileLoc(at);
  llvm::StringRef path = manager().getFilename(where);
  return path.substr(path.rfind('/') + 1).str() + ":" +
         std::to_string(manager().getSpellingLineNumber(where));
}

tooling::Replacement Source::replacement(CharSourceRange range, const std::string& text) const {
  tooling::Replacement one(manager(), range, text, context_.getLangOpts());
  llvm::SmallString<256> path(one.getFilePath());
  manager().getFileManager().makeAbsolutePath(path);
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return tooling::Replacement(path, one.getOffset(), one.getLength(), text);
}

void Source::replace(CharSourceRange range, const std::string& text) {
  if (range.isInvalid()) return change_.fail("a change lies inside a macro");
  tooling::Replacement one = replacement(range, text);
  tooling::Replacements& all = change_.files[one.getFilePath().str()];
  if (std::find(all.begin(), all.end(), one) != all.end()) return;
  if (llvm::Error error = all.add(one)) {
    llvm::consumeError(std::move(error));
    change_.fail("two changes meet at " + place_text(range.getBegin()));
  }
}

void Source::replace(SourceRange range, const std::string& text) {
  CharSourceRange where = written(range);
  if (where.isInvalid()) return change_.fail(place_text(range.getBegin()) + " is inside a macro");
  replace(where, text);
}

void Source::insert(SourceLocation at, const std::string& text) {
  SourceLocation where = written(at);
  if (where.isInvalid()) return change_.fail(place_text(at) + " is inside a macro");
  tooling::Replacement one = replacement(CharSourceRange::getCharRange(where, where), text);
  tooling::Replacements& all = change_.files[one.getFilePath().str()];
  if (std::find(all.begin(), all.end(), one) != all.end()) return;
  if (llvm::Error error = all.add(one)) {
    // Another insertion at the same place: this one comes after it.
    llvm::consumeError(std::move(error));
    unsigned offset = all.getShiftedCodePosition(one.getOffset());
    all = all.merge(tooling::Replacements(tooling::Replacement(one.getFilePath(), offset, 0, text)));
  }
}

void Source::insert_after(SourceRange range, const std::string& text) {
  CharSourceRange where = written(range);
  if (where.isInvalid()) return change_.fail(place_text(range.getBegin()) + " is inside a macro");
  insert(where.getEnd(), text);
}

void Source::add_include(SourceLocation in, const std::string& header) {
  SourceLocation file = manager().getFileLoc(in);
  tooling::Replacement nothing = replacement(CharSourceRange::getCharRange(file, file), "");
  change_.includes.insert(nothing.getFilePath().str() + "\n" + header);
}

std::string Source::indent_of(SourceLocation at) const {
  return Lexer::getIndentationForLine(manager().getFileLoc(at), manager()).str();
}

std::string Source::level(SourceLocation in) const {
  // The first line of the file that is indented tells.
  llvm::StringRef text = manager().getBufferData(manager().getFileID(manager().getFileLoc(in)));
  bool opened = false;
  for (llvm::StringRef rest = text; !rest.empty();) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    if (opened && !line.empty()) {
      if (line[0] == '\t') return "\t";
      std::size_t blanks = line.find_first_not_of(' ');
      if (blanks >= 2 && blanks <= 8) return std::string(blanks, ' ');
    }
    opened = line.rtrim().ends_with("{") && !line.starts_with("namespace");
  }
  return "  ";
}

SourceLocation Source::end_of(const Stmt& statement) const {
  SourceLocation last = written(statement.getEndLoc());
  if (last.isInvalid()) return {};
  SourceLocation end = Lexer::getLocForEndOfToken(last, 0, manager(), context_.getLangOpts());
  if (*manager().getCharacterData(last) == ';' || isa<CompoundStmt>(statement)) return end;
  std::optional<Token> next = Lexer::findNextToken(last, manager(), context_.getLangOpts());
  if (next && next->is(tok::semi)) return next->getEndLoc();
  return end;
}

void Source::indent_lines(SourceLocation first, SourceLocation last) {
  FileID file = manager().getFileID(first);
  std::string deeper = level(first);
  unsigned from = manager().getSpellingLineNumber(first), to = manager().getSpellingLineNumber(last);
  for (unsigned line = from + 1; line <= to; ++line) {
    SourceLocation begin = manager().translateLineCol(file, line, 1);
    const char* text = manager().getCharacterData(begin);
    if (*text == '\n' || *text == '#') continue;
    // Not within a token of several lines, such as a raw string.
    SourceLocation token = Lexer::GetBeginningOfToken(begin, manager(), context_.getLangOpts());
    if (token.isValid() && manager().getSpellingLineNumber(token) < line) continue;
    insert(begin, deeper);
  }
}

const Stmt* Source::parent(const Stmt& statement) const {
  DynTypedNodeList parents = context_.getParents(statement);
  for (const DynTypedNode& node : parents) {
    if (const Stmt* above = node.get<Stmt>()) return above;
    if (const auto* variable = node.get<VarDecl>()) {
      for (const DynTypedNode& above : context_.getParents(*variable)) {
        if (const Stmt* declaration = above.get<Stmt>()) return declaration;
      }
    }
  }
  return nullptr;
}

namespace {

/// Whether a child of it stands by itself.
bool holds_statement(const Stmt& above, const Stmt& child) {
  if (isa<CompoundStmt>(above)) return true;
  if (const auto* one = dyn_cast<IfStmt>(&above)) return one->getThen() == &child || one->getElse() == &child;
  if (const auto* one = dyn_cast<ForStmt>(&above)) return one->getBody() == &child;
  if (const auto* one = dyn_cast<CXXForRangeStmt>(&above)) return one->getBody() == &child;
  if (const auto* one = dyn_cast<WhileStmt>(&above)) return one->getBody() == &child;
  if (const auto* one = dyn_cast<DoStmt>(&above)) return one->getBody() == &child;
  return false;
}

}  // namespace

const Stmt* Source::statement_of(const Expr& expression) const {
  const Stmt* at = &expression;
  for (const Stmt* above = parent(*at); above != nullptr; at = above, above = parent(*at)) {
    if (holds_statement(*above, *at)) return at;
  }
  return nullptr;
}

const FunctionDecl* Source::function_of(const Stmt& statement) const {
  DynTypedNode node = DynTypedNode::create(statement);
  while (true) {
    DynTypedNodeList parents = context_.getParents(node);
    if (parents.empty()) return nullptr;
    node = parents[0];
    if (const auto* lambda = node.get<LambdaExpr>()) return lambda->getCallOperator();
    if (const auto* function = node.get<FunctionDecl>()) return function;
  }
}

std::string Source::fresh(const FunctionDecl& function, const std::string& wish) const {
  Names names;
  names.TraverseStmt(function.getBody());
  for (const ParmVarDecl* parameter : function.parameters()) names.found.insert(parameter->getName().str());
  std::string name = wish;
  for (int i = 2; names.found.count(name) != 0; ++i) name = wish + std::to_string(i);
  return name;
}

std::vector<const Expr*> Source::accesses(const Place& place) {
  Accesses visitor(*this, place);
  visitor.TraverseAST(context_);
  return visitor.found;
}

}  // namespace duress::rewrite
