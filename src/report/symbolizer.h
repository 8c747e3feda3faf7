// SPDX-License-Identifier: Apache-2.0
//
// Addresses in a binary's file → functions, lines and data, with LLVM's symboliser library.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "finding/finding.h"

namespace duress::report {

/// LLVM calls abort() if it gets no memory: calls `end` instead, which must not return.
void when_out_of_memory(void (*end)());

struct DataSymbol {
  std::string name;
  std::uint64_t start = 0;
  std::uint64_t size = 0;
};

/// The only user of LLVM in this folder; nothing of LLVM shows in this header. Never looks anything up on
/// the network. A binary that is missing, stripped or damaged gives frames with only module and address.
class Symbolizer {
 public:
  Symbolizer();
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  /// The frames at `address` (an address in the file, not at run time): more than one where calls were
  /// inlined, innermost first; never empty.
  std::vector<finding::Frame> code(const std::string& module, std::uint64_t address);

  /// The global that holds `address`.
  std::optional<DataSymbol> data(const std::string& module, std::uint64_t address);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace duress::report
