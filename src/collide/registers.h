// SPDX-License-Identifier: Apache-2.0
//
// The general registers of a stopped thread, numbered as DWARF numbers them: the decoder, the unwinder and
// the debug information then speak of the same things.
#pragma once

#include <array>
#include <cstdint>

namespace duress::collide {

using Address = std::uint64_t;

enum : int { kRbp = 6, kRsp = 7, kRip = 16, kRegisters = 17, kNoRegister = -1 };

struct Registers {
  std::array<std::uint64_t, kRegisters> value{};
  std::uint64_t& operator[](int number) { return value[static_cast<std::size_t>(number)]; }
  std::uint64_t operator[](int number) const { return value[static_cast<std::size_t>(number)]; }
};

}  // namespace duress::collide
