// SPDX-License-Identifier: Apache-2.0
//
// Is it a data race? Two threads were caught at the same memory at the same time, one of them writing; on x86
// that is a race unless the program's text says `atomic`, which in machine code is often a plain move.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "finding/finding.h"
#include "finding/log_record.h"
#include "report/debug_types.h"

namespace duress::report {

/// One of the two accesses; `module` is that of its instruction, null if it is not known.
struct CollisionSide {
  const finding::AccessRecord& record;
  const finding::AccessReport& report;
  const finding::ModuleRecord* module;
};

class CollisionJudge {
 public:
  /// Sets `race.collision`, and the variable's name where debug information knows a better one. `data` is the
  /// module that holds the memory, or null.
  void judge(const finding::RaceRecord& record, const CollisionSide& held, const CollisionSide& met,
             const finding::ModuleRecord* data, finding::Race& race);

 private:
  DebugTypes& types_of(const finding::ModuleRecord& module);
  bool written_as_atomic(const CollisionSide& side);
  std::string source_line(const std::string& file, std::uint32_t line);

  std::map<std::string, DebugTypes> types_;
  std::map<std::string, std::vector<std::string>> sources_;
};

/// What instructions alone prove: whatever the source says, no atomic object is meant, or an update is lost.
bool instructions_prove_race(const finding::AccessRecord& a, const finding::AccessRecord& b);

/// Whether both only look at or change bits that the other leaves alone.
bool different_bits(const finding::AccessRecord& a, const finding::AccessRecord& b);

/// Bytes of memory as a number if there are at most 8, else in hex.
std::string value_text(const std::string& bytes);

}  // namespace duress::report
