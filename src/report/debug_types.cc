// SPDX-License-Identifier: Apache-2.0
#include "report/debug_types.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/DebugInfo/DWARF/DWARFAbbreviationDeclaration.h>
#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugAbbrev.h>
#include <llvm/DebugInfo/DWARF/DWARFDie.h>
#include <llvm/DebugInfo/DWARF/DWARFExpression.h>
#include <llvm/DebugInfo/DWARF/DWARFUnit.h>
#include <llvm/Object/ObjectFile.h>

#include <functional>

namespace duress::report {
namespace {

using llvm::DWARFDie;
namespace dwarf = llvm::dwarf;

constexpr int kMaxDepth = 32;  // a damaged file may hold a cycle

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

/// Strips typedefs and qualifiers, and notes what they say.
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

bool is_pointer(const DWARFDie& die) {
  return die.getTag() == dwarf::DW_TAG_pointer_type || die.getTag() == dwarf::DW_TAG_reference_type ||
         die.getTag() == dwarf::DW_TAG_rvalue_reference_type;
}

/// std::atomic, std::atomic_flag, the bases of both, and what other libraries call theirs.
bool is_atomic_class(const DWARFDie& die) {
  std::string name = short_name(die);
  return is_record(die) &&
         (name.find("atomic") != std::string::npos || name.find("Atomic") != std::string::npos);
}

std::uint64_t bytes_of(const DWARFDie& written) {
  DWARFDie type = bare(written, nullptr);
  if (!type) return 0;
  if (auto size = type.getTypeSize(8)) return *size;
  return 0;
}

/// The name of a record; `typedef struct {...} Point;` has no name but its typedef's.
std::string record_name(DWARFDie written, const DWARFDie& type) {
  if (!short_name(type).empty()) return qualified_name(type);
  for (int i = 0; written && i < kMaxDepth; ++i, written = type_of(written)) {
    if (written.getTag() == dwarf::DW_TAG_typedef) return qualified_name(written);
  }
  return "(unnamed)";
}

struct Member {
  DWARFDie die;
  std::uint64_t begin = 0;
  bool bits = false;
};

/// The member or base class that holds [offset, offset + size); the smallest, if several do.
std::optional<Member> member_at(const DWARFDie& record, std::uint64_t offset, std::uint64_t size) {
  std::optional<Member> best;
  std::uint64_t best_size = 0;
  for (const DWARFDie& child : record.children()) {
    bool base = child.getTag() == dwarf::DW_TAG_inheritance;
    if ((!base && child.getTag() != dwarf::DW_TAG_member) || child.find(dwarf::DW_AT_external)) continue;
    Member member{child, number(child, dwarf::DW_AT_data_member_location), false};
    std::uint64_t end = member.begin + bytes_of(type_of(child));
    bool fits = member.begin <= offset && offset + size <= end;
    if (child.find(dwarf::DW_AT_bit_size)) {
      // Reached through a storage unit that may hold its neighbours.
      std::uint64_t bit = number(child, dwarf::DW_AT_data_bit_offset);
      member.bits = true;
      member.begin = bit / 8;
      end = (bit + number(child, dwarf::DW_AT_bit_size) + 7) / 8;
      fits = member.begin < offset + size && offset < end;
    }
    if (!fits || (best && best_size <= end - member.begin)) continue;
    best = member;
    best_size = end - member.begin;
  }
  return best;
}

/// What lies `offset` bytes into an object of type `written` that is called `name`; `element`: the object may
/// be one of an array of them.
DeclaredVariable inside(DWARFDie written, std::string name, std::uint64_t offset, std::uint64_t size,
                        bool element) {
  DeclaredVariable result{std::move(name), Declared::kPlain};
  std::string path;  // empty until a member has been entered
  if (std::uint64_t bytes = bytes_of(written); element && bytes != 0) offset %= bytes;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    DWARFDie type = bare(written, &result.declared);
    if (!type) break;
    if (is_atomic_class(type)) result.declared = Declared::kAtomic;
    if (result.declared == Declared::kAtomic) break;  // its insides are nobody's variables
    if (type.getTag() == dwarf::DW_TAG_array_type) {
      std::uint64_t bytes = bytes_of(type_of(type));
      if (bytes == 0) break;
      (path.empty() ? result.name : path) += "[]";
      if (size > bytes) break;
      offset %= bytes;
      written = type_of(type);
      continue;
    }
    if (!is_record(type)) break;
    auto member = member_at(type, offset, size);
    if (!member) break;
    std::string field = short_name(member->die);
    if (member->die.getTag() == dwarf::DW_TAG_inheritance) {
      path.clear();  // the field belongs to the base class
    } else if (field.empty()) {
      if (path.empty()) path = record_name(written, type) + "::";
    } else if (path.empty()) {
      path = record_name(written, type) + "::" + field;
    } else {
      path += (path.back() == ':' ? "" : ".") + field;
    }
    written = type_of(member->die);
    if (member->bits) {
      bare(written, &result.declared);
      break;
    }
    offset -= member->begin;
  }
  if (!path.empty()) result.name = path;
  return result;
}

}  // namespace

