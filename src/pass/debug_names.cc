// SPDX-License-Identifier: Apache-2.0
#include "pass/debug_names.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Path.h"

namespace duress::pass {
namespace dwarf = llvm::dwarf;

std::string qualify(const llvm::DIScope* scope, llvm::StringRef name) {
  std::string result = name.str();
  while (scope != nullptr) {
    std::string part;
    if (auto* space = llvm::dyn_cast<llvm::DINamespace>(scope)) {
      // Inline namespaces (std::__1, std::__cxx11) are not written in sources.
      if (!space->getExportSymbols() || space->getName().empty()) {
        part = space->getName().empty() ? "(anonymous)" : space->getName().str();
      }
      scope = space->getScope();
    } else if (auto* type = llvm::dyn_cast<llvm::DICompositeType>(scope)) {
      part = type->getName().empty() ? "(unnamed)" : type->getName().str();
      scope = type->getScope();
    } else if (auto* function = llvm::dyn_cast<llvm::DISubprogram>(scope)) {
      part = function->getName().str() + "()";
      scope = function->getScope();
    } else if (auto* block = llvm::dyn_cast<llvm::DILexicalBlockBase>(scope)) {
      scope = block->getScope();
    } else {
      break;  // a file or a compile unit
    }
    if (!part.empty()) result = part + "::" + result;
  }
  return result;
}

std::string type_name(const llvm::DIType* type) {
  if (type == nullptr) return "void";
  return qualify(type->getScope(), type->getName().empty() ? "(unnamed)" : type->getName());
}

std::string function_name(const llvm::DISubprogram* function) {
  return qualify(function->getScope(), function->getName());
}

std::string function_name_of_symbol(llvm::StringRef symbol) {
  std::string name = llvm::demangle(symbol.str());
  size_t depth = 0;  // of template brackets: their contents may hold parentheses too
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>' && depth > 0) --depth;
    if (name[i] != '(' || depth != 0 || i == 0) continue;
    if (llvm::StringRef(name).substr(i).find("(anonymous namespace)") == 0) {
      i += sizeof("(anonymous namespace)") - 2;
      continue;
    }
    name.resize(i);
    break;
  }
  return name;
}

std::string file_path(const llvm::DIFile* file) {
  if (file == nullptr) return "";
  if (llvm::sys::path::is_absolute(file->getFilename()) || file->getDirectory().empty()) {
    return file->getFilename().str();
  }
  llvm::SmallString<256> path(file->getDirectory());
  llvm::sys::path::append(path, file->getFilename());
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/false);
  return std::string(path);
}

const llvm::DIType* strip_qualifiers(const llvm::DIType* type) {
  while (auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type)) {
    switch (derived->getTag()) {
      case dwarf::DW_TAG_typedef:
      case dwarf::DW_TAG_const_type:
      case dwarf::DW_TAG_volatile_type:
      case dwarf::DW_TAG_restrict_type:
      case dwarf::DW_TAG_atomic_type:
      case dwarf::DW_TAG_template_alias:
        type = derived->getBaseType();
        break;
      default:
        return type;
    }
  }
  return type;
}

}  // namespace duress::pass
