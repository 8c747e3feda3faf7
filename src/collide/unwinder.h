// SPDX-License-Identifier: Apache-2.0
//
// Stacks from registers and a copy of the stack's top, with elfutils. Working on copies keeps the threads
// stopped for microseconds only, and what is unwound is the moment of the access and not a later one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collide/registers.h"
#include "finding/log_record.h"

namespace duress::collide {

class Unwinder {
 public:
  /// For code at the addresses that `modules` say.
  explicit Unwinder(const std::vector<finding::ModuleRecord>& modules);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  /// The callers of the code at the instruction pointer, innermost first, as return addresses; the code
  /// itself is not among them. `stack` starts at the stack pointer.
  std::vector<Address> callers(const Registers& registers, const std::string& stack);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace duress::collide
