// SPDX-License-Identifier: Apache-2.0
//
// The instructions of one function, from its first byte to its last.
//
// A breakpoint is a byte written into somebody else's code. Put anywhere but on the first byte of an
// instruction it would change what the program does, so where instructions begin must be certain. Unwind
// tables say where a function begins and ends; compilers put no data between; and what is decoded from
// there must fit together: every byte belongs to an instruction, the last one ends where the function
// ends, and no jump of the function goes into the middle of one. A function that fails this is left alone.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "collide/decoder.h"

namespace duress::collide {

class Function {
 public:
  /// `bytes` lie at `begin`. Nothing if they do not fit together.
  static std::optional<Function> decode(std::string_view bytes, Address begin);

  const std::vector<Instruction>& instructions() const { return instructions_; }

  /// Indexes of the instructions that are worth a breakpoint: plain accesses to memory that is not known to
  /// be the thread's own or constant. `writable` says whether a fixed address can be written at all.
  std::vector<std::size_t> samples(const std::function<bool(Address)>& writable) const;

  /// The instruction at `address`, and the one that ends there.
  std::optional<std::size_t> at(Address address) const;
  std::optional<std::size_t> ending_at(Address address) const;

  /// Whether the instruction takes part in "new value from old value": it reads and writes its operand, or is
  /// the load or the store of such a sequence in straight code.
  bool updates(std::size_t index) const;

  /// Whether the function may not want the value that this load brings: compilers read memory early and
  /// choose afterwards (cmov), so a race with such a load need not be one of the source.
  bool speculative(std::size_t index) const;

 private:
  bool stores_back(std::size_t load, std::size_t store) const;
  bool straight(std::size_t from, std::size_t to) const;

  std::vector<Instruction> instructions_;
  std::set<Address> labels_;  // where jumps of this function go
  bool frame_pointer_ = false;
};

}  // namespace duress::collide