struct DebugTypes::Impl {
  llvm::object::OwningBinary<llvm::object::ObjectFile> file;
  std::unique_ptr<llvm::DWARFContext> context;
  std::optional<bool> declares_atomics;

  /// Whether a variable of the type _Atomic may be anywhere in the binary.
  bool has_atomic_types() {
    if (declares_atomics) return *declares_atomics;
    declares_atomics = false;
    for (const auto& unit : context->compile_units()) {
      const llvm::DWARFAbbreviationDeclarationSet* set = unit->getAbbreviations();
      if (set == nullptr) continue;
      for (const auto& declaration : *set) {
        if (declaration.getTag() == dwarf::DW_TAG_atomic_type) declares_atomics = true;
      }
    }
    return *declares_atomics;
  }

  /// Calls `found(variable, offset)` for each variable whose value plus `offset` is in `reg` at `pc`.
  void variables_in(std::uint64_t pc, int reg, const std::function<bool(DWARFDie, std::int64_t)>& found) {
    llvm::DWARFCompileUnit* unit = context->getCompileUnitForCodeAddress(pc);
    if (unit == nullptr) return;
    llvm::SmallVector<DWARFDie, 8> chain;
    unit->getInlinedChainForAddress(pc, chain);
    bool done = false;
    std::function<void(DWARFDie, int)> walk = [&](DWARFDie scope, int depth) {
      for (const DWARFDie& child : scope.children()) {
        if (done || depth > kMaxDepth) return;
        if (child.getTag() == dwarf::DW_TAG_lexical_block) walk(child, depth + 1);
        if (child.getTag() != dwarf::DW_TAG_formal_parameter && child.getTag() != dwarf::DW_TAG_variable)
          continue;
        auto locations = child.getLocations(dwarf::DW_AT_location);
        if (!locations) {
          llvm::consumeError(locations.takeError());
          continue;
        }
        for (const llvm::DWARFLocationExpression& location : *locations) {
          if (location.Range && (pc < location.Range->LowPC || pc >= location.Range->HighPC)) continue;
          std::int64_t offset = 0;
          if (holds(location.Expr, *unit, reg, offset) && found(child, offset)) done = true;
        }
      }
    };
    for (const DWARFDie& scope : chain) {
      if (!done) walk(scope, 0);
    }
  }

  /// Whether the expression says: the value is in `reg`, less `offset`.
  bool holds(llvm::ArrayRef<std::uint8_t> bytes, llvm::DWARFUnit& unit, int reg, std::int64_t& offset) {
    llvm::DataExtractor data(llvm::toStringRef(bytes), context->isLittleEndian(), unit.getAddressByteSize());
    llvm::DWARFExpression expression(data, unit.getAddressByteSize(), unit.getFormat());
    std::vector<std::pair<int, std::int64_t>> operations;
    for (const auto& operation : expression) {
      if (operation.isError() || operations.size() > 2) return false;
      auto value = operation.getNumOperands() > 0 ? static_cast<std::int64_t>(operation.getRawOperand(0)) : 0;
      operations.emplace_back(operation.getCode(), value);
    }
    if (operations.size() == 1) return operations[0].first == dwarf::DW_OP_reg0 + reg;
    if (operations.size() != 2 || operations[0].first != dwarf::DW_OP_breg0 + reg ||
        operations[1].first != dwarf::DW_OP_stack_value)
      return false;
    offset = -operations[0].second;
    return true;
  }
};

