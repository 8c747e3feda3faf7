// SPDX-License-Identifier: Apache-2.0
//
// Names as a person writes them, from debug info: "ns::Type", "Cache::get", "src/a.cc". Kept apart from
// the naming of variables because sites, fields and locals all need them.
#pragma once

#include <string>

#include "llvm/IR/DebugInfoMetadata.h"

namespace duress::pass {

/// "ns::Outer::name" for something called `name` in `scope`.
std::string qualify(const llvm::DIScope* scope, llvm::StringRef name);

std::string type_name(const llvm::DIType* type);
std::string function_name(const llvm::DISubprogram* function);

/// From a symbol when there is no debug info: demangled, without parameters.
std::string function_name_of_symbol(llvm::StringRef symbol);

/// The file's path, made absolute with its compilation directory.
std::string file_path(const llvm::DIFile* file);

/// The type without typedefs, const, volatile and the like.
const llvm::DIType* strip_qualifiers(const llvm::DIType* type);

}  // namespace duress::pass
