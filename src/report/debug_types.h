// SPDX-License-Identifier: Apache-2.0
//
// What a machine instruction's memory is called in the source, and how it is declared.
//
// For accesses that no pass has named: a global is found by its address, anything else through the variable
// that holds the address at that instruction (`this` in rdi, and 8 beyond it Cache::size_).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "finding/log_record.h"

namespace duress::report {

enum class Declared { kPlain, kVolatile, kAtomic };

struct DeclaredVariable {
  std::string name;  // as the pass would call it: "counter", "Cache::size_", "table[]", "*p"
  Declared declared = Declared::kPlain;
};

class DebugTypes {
 public:
  explicit DebugTypes(const std::string& path);
  ~DebugTypes();
  DebugTypes(const DebugTypes&) = delete;
  DebugTypes& operator=(const DebugTypes&) = delete;

  /// The global that holds [address, address + size). All addresses are the file's.
  std::optional<DeclaredVariable> global(std::uint64_t address, std::uint64_t size);
  /// The way from the global that holds this byte to the object that begins there: "[2].mutex"; "" if it is
  /// the global itself, or not known. Does not look into types of the C and C++ libraries.
  std::string path_in_global(std::uint64_t address);
  /// What `operand` of the instruction at `pc` is.
  std::optional<DeclaredVariable> behind(std::uint64_t pc, const finding::OperandRecord& operand,
                                         std::uint64_t size);
  /// Whether an atomic access at `pc` would show as one: in C++ it comes from a function of the library, in C
  /// from a declaration, and this binary has none.
  bool atomics_would_show(std::uint64_t pc);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace duress::report
