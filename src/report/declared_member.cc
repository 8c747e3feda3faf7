// SPDX-License-Identifier: Apache-2.0
#include "report/declared_member.h"

#include <optional>

namespace duress::report {
namespace {

/// std::atomic, std::atomic_flag, the bases of both, and what other libraries call theirs.
bool is_atomic_class(const DWARFDie& die) {
  std::string name = short_name(die);
  return is_record(die) &&
         (name.find("atomic") != std::string::npos || name.find("Atomic") != std::string::npos);
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
    if (!is_member(child)) continue;
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

}  // namespace

std::string path_inside(DWARFDie written, std::uint64_t offset) {
  std::string path;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    DWARFDie type = bare(written);
    if (!type) return {};
    if (type.getTag() == dwarf::DW_TAG_array_type) {
      std::uint64_t bytes = bytes_of(type_of(type));
      if (bytes == 0) return {};
      path += "[" + std::to_string(offset / bytes) + "]";
      offset %= bytes;
      written = type_of(type);
      continue;
    }
    if (!is_record(type) || qualified_name(type).starts_with("std::")) break;
    auto member = member_at(type, offset, 1);
    if (!member || member->bits) return {};
    std::string field = short_name(member->die);
    // pthread_mutex_t is a name for a union without one; its members are reserved names.
    if (field.starts_with("__")) break;
    if (member->die.getTag() != dwarf::DW_TAG_inheritance && !field.empty()) path += "." + field;
    written = type_of(member->die);
    offset -= member->begin;
  }
  return offset == 0 ? path : "";
}

DeclaredVariable member_inside(DWARFDie written, std::string name, std::uint64_t offset, std::uint64_t size,
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

}  // namespace duress::report
