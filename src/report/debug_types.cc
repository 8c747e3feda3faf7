// SPDX-License-Identifier: Apache-2.0
#include "report/debug_types.h"

#include <llvm/DebugInfo/DWARF/DWARFAbbreviationDeclaration.h>
#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugAbbrev.h>
#include <llvm/DebugInfo/DWARF/DWARFExpression.h>

#include <functional>

#include "report/declared_member.h"
#include "report/dwarf.h"

namespace duress::report {
namespace {

bool is_pointer(const DWARFDie& die) {
  return die.getTag() == dwarf::DW_TAG_pointer_type || die.getTag() == dwarf::DW_TAG_reference_type ||
         die.getTag() == dwarf::DW_TAG_rvalue_reference_type;
}

}  // namespace

struct DebugTypes::Impl : DwarfFile {
  using DwarfFile::DwarfFile;
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

  /// The global that holds the byte at `address`, and where it begins.
  DWARFDie variable_at(std::uint64_t address, std::uint64_t& start) {
    if (!context) return {};
    llvm::DWARFCompileUnit* unit = context->getCompileUnitForDataAddress(address);
    DWARFDie variable = unit != nullptr ? unit->getVariableForAddress(address) : DWARFDie();
    if (!variable) return {};
    auto locations = variable.getLocations(dwarf::DW_AT_location);
    if (!locations) {
      llvm::consumeError(locations.takeError());
      return {};
    }
    for (const llvm::DWARFLocationExpression& location : *locations) {
      llvm::DataExtractor data(llvm::toStringRef(location.Expr), true, 8);
      llvm::DWARFExpression expression(data, 8, unit->getFormat());
      auto first = expression.begin();
      if (first == expression.end() || first->isError()) continue;
      start = 0;
      if (first->getCode() == dwarf::DW_OP_addr) {
        start = first->getRawOperand(0);
      } else if (first->getCode() == dwarf::DW_OP_addrx) {
        auto found = unit->getAddrOffsetSectionItem(first->getRawOperand(0));
        if (!found) continue;
        start = found->Address;
      }
      if (start != 0 && start <= address) return variable;
    }
    return {};
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

DebugTypes::DebugTypes(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}

DebugTypes::~DebugTypes() = default;

std::optional<DeclaredVariable> DebugTypes::global(std::uint64_t address, std::uint64_t size) {
  std::uint64_t start = 0;
  DWARFDie variable = impl_->variable_at(address, start);
  if (!variable) return std::nullopt;
  return member_inside(type_of(variable), qualified_name(variable), address - start, size, false);
}

std::string DebugTypes::path_in_global(std::uint64_t address) {
  std::uint64_t start = 0;
  DWARFDie variable = impl_->variable_at(address, start);
  return variable ? path_inside(type_of(variable), address - start) : "";
}

std::optional<DeclaredVariable> DebugTypes::behind(std::uint64_t pc, const finding::OperandRecord& operand,
                                                   std::uint64_t size) {
  if (!impl_->context) return std::nullopt;
  constexpr int kRip = 16;
  if (operand.base == kRip) return global(static_cast<std::uint64_t>(operand.displacement), size);
  std::optional<DeclaredVariable> result;
  if (operand.base < 0 || operand.base > 15) return result;
  impl_->variables_in(pc, operand.base, [&](DWARFDie variable, std::int64_t offset) {
    DWARFDie pointer = bare(type_of(variable));
    if (!pointer || !is_pointer(pointer)) return false;
    DWARFDie pointee = type_of(pointer);
    if (!pointee || !bare(pointee)) return false;
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
    result = member_inside(pointee, "*" + name, static_cast<std::uint64_t>(within), size, true);
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