DebugTypes::DebugTypes(const std::string& path) : impl_(std::make_unique<Impl>()) {
  auto file = llvm::object::ObjectFile::createObjectFile(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return;
  }
  impl_->file = std::move(*file);
  auto quiet = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  impl_->context = llvm::DWARFContext::create(*impl_->file.getBinary(),
                                              llvm::DWARFContext::ProcessDebugRelocations::Ignore, nullptr,
                                              "", quiet, quiet);
}

DebugTypes::~DebugTypes() = default;

std::optional<DeclaredVariable> DebugTypes::global(std::uint64_t address, std::uint64_t size) {
  if (!impl_->context) return std::nullopt;
  llvm::DWARFCompileUnit* unit = impl_->context->getCompileUnitForDataAddress(address);
  DWARFDie variable = unit != nullptr ? unit->getVariableForAddress(address) : DWARFDie();
  if (!variable) return std::nullopt;
  auto locations = variable.getLocations(dwarf::DW_AT_location);
  if (!locations) {
    llvm::consumeError(locations.takeError());
    return std::nullopt;
  }
  for (const llvm::DWARFLocationExpression& location : *locations) {
    llvm::DataExtractor data(llvm::toStringRef(location.Expr), true, 8);
    llvm::DWARFExpression expression(data, 8, unit->getFormat());
    auto first = expression.begin();
    if (first == expression.end() || first->isError()) continue;
    std::uint64_t start = 0;
    if (first->getCode() == dwarf::DW_OP_addr) {
      start = first->getRawOperand(0);
    } else if (first->getCode() == dwarf::DW_OP_addrx) {
      auto found = unit->getAddrOffsetSectionItem(first->getRawOperand(0));
      if (!found) continue;
      start = found->Address;
    }
    if (start == 0 || start > address) continue;
    return inside(type_of(variable), qualified_name(variable), address - start, size, false);
  }
  return std::nullopt;
}

std::optional<DeclaredVariable> DebugTypes::behind(std::uint64_t pc, const finding::OperandRecord& operand,
                                                   std::uint64_t size) {
  if (!impl_->context) return std::nullopt;
  constexpr int kRip = 16;
  if (operand.base == kRip) return global(static_cast<std::uint64_t>(operand.displacement), size);
  std::optional<DeclaredVariable> result;
  if (operand.base < 0 || operand.base > 15) return result;
  impl_->variables_in(pc, operand.base, [&](DWARFDie variable, std::int64_t offset) {
    DWARFDie pointer = bare(type_of(variable), nullptr);
    if (!pointer || !is_pointer(pointer)) return false;
    DWARFDie pointee = type_of(pointer);
    if (!pointee || !bare(pointee, nullptr)) return false;
    std::int64_t within = operand.displacement + offset;
    std::uint64_t bytes = bytes_of(pointee);
    if (bytes == 0) return false;
    // In front of the pointer: an element before it.
    while (within < 0)
      within += static_cast<std::int64_t>(bytes) * (-within / static_cast<std::int64_t>(bytes) + 1);
    std::string name = short_name(variable);
    if (name.empty()) {
      if (auto origin = variable.getAttributeValueAsReferencedDie(dwarf::DW_AT_abstract_origin))
        name = short_name(origin);
    }
    result = inside(pointee, "*" + name, static_cast<std::uint64_t>(within), size, true);
    return true;
  });
  return result;
}

bool DebugTypes::atomics_would_show(std::uint64_t pc) {
  if (!impl_->context) return false;
  llvm::DWARFCompileUnit* unit = impl_->context->getCompileUnitForCodeAddress(pc);
  if (unit == nullptr) return false;
  switch (number(unit->getUnitDIE(), dwarf::DW_AT_language)) {
    case dwarf::DW_LANG_C_plus_plus:
    case dwarf::DW_LANG_C_plus_plus_03:
    case dwarf::DW_LANG_C_plus_plus_11:
    case dwarf::DW_LANG_C_plus_plus_14:
    case dwarf::DW_LANG_C_plus_plus_17:
    case dwarf::DW_LANG_C_plus_plus_20:
      return true;
    case dwarf::DW_LANG_C:
    case dwarf::DW_LANG_C89:
    case dwarf::DW_LANG_C99:
    case dwarf::DW_LANG_C11:
    case dwarf::DW_LANG_C17:
      return !impl_->has_atomic_types();
    default:
      return false;
  }
}

}  // namespace duress::report
