// SPDX-License-Identifier: Apache-2.0
//
// Two questions, in this order. First, can one of the accesses be atomic? The declaration of the memory says
// so, or the function that the instruction was inlined from (std::atomic<int>::load), or the line of source.
// Where there is no debug information a plain move of up to 8 aligned bytes may be either, and silence is the
// answer, except where instructions prove more. Second, is it one of the kinds that experience
// (DataCollider's table) calls harmless? That is a label and hides nothing by itself.
#include "report/collision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>

#include "finding/plain_file.h"
#include "finding/text.h"

namespace duress::report {
namespace {

using finding::AccessRecord;
using finding::Category;
using finding::is_write;

bool mentions(const std::string& text, const char* word) {
  std::size_t length = std::strlen(word);
  auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::search(text.begin(), text.end(), word, word + length, same) != text.end();
}

/// A read of more bytes than any variable has may be a string function's that looks beyond the end.
bool may_overread(const CollisionSide& side) {
  return !is_write(side.record.access) && side.record.size > 8 &&
         (side.report.stack.empty() || side.report.stack[0].line == 0);
}

bool counts(const AccessRecord& access) {
  return access.instruction && access.instruction->adds;
}

Category kind_of_race(const finding::RaceRecord& record, const finding::Race& race) {
  if (mentions(race.variable, "debug") || mentions(race.variable, "stats")) return Category::kSpecialName;
  const AccessRecord &met = record.prev, &held = record.cur;
  bool met_counts = counts(met) || !is_write(met.access),
       held_counts = counts(held) || !is_write(held.access);
  if (met_counts && held_counts) return Category::kCounter;
  if (different_bits(met, held)) return Category::kFlag;
  bool wrote = met.instruction && is_write(met.access);
  if (wrote && record.collision->before == record.collision->after) return Category::kSameValue;
  return Category::kOther;
}

}  // namespace

bool different_bits(const AccessRecord& a, const AccessRecord& b) {
  if (!a.instruction || !b.instruction || a.instruction->bits == 0 || b.instruction->bits == 0) return false;
  finding::Address base = std::min(a.address, b.address);
  if (a.address - base >= 8 || b.address - base >= 8) return false;
  std::uint64_t a_bits = a.instruction->bits << (8 * (a.address - base));
  std::uint64_t b_bits = b.instruction->bits << (8 * (b.address - base));
  return (a_bits & b_bits) == 0;
}

bool instructions_prove_race(const AccessRecord& a, const AccessRecord& b) {
  for (auto [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (!one->instruction) continue;
    const finding::InstructionRecord& instruction = *one->instruction;
    // More bytes than an atomic object has, written.
    if (instruction.wide && is_write(one->access)) return true;
    // One instruction without a lock prefix that updates. Clang makes those of a relaxed load and store.
    if (instruction.direct && instruction.only_gcc) return true;
    // A new value is made from the old one while somebody else writes: one of the two is lost.
    if (instruction.updates && is_write(other->access)) return true;
    if (instruction.updates && other->instruction && other->instruction->updates) return true;
  }
  return false;
}

std::string value_text(const std::string& bytes) {
  if (bytes.empty() || bytes.size() > 8) {
    std::string text = "0x";
    for (std::size_t i = bytes.size(); i-- > 0;)
      text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
    return text;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  return value < 1000000000 ? fmt::format("{}", value) : fmt::format("{:#x}", value);
}

DebugTypes& CollisionJudge::types_of(const finding::ModuleRecord& module) {
  return types_.try_emplace(module.path, module.path).first->second;
}

std::string CollisionJudge::source_line(const std::string& file, std::uint32_t line) {
  auto [it, fresh] = sources_.try_emplace(file);
  if (fresh) {
    std::ifstream stream(finding::is_plain_file(file) ? file : "");
    for (std::string text; std::getline(stream, text);) it->second.push_back(text);
  }
  return line >= 1 && line <= it->second.size() ? it->second[line - 1] : "";
}

bool CollisionJudge::written_as_atomic(const CollisionSide& side) {
  const std::vector<finding::Frame>& stack = side.report.stack;
  for (const finding::Frame& frame : stack) {
    if (frame.module_offset != stack[0].module_offset) break;  // no longer inlined at this instruction
    // The count of a shared_ptr is the C++ library's own atomic.
    if (mentions(frame.function, "atomic") || frame.function.rfind("std::_Sp_", 0) == 0 ||
        frame.function.rfind("std::__shared_count", 0) == 0 ||
        mentions(finding::base_name(frame.file), "atomic"))
      return true;
    if (frame.line != 0 && mentions(source_line(frame.file, frame.line), "atomic")) return true;
  }
  return false;
}

void CollisionJudge::judge(const finding::RaceRecord& record, const CollisionSide& held,
                           const CollisionSide& met, const finding::ModuleRecord* data, finding::Race& race) {
  race.collision.emplace();
  finding::Collision& collision = *race.collision;
  collision.before = value_text(record.collision->before);
  collision.after = value_text(record.collision->after);
  collision.held_microseconds = record.collision->held_microseconds;

  std::optional<DeclaredVariable> declared;
  std::optional<Declared> strictest;
  bool plain_code = false;
  auto add = [&](std::optional<DeclaredVariable> found) {
    if (!found) return;
    strictest = std::max(strictest.value_or(found->declared), found->declared);
    // A field's name says more than the pointer it was reached through.
    if (!declared || (declared->name[0] == '*' && found->name[0] != '*')) declared = std::move(found);
  };
  if (data != nullptr) add(types_of(*data).global(record.address - data->base, record.size));
  const bool global = declared.has_value();
  for (const CollisionSide* side : {&held, &met}) {
    if (side->module == nullptr || !side->record.instruction) continue;
    DebugTypes& types = types_of(*side->module);
    std::uint64_t pc = side->record.instruction->address - side->module->base;
    if (!global) add(types.behind(pc, side->record.instruction->operand, side->record.size));
    bool has_line = !side->report.stack.empty() && side->report.stack[0].line != 0;
    if (has_line && types.atomics_would_show(pc)) plain_code = true;
  }
  bool nameless = race.variable_key.empty();
  if (declared && (declared->name[0] != '*' || nameless)) race.variable = race.variable_key = declared->name;

  // The compiler's own flag of a function's static variable; the library sets it with care.
  bool guard = race.block.name.rfind("guard variable for", 0) == 0;
  auto atomic = [](const CollisionSide& side) {
    return side.record.instruction && side.record.instruction->atomic;
  };
  if (guard || atomic(held) || atomic(met) || strictest == Declared::kAtomic || written_as_atomic(held) ||
      written_as_atomic(met)) {
    collision.category = Category::kAtomic;
  } else if (strictest == Declared::kVolatile) {
    collision.category = Category::kVolatile;
  } else if (may_overread(held) || may_overread(met)) {
    collision.category = Category::kUntyped;
  } else if (strictest || plain_code || instructions_prove_race(record.prev, record.cur)) {
    collision.category = kind_of_race(record, race);
  } else {
    collision.category = Category::kUntyped;
  }
}

}  // namespace duress::report
