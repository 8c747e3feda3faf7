// SPDX-License-Identifier: Apache-2.0
//
// What one machine instruction does with memory.
//
// Everything above this file works on this summary, so Zydis stays here. The summary leans to silence: an
// instruction whose effect cannot be told from its registers alone (masked, gathering, conditional) says so,
// and is then neither sampled nor believed as a witness.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "collide/registers.h"
#include "finding/log_record.h"

namespace duress::collide {

/// One memory operand. With the base kRip, `displacement` is the address itself, in the space in which the
/// instruction was decoded.
struct Operand : finding::OperandRecord {
  std::uint32_t size = 0;
  bool reads = false;
  bool writes = false;

  /// Where it points; `bias` is added to addresses relative to the instruction.
  Address address(const Registers& registers, Address bias) const;
  /// Whether both are computed in the same way.
  bool same_place(const Operand& other) const;
};

enum class Update : std::uint8_t {
  kNone,
  kAdds,   // add, sub, inc, dec
  kBits,   // or, and, xor, bts, btr, btc with a constant
  kOther,  // anything else that reads and writes its operand
};

struct Instruction {
  Address address = 0;
  std::uint8_t length = 0;
  std::uint8_t operands = 0;  // in memory, off the stack as far as that shows
  std::array<Operand, 2> operand;
  bool atomic = false;   // by its lock prefix, or xchg
  bool vector = false;   // more than 8 bytes at once
  bool unsure = false;   // may touch other bytes than its operands say, or none
  bool repeats = false;  // rep: the trap may come before it is finished
  bool jumps = false;    // to `target`, if that is known
  bool calls = false;
  bool cmov = false;
  std::optional<Address> target;
  Update update = Update::kNone;
  std::uint64_t bits = 0;             // those that a constant operand picks out; 0: not known
  std::uint32_t reads_registers = 0;  // sets of DWARF numbers; addresses count as read
  std::uint32_t writes_registers = 0;

  Address end() const { return address + length; }
  /// Whether it reads a register's whole value into memory or back: mov and nothing else.
  bool plain_load = false;
  bool plain_store = false;
};

/// Decodes the instruction at the start of `bytes`, which lies at `address`. Nothing if it is none.
std::optional<Instruction> decode(std::string_view bytes, Address address);

/// The same instruction in Intel's syntax.
std::string disassemble(std::string_view bytes, Address address);

}  // namespace duress::collide
