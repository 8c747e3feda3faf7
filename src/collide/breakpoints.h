// SPDX-License-Identifier: Apache-2.0
//
// The breakpoints in one address space.
//
// A breakpoint fires once: the first thread to reach it gets the instruction back and runs it as it was, so
// nothing is ever stepped over or emulated and no other thread has to be stopped. Threads that had already
// fetched the breakpoint come late; they find the address here and go back by one byte.
//
// A byte is only ever written over bytes that are as expected. A library may have been unloaded and another
// mapped in its place since; then the address is forgotten and nothing is written.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "collide/guard.h"
#include "collide/target_memory.h"

namespace duress::collide {

class Breakpoints {
 public:
  /// `guard`, if there is one, must live longer.
  explicit Breakpoints(const TargetMemory& memory, Guard* guard = nullptr) : memory_(memory), guard_(guard) {}

  /// Puts one on `instruction`, the bytes that must lie at `address`. False if they do not, or if it is
  /// there.
  bool arm(Address address, const std::string& instruction);
  /// Puts the instruction back. False if there was none, or other code lies there now.
  bool disarm(Address address);
  void disarm_all();
  /// Forgets those in [begin, end), which is not mapped any more.
  void forget(Address begin, Address end);

  bool armed(Address address) const { return armed_.count(address) != 0; }
  /// Whether a trap at `address` is an old one of ours: armed at some time, and no int3 of the program's own.
  bool late(Address address) const;
  std::size_t count() const { return armed_.size(); }
  /// Any of them that is armed; 0 if there is none.
  Address any() const { return armed_.empty() ? 0 : armed_.begin()->first; }

  /// Puts everything back in a copy of this address space (after fork), armed at this moment or not.
  void clean(const TargetMemory& copy) const;

 private:
  const TargetMemory& memory_;
  std::unordered_map<Address, std::string> instructions_;  // under all that were ever armed
  std::unordered_map<Address, int> armed_;                 // and their places in the guard's list
  Guard* guard_;
  unsigned guarded_ = 0;  // the guard's number of this memory
};

}  // namespace duress::collide
