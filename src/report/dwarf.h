// SPDX-License-Identifier: Apache-2.0
//
// Debug information of a binary: names and types as their declarations have them. Only for files that include
// LLVM's headers.
#pragma once

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDie.h>
#include <llvm/DebugInfo/DWARF/DWARFUnit.h>
#include <llvm/Object/ObjectFile.h>

#include <cstdint>
#include <memory>
#include <string>

#include "report/debug_types.h"

namespace duress::report {

namespace dwarf = llvm::dwarf;
using llvm::DWARFDie;

inline constexpr int kMaxDepth = 32;  // of types within types; a damaged file may hold a cycle

/// The file at `path`. `context` is null if it cannot be read; what is damaged in it is passed over in
/// silence.
struct DwarfFile {
  explicit DwarfFile(const std::string& path);

  llvm::object::OwningBinary<llvm::object::ObjectFile> file;
  std::unique_ptr<llvm::DWARFContext> context;
};

/// "" if it has none.
std::string short_name(const DWARFDie& die);
/// "ns::Class::name", "function()::name".
std::string qualified_name(const DWARFDie& die);
/// 0 if it is not there.
std::uint64_t number(const DWARFDie& die, dwarf::Attribute attribute);
/// The type of a variable or member, as it is written.
DWARFDie type_of(const DWARFDie& die);
/// Without typedefs and qualifiers; `declared` notes what they say.
DWARFDie bare(DWARFDie type, Declared* declared = nullptr);
/// Of a type as it is written; 0: not known.
std::uint64_t bytes_of(const DWARFDie& written);
bool is_record(const DWARFDie& die);
bool is_member(const DWARFDie& die);

}  // namespace duress::report
