// SPDX-License-Identifier: Apache-2.0
//
// A mutex is mostly a field beside the data it protects, and "holds Cache::mu_" says far more than "holds
// M1". The log knows only the mutex's address. But the racy field is known by name, so its type says where
// the object begins, and what else lies in it. Debug information is searched only when a lock has no other
// name, and once per type.
#include "report/type_layout.h"

#include <map>
#include <utility>

#include "report/dwarf.h"

namespace duress::report {
namespace {

/// Where the member `path` ("a" or "a.b") of `record` begins.
std::optional<std::uint64_t> offset_of(const DWARFDie& record, const std::string& path, int depth = 0) {
  if (!record || depth > kMaxDepth) return std::nullopt;
  std::size_t dot = path.find('.');
  std::string first = path.substr(0, dot);
  for (const DWARFDie& child : record.children()) {
    bool base = child.getTag() == dwarf::DW_TAG_inheritance;
    if (!is_member(child)) continue;
    std::uint64_t at = number(child, dwarf::DW_AT_data_member_location);
    std::optional<std::uint64_t> within;
    if (base) {
      within = offset_of(bare(type_of(child)), path, depth + 1);
    } else if (short_name(child) == first) {
      within =
          dot == std::string::npos ? 0 : offset_of(bare(type_of(child)), path.substr(dot + 1), depth + 1);
    }
    if (within) return at + *within;
  }
  return std::nullopt;
}

/// The member of `record` that holds the byte at `offset`. Goes into the user's own types, not into those of
/// the C and C++ libraries: nobody calls a mutex `mu_._M_mutex` or `lock.__data.__lock`.
std::optional<std::string> member_at(const DWARFDie& record, std::uint64_t offset, int depth = 0) {
  if (!record || depth > kMaxDepth) return std::nullopt;
  for (const DWARFDie& child : record.children()) {
    bool base = child.getTag() == dwarf::DW_TAG_inheritance;
    if (!is_member(child)) continue;
    std::uint64_t at = number(child, dwarf::DW_AT_data_member_location);
    DWARFDie type = bare(type_of(child));
    if (!type || offset < at || offset - at >= number(type, dwarf::DW_AT_byte_size)) continue;
    if (base) {
      if (auto inner = member_at(type, offset - at, depth + 1)) return inner;
      continue;
    }
    bool library = qualified_name(type).rfind("std::", 0) == 0;
    if (is_record(type) && !library) {
      // pthread_mutex_t is a name for a union without one; its members are reserved names.
      auto inner = member_at(type, offset - at, depth + 1);
      if (inner && !inner->starts_with("__")) return short_name(child) + "." + *inner;
    }
    return short_name(child);
  }
  return std::nullopt;
}

/// "a::B<c::D>::e" → "a::B<c::D>", "e".
std::pair<std::string, std::string> split_field(const std::string& field) {
  int depth = 0;
  for (std::size_t i = field.size(); i-- > 1;) {
    if (field[i] == '>') ++depth;
    if (field[i] == '<') --depth;
    if (depth == 0 && field[i] == ':' && field[i - 1] == ':')
      return {field.substr(0, i - 1), field.substr(i + 1)};
  }
  return {"", field};
}

}  // namespace

struct TypeLayout::Impl : DwarfFile {
  using DwarfFile::DwarfFile;
  std::map<std::string, DWARFDie> types;

  /// The definition of the type with this qualified name.
  DWARFDie find(const std::string& name) {
    auto [it, fresh] = types.try_emplace(name);
    if (!fresh || !context) return it->second;
    std::string last = split_field(name).second;
    for (const auto& unit : context->compile_units()) {
      for (const llvm::DWARFDebugInfoEntry& entry : unit->dies()) {
        DWARFDie die(unit.get(), &entry);
        if (!is_record(die) || short_name(die) != last || die.find(dwarf::DW_AT_declaration)) continue;
        if (qualified_name(die) == name) return it->second = die;
      }
    }
    return it->second;
  }
};

TypeLayout::TypeLayout(const std::string& path) : impl_(std::make_unique<Impl>(path)) {}

TypeLayout::~TypeLayout() = default;

std::optional<std::string> TypeLayout::neighbour(const std::string& field, std::int64_t distance) {
  auto [type_name, path] = split_field(field);
  if (type_name.empty() || path.find('[') != std::string::npos) return std::nullopt;
  DWARFDie type = impl_->find(type_name);
  auto start = offset_of(type, path);
  if (!start) return std::nullopt;
  std::int64_t offset = static_cast<std::int64_t>(*start) + distance;
  if (offset < 0 || static_cast<std::uint64_t>(offset) >= number(type, dwarf::DW_AT_byte_size))
    return std::nullopt;
  auto member = member_at(type, static_cast<std::uint64_t>(offset));
  // A lock begins where its field begins; anything else is a sign that the two do not belong together.
  if (!member || offset_of(type, *member) != static_cast<std::uint64_t>(offset)) return std::nullopt;
  return type_name + "::" + *member;
}

}  // namespace duress::report
