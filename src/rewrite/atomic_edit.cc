// SPDX-License-Identifier: Apache-2.0
//
// A variable or member becomes atomic: its declarations, its initialisation, and the uses that an atomic does
// not allow. `x = x + 1` becomes `x += 1`, because two operations on an atomic are still two operations.
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>

#include "rewrite/change.h"

namespace duress::rewrite {

using namespace clang;  // NOLINT(google-build-using-namespace): its names are the vocabulary of this folder

namespace {

class AtomicEdit : public RecursiveASTVisitor<AtomicEdit> {
 public:
  AtomicEdit(Source& source, const ValueDecl& variable)
      : source_(source), variable_(cast<ValueDecl>(variable.getCanonicalDecl())) {}
  bool shouldVisitImplicitCode() const { return false; }

  bool VisitDeclRefExpr(DeclRefExpr* use) { return visit(*use, use->getDecl()); }
  bool VisitMemberExpr(MemberExpr* use) { return visit(*use, use->getMemberDecl()); }

  void declarations() {
    for (const Decl* decl : variable_->redecls()) declaration(*cast<DeclaratorDecl>(decl));
  }

 private:
  Change& change() { return source_.change(); }

  void declaration(const DeclaratorDecl& decl) {
    std::string where = source_.place_text(decl.getLocation());
    const TypeSourceInfo* info = decl.getTypeSourceInfo();
    if (info == nullptr) return change().fail("the type at " + where + " is not written out");
    TypeLoc type = info->getTypeLoc();
    while (auto array = type.getAs<ArrayTypeLoc>()) type = array.getElementLoc();
    QualType bare = type.getType();
    if (bare->isAtomicType() || bare->isReferenceType() || bare->isDependentType() || bare.isConstQualified())
      return change().fail("the type at " + where + " cannot become atomic");
    if (!bare->isScalarType() || bare->isMemberPointerType() || bare->isFunctionPointerType())
      return change().fail("an atomic " + bare.getAsString() + " (" + where +
                           ") is not what one would write");
    if (const auto* field = dyn_cast<FieldDecl>(&decl); field != nullptr && field->isBitField())
      return change().fail("a bit-field (" + where + ") cannot be atomic");
    if (shares_type(decl)) return change().fail(where + " declares several variables");
    // A type such as `auto` is written out; volatile is not needed for an atomic.
    bool deduced = bare->getContainedDeducedType() != nullptr;
    std::string spelled =
        deduced
            ? bare.getUnqualifiedType().getCanonicalType().getAsString(source_.context().getPrintingPolicy())
            : source_.text(type.getUnqualifiedLoc().getSourceRange());
    erase_volatile(decl, type);
    if (source_.is_cxx()) {
      source_.replace(type.getUnqualifiedLoc().getSourceRange(), "std::atomic<" + spelled + ">");
      source_.add_include(decl.getLocation(), "<atomic>");
    } else {
      source_.replace(type.getUnqualifiedLoc().getSourceRange(), "_Atomic(" + spelled + ")");
    }
    initialiser(decl);
  }

  /// `int a, b;`
  bool shares_type(const DeclaratorDecl& decl) const {
    for (const Decl* other : decl.getDeclContext()->decls()) {
      if (other != &decl && isa<DeclaratorDecl>(other) && !other->isImplicit() &&
          other->getBeginLoc() == decl.getBeginLoc())
        return true;
    }
    return false;
  }

  void erase_volatile(const DeclaratorDecl& decl, TypeLoc type) {
    if (!type.getType().isVolatileQualified()) return;
    const SourceManager& manager = source_.manager();
    const LangOptions& language = source_.context().getLangOpts();
    SourceLocation end = source_.written(decl.getLocation());
    for (SourceLocation at = source_.written(decl.getBeginLoc());
         at.isValid() && end.isValid() && manager.isBeforeInTranslationUnit(at, end);) {
      std::optional<Token> next = Lexer::findNextToken(at, manager, language);
      if (!next) return;
      llvm::StringRef word(manager.getCharacterData(at), Lexer::MeasureTokenLength(at, manager, language));
      if (word == "volatile") {
        source_.replace(CharSourceRange::getCharRange(at, next->getLocation()), "");
        return;
      }
      at = next->getLocation();
    }
  }

  /// Before C++17 an atomic cannot be initialised with '='.
  void initialiser(const DeclaratorDecl& decl) {
    if (!source_.is_cxx() || source_.context().getLangOpts().CPlusPlus17) return;
    const Expr* value = nullptr;
    if (const auto* field = dyn_cast<FieldDecl>(&decl)) value = field->getInClassInitializer();
    if (const auto* variable = dyn_cast<VarDecl>(&decl);
        variable != nullptr && variable->getInitStyle() == VarDecl::CInit)
      value = variable->getInit();
    if (value == nullptr || isa<InitListExpr>(value) || decl.getType()->isArrayType()) return;
    SourceLocation name_end = Lexer::getLocForEndOfToken(source_.written(decl.getLocation()), 0,
                                                         source_.manager(), source_.context().getLangOpts());
    SourceRange range(name_end, value->getEndLoc());
    source_.replace(range, "{" + source_.text(value->getSourceRange()) + "}");
  }

