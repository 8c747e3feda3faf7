// SPDX-License-Identifier: Apache-2.0
//
// The memory of a tiny program under rc11, for tests of the explorers: its atomics as the model has them, and the
// clocks of its locks.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/scoped_arena.h"
#include "exhaustive/step.h"
#include "memory/testing/rc11_machine.h"

namespace duress::exhaustive::testing {

using memory::testing::Instruction;

class Rc11Memory {
 public:
  Rc11Memory(std::size_t threads, u32 locations);
  ~Rc11Memory();

  /// The address of a location, and of a lock or another primitive.
  static u64 location(u32 i) { return 0x1000 + 16 * i; }
  static u64 primitive(u32 i) { return 0x9000 + 16 * i; }

  /// Runs a load, store or update. Whether it wrote.
  bool access(u32 thread, const Instruction& instruction, memory::Rc11Picker& picker);
  void fence(u32 thread, MemoryOrder order) { model_.fence(threads_[thread], order); }
  /// What the last access could have done.
  const memory::Rc11Model::Open& open() const { return model_.open(); }

  void acquire(u32 thread, u32 primitive) { threads_[thread].acquire(clocks_[primitive]); }
  void release(u32 thread, u32 primitive) { threads_[thread].release_to(clocks_[primitive]); }

 private:
  ScopedArena arena_;
  memory::testing::Threads threads_;
  memory::Rc11Model model_;
  std::vector<u64> memory_;
  std::vector<ReleaseClock> released_;
  std::map<u32, ReleaseClock> clocks_;
};

/// The step that an atomic instruction is.
OpKind kind_of(const Instruction& instruction);

/// Which of the legal answers has that age; nothing: it is not legal.
std::optional<u32> index_of_age(const memory::Legal& legal, u32 age);
std::optional<u32> index_of_age(u64 legal, u32 age);

}  // namespace duress::exhaustive::testing
