// SPDX-License-Identifier: Apache-2.0
#include "rewrite/mutexes.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>

namespace duress::rewrite {

using namespace clang;  // NOLINT(google-build-using-namespace): its names are the vocabulary of this folder

namespace {

std::optional<Mutex::Kind> mutex_kind(QualType type) {
  if (const auto* record = type->getAsCXXRecordDecl()) {
    static const std::set<std::string> known = {"mutex",        "recursive_mutex",
                                                "timed_mutex",  "recursive_timed_mutex",
                                                "shared_mutex", "shared_timed_mutex"};
    if (record->isInStdNamespace() && known.count(record->getName().str()) != 0) return Mutex::Kind::kCxx;
  }
  for (const auto* alias = type->getAs<TypedefType>(); alias != nullptr;
       alias = alias->desugar()->getAs<TypedefType>()) {
    if (alias->getDecl()->getName() == "pthread_mutex_t") return Mutex::Kind::kPthread;
    if (alias->getDecl()->getName() == "mtx_t") return Mutex::Kind::kC11;
  }
  return std::nullopt;
}

std::string unqualified(const std::string& name) {
  std::size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

class Mutexes : public RecursiveASTVisitor<Mutexes> {
 public:
  explicit Mutexes(std::string name) : wanted_(std::move(name)), last_(unqualified(wanted_)) {}
  bool VisitVarDecl(VarDecl* decl) { return take(*decl); }
  bool VisitFieldDecl(FieldDecl* decl) { return take(*decl); }
  std::set<const ValueDecl*> exact, others;

 private:
  bool take(const ValueDecl& decl) {
    if (decl.getIdentifier() == nullptr || decl.getName() != last_ || !mutex_kind(decl.getType()))
      return true;
    std::string full = decl.getQualifiedNameAsString();
    bool ends = llvm::StringRef(full).ends_with(wanted_);
    (ends ? exact : others).insert(cast<ValueDecl>(decl.getCanonicalDecl()));
    return true;
  }
  std::string wanted_, last_;
};

/// The name in code of that function: shorter where a namespace is shared.
std::string reachable_name(const ValueDecl& decl, const FunctionDecl& function) {
  std::string name = decl.getNameAsString();
  for (const DeclContext* at = decl.getDeclContext(); at != nullptr && !at->isTranslationUnit();
       at = at->getParent()) {
    if (at->Encloses(&function)) break;
    if (const auto* space = dyn_cast<NamespaceDecl>(at); space != nullptr && !space->isAnonymousNamespace())
      name = space->getNameAsString() + "::" + name;
    if (const auto* record = dyn_cast<RecordDecl>(at)) name = record->getNameAsString() + "::" + name;
  }
  return name;
}

/// Whether `this` of the function, or of the one around a lambda, has the members of the record.
bool has_members(const FunctionDecl& function, const RecordDecl& record) {
  for (const DeclContext* at = &function; at != nullptr; at = at->getParent()) {
    const auto* own = dyn_cast<CXXRecordDecl>(at);
    if (own == nullptr || own->isLambda()) continue;
    if (own->getCanonicalDecl() == record.getCanonicalDecl()) return true;
    if (const auto* base = dyn_cast<CXXRecordDecl>(&record)) return own->isDerivedFrom(base);
  }
  return false;
}

}  // namespace

std::string Mutex::guard(const Source& source, const std::string& guard, const std::string& expression,
                         const char* guard_type) const {
  bool deduces = const_cast<Source&>(source).context().getLangOpts().CPlusPlus17;
  return std::string("std::") + guard_type + (deduces ? "" : "<" + type + ">") + " " + guard + "(" +
         expression + ");";
}

std::string Mutex::lock(const std::string& expression) const {
  return (kind == Kind::kC11 ? "mtx_lock(&" : "pthread_mutex_lock(&") + expression + ");";
}

std::string Mutex::unlock(const std::string& expression) const {
  return (kind == Kind::kC11 ? "mtx_unlock(&" : "pthread_mutex_unlock(&") + expression + ");";
}

Mutex find_mutex(Source& source, const std::string& name) {
  Mutexes visitor(name);
  visitor.TraverseAST(source.context());
  const std::set<const ValueDecl*>& found = visitor.exact.empty() ? visitor.others : visitor.exact;
  Mutex mutex;
  if (found.size() != 1) {
    source.change().fail(found.empty() ? "no mutex " + name + " is declared where it is needed"
                                       : "several mutexes are called " + name);
    return mutex;
  }
  mutex.decl = *found.begin();
  mutex.kind = *mutex_kind(mutex.decl->getType());
  mutex.name = mutex.decl->getNameAsString();
  mutex.type = mutex.decl->getType().getUnqualifiedType().getAsString(source.context().getPrintingPolicy());
  return mutex;
}

Mutex new_mutex(Source& source, const ValueDecl& variable) {
  Mutex mutex;
  mutex.beside = &variable;
  std::string name = variable.getNameAsString();
  mutex.name = name.back() == '_' ? name + "mutex_" : name + "_mutex";
  mutex.kind = source.is_cxx() ? Mutex::Kind::kCxx : Mutex::Kind::kPthread;
  mutex.type = "std::mutex";
  if (isa<FieldDecl>(variable) && !source.is_cxx()) {
    source.change().fail("a mutex in a C structure needs an initialisation that only its author can place");
    return mutex;
  }
  const VarDecl* var = dyn_cast<VarDecl>(&variable);
  const Decl* at = var != nullptr && var->getDefinition() != nullptr ? var->getDefinition() : &variable;
  SourceLocation last = source.written(at->getEndLoc());
  std::optional<Token> next;
  if (last.isValid()) next = Lexer::findNextToken(last, source.manager(), source.context().getLangOpts());
  if (!next || next->isNot(tok::semi)) {
    source.change().fail(source.place_text(at->getBeginLoc()) + " declares several variables, or in a macro");
    return mutex;
  }
  bool is_static = var != nullptr && var->getStorageClass() == SC_Static;
  std::string text = "\n" + source.indent_of(last) + (is_static ? "static " : "");
  text += source.is_cxx() ? "std::mutex " + mutex.name + ";"
                          : "pthread_mutex_t " + mutex.name + " = PTHREAD_MUTEX_INITIALIZER;";
  source.insert(next->getEndLoc(), text);
  source.add_include(last, source.is_cxx() ? "<mutex>" : "<pthread.h>");
  return mutex;
}

std::string expression_for(Source& source, const Mutex& mutex, const Expr& access,
                           const FunctionDecl& function) {
  const ValueDecl* decl = mutex.decl != nullptr ? mutex.decl : mutex.beside;
  if (const auto* field = dyn_cast<FieldDecl>(decl)) {
    const auto* member = dyn_cast<MemberExpr>(&access);
    const auto* of = member != nullptr ? dyn_cast<FieldDecl>(member->getMemberDecl()) : nullptr;
    if (of != nullptr && of->getParent()->getCanonicalDecl() == field->getParent()->getCanonicalDecl()) {
      if (member->isImplicitAccess()) return mutex.name;
      return source.text(member->getBase()->getSourceRange()) + (member->isArrow() ? "->" : ".") + mutex.name;
    }
    if (has_members(function, *field->getParent())) return mutex.name;
    source.change().fail("which object's " + mutex.name + " to hold at " +
                         source.place_text(access.getExprLoc()) + " is not clear");
    return "";
  }
  const auto* var = dyn_cast<VarDecl>(decl);
  if (mutex.decl != nullptr && var != nullptr && var->isFileVarDecl() && !var->isStaticDataMember() &&
      source.manager().isBeforeInTranslationUnit(function.getBeginLoc(), var->getBeginLoc())) {
    source.change().fail(mutex.name + " is declared after " + source.place_text(access.getExprLoc()));
    return "";
  }
  std::string name = reachable_name(*decl, function);
  return mutex.decl != nullptr ? name : name.substr(0, name.size() - decl->getName().size()) + mutex.name;
}

}  // namespace duress::rewrite