  bool visit(const Expr& use, const ValueDecl* decl) {
    if (cast<ValueDecl>(decl->getCanonicalDecl()) != variable_ || !change().error.empty()) return true;
    const Expr* value = &use;  // with the subscript of an array's element
    const Stmt* above = source_.parent(*value);
    auto step = [&] {
      value = dyn_cast<Expr>(above);
      above = value == nullptr ? nullptr : source_.parent(*value);
    };
    while (above != nullptr) {
      const auto* cast = dyn_cast<ImplicitCastExpr>(above);
      bool decays = cast != nullptr && cast->getCastKind() == CK_ArrayToPointerDecay;
      const auto* element = dyn_cast<ArraySubscriptExpr>(above);
      bool indexes = element != nullptr && variable_->getType()->isArrayType() &&
                     element->getBase()->IgnoreImpCasts() == value->IgnoreImpCasts();
      if (!isa<ParenExpr>(above) && !decays && !indexes) break;
      step();
      if (value == nullptr) return true;
    }
    if (above != nullptr) look_at(*value, *above);
    return true;
  }

  void look_at(const Expr& value, const Stmt& above) {
    if (const auto* assignment = dyn_cast<BinaryOperator>(&above);
        assignment != nullptr && assignment->isAssignmentOp() && assignment->getLHS() == &value)
      return assigned(value, *assignment);
    if (const auto* unary = dyn_cast<UnaryOperator>(&above)) {
      if (unary->isIncrementDecrementOp()) return arithmetic(value);
      if (unary->getOpcode() == UO_AddrOf)
        return change().fail("the address of " + variable_->getNameAsString() + " is taken at " +
                             source_.place_text(value.getExprLoc()));
    }
    if (const auto* cast = dyn_cast<ImplicitCastExpr>(&above);
        cast != nullptr && cast->getCastKind() == CK_LValueToRValue)
      return read(value, *cast);
    if (!source_.is_cxx()) return;
    if (isa<CallExpr, CXXConstructExpr, InitListExpr, MaterializeTemporaryExpr, ImplicitCastExpr>(above))
      source_.insert_after(value.getSourceRange(),
                           ".load()");  // bound to a reference; the compiler checks it
  }

  /// Only integers and pointers have these operations.
  void arithmetic(const Expr& value) {
    if (source_.is_cxx() && value.getType()->isBooleanType())
      change().fail("an atomic bool cannot be counted at " + source_.place_text(value.getExprLoc()));
  }

  void assigned(const Expr& value, const BinaryOperator& assignment) {
    if (assignment.isCompoundAssignmentOp()) return arithmetic(value);
    const auto* sum = dyn_cast<BinaryOperator>(assignment.getRHS()->IgnoreParenImpCasts());
    if (sum == nullptr) return;
    bool known = sum->getOpcode() == BO_Add || sum->getOpcode() == BO_Sub || sum->getOpcode() == BO_And ||
                 sum->getOpcode() == BO_Or || sum->getOpcode() == BO_Xor;
    const Expr* left = sum->getLHS()->IgnoreParenImpCasts();
    bool same = source_.text(left->getSourceRange()) == source_.text(value.getSourceRange());
    if (!known || !same) return;
    SourceRange gap(assignment.getOperatorLoc(), sum->getOperatorLoc());
    source_.replace(gap, BinaryOperator::getOpcodeStr(sum->getOpcode()).str() + "=");
    replaced_.insert(left);
  }

  /// A value is read. An atomic converts by itself where the type is clear.
  void read(const Expr& value, const ImplicitCastExpr& cast) {
    if (!source_.is_cxx() || replaced_.count(&value) != 0) return;
    const Stmt* above = source_.parent(cast);
    while (above != nullptr && isa<ImplicitCastExpr, ParenExpr>(above)) above = source_.parent(*above);
    bool pointer = value.getType()->isPointerType();
    const auto* binary = dyn_cast_or_null<BinaryOperator>(above);
    bool clear = above == nullptr || isa<IfStmt, WhileStmt, DoStmt, ForStmt>(above) ||
                 (binary != nullptr && (!pointer || binary->isComparisonOp() || binary->isAssignmentOp())) ||
                 (isa<UnaryOperator>(above) && !pointer);
    if (const auto* leave = dyn_cast_or_null<ReturnStmt>(above)) {
      const FunctionDecl* function = source_.function_of(*leave);
      clear = function != nullptr && function->getReturnType()->getContainedDeducedType() == nullptr &&
              !is_lambda(*function);
    }
    if (!clear) source_.insert_after(value.getSourceRange(), ".load()");
  }

  static bool is_lambda(const FunctionDecl& function) {
    const auto* method = dyn_cast<CXXMethodDecl>(&function);
    return method != nullptr && method->getParent()->isLambda();
  }

  Source& source_;
  const ValueDecl* variable_;
  std::set<const Expr*> replaced_;
};

}  // namespace

void make_atomic(Source& source, const Edit& edit) {
  std::set<const ValueDecl*> variables;
  for (const Place& place : edit.places) {
    for (const Expr* access : source.accesses(place)) {
      source.change().done.insert(&place);
      variables.insert(cast<ValueDecl>(named(*access)->getCanonicalDecl()));
    }
  }
  for (const ValueDecl* variable : variables) {
    AtomicEdit atomic(source, *variable);
    atomic.declarations();
    atomic.TraverseAST(source.context());
  }
}

}  // namespace duress::rewrite
