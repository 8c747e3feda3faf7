// SPDX-License-Identifier: Apache-2.0
//
// Mutexes in the source: how one is named where it has to be held, how it is locked, and a new one.
#pragma once

#include <string>

#include "rewrite/change.h"

namespace duress::rewrite {

struct Mutex {
  enum class Kind { kCxx, kPthread, kC11 } kind = Kind::kCxx;
  const clang::ValueDecl* decl = nullptr;  // null: it is new, and belongs to `beside`
  const clang::ValueDecl* beside = nullptr;
  std::string name;  // unqualified
  std::string type;  // of kCxx, for language versions that do not deduce it

  /// "std::lock_guard guard(m);"
  std::string guard(const Source& source, const std::string& guard, const std::string& expression,
                    const char* type) const;
  std::string lock(const std::string& expression) const;
  std::string unlock(const std::string& expression) const;
};

/// The mutex of that name; an error is noted if there is none, or several.
Mutex find_mutex(Source& source, const std::string& name);
/// One that is declared beside the variable.
Mutex new_mutex(Source& source, const clang::ValueDecl& variable);
/// What it is called at an access of the variable that it protects; "" and an error if that is not clear.
std::string expression_for(Source& source, const Mutex& mutex, const clang::Expr& access,
                           const clang::FunctionDecl& function);

}  // namespace duress::rewrite
