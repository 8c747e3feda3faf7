// SPDX-License-Identifier: Apache-2.0
#include "report/dwarf.h"

#include "finding/plain_file.h"

namespace duress::report {

DwarfFile::DwarfFile(const std::string& path) {
  if (!finding::is_plain_file(path)) return;
  // Mapped. ObjectFile::createObjectFile wants a zero byte behind the file and reads it whole into memory if
  // its size is a multiple of a page's.
  auto opened = llvm::object::createBinary(path);
  if (!opened) {
    llvm::consumeError(opened.takeError());
    return;
  }
  auto [binary, buffer] = opened->takeBinary();
  if (!llvm::isa<llvm::object::ObjectFile>(*binary)) return;
  std::unique_ptr<llvm::object::ObjectFile> object(llvm::cast<llvm::object::ObjectFile>(binary.release()));
  file = llvm::object::OwningBinary<llvm::object::ObjectFile>(std::move(object), std::move(buffer));
  auto quiet = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  context = llvm::DWARFContext::create(*file.getBinary(), llvm::DWARFContext::ProcessDebugRelocations::Ignore,
                                       nullptr, "", quiet, quiet);
}

std::string short_name(const DWARFDie& die) {
  const char* name = die.getShortName();
  return name != nullptr ? name : "";
}

DWARFDie type_of(const DWARFDie& die) {
  auto value = die.findRecursively({dwarf::DW_AT_type});
  DWARFDie type = value ? die.getAttributeValueAsReferencedDie(*value) : DWARFDie();
  return type ? type.resolveTypeUnitReference() : type;
}

std::string qualified_name(const DWARFDie& die) {
  std::string name = short_name(die);
  // A definition outside of its class says in its declaration where it belongs.
  DWARFDie home = die;
  if (auto declaration = die.getAttributeValueAsReferencedDie(dwarf::DW_AT_specification)) home = declaration;
  if (name.empty()) name = short_name(home);
  for (DWARFDie at = home.getParent();
       at && at.getTag() != dwarf::DW_TAG_compile_unit && at.getTag() != dwarf::DW_TAG_type_unit;
       at = at.getParent()) {
    if (at.getTag() == dwarf::DW_TAG_lexical_block) continue;
    std::string scope = short_name(at);
    if (at.getTag() == dwarf::DW_TAG_subprogram) {
      // A function's own variable: the function's full name, and no more outer scopes.
      return qualified_name(at) + "()::" + name;
    }
    if (at.getTag() == dwarf::DW_TAG_namespace && scope.empty()) scope = "(anonymous namespace)";
    if (!scope.empty()) name = scope + "::" + name;
  }
  return name;
}

std::uint64_t number(const DWARFDie& die, dwarf::Attribute attribute) {
  return dwarf::toUnsigned(die.find(attribute), 0);
}

DWARFDie bare(DWARFDie type, Declared* declared) {
  for (int i = 0; type && i < kMaxDepth; ++i) {
    switch (type.getTag()) {
      case dwarf::DW_TAG_atomic_type:
        if (declared != nullptr) *declared = Declared::kAtomic;
        break;
      case dwarf::DW_TAG_volatile_type:
        if (declared != nullptr && *declared == Declared::kPlain) *declared = Declared::kVolatile;
        break;
      case dwarf::DW_TAG_typedef:
      case dwarf::DW_TAG_const_type:
      case dwarf::DW_TAG_restrict_type:
        break;
      default:
        return type;
    }
    type = type_of(type);
  }
  return type;
}

bool is_record(const DWARFDie& die) {
  return die.getTag() == dwarf::DW_TAG_structure_type || die.getTag() == dwarf::DW_TAG_class_type ||
         die.getTag() == dwarf::DW_TAG_union_type;
}

bool is_member(const DWARFDie& die) {
  return (die.getTag() == dwarf::DW_TAG_inheritance || die.getTag() == dwarf::DW_TAG_member) &&
         !die.find(dwarf::DW_AT_external);
}

std::uint64_t bytes_of(const DWARFDie& written) {
  DWARFDie type = bare(written);
  if (!type) return 0;
  if (auto size = type.getTypeSize(8)) return *size;
  return 0;
}

}  // namespace duress::report
