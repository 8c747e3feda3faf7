// SPDX-License-Identifier: Apache-2.0
//
// One address space of the target: its memory, what is loaded into it, and the breakpoints in it. Processes
// share one between vfork and exec.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/prng.h"
#include "collide/breakpoints.h"
#include "collide/module.h"
#include "collide/target_memory.h"
#include "finding/log_record.h"

namespace duress::collide {

class Space {
 public:
  /// `guard`, if there is one, must live longer.
  explicit Space(pid_t pid, Guard* guard = nullptr);

  const TargetMemory& memory() const { return memory_; }
  Breakpoints& breakpoints() { return breakpoints_; }

  /// Reads again what is mapped: libraries come and go.
  void refresh();
  Module* module_at(Address address);
  /// All that were ever loaded, in order.
  const std::vector<finding::ModuleRecord>& records() const { return records_; }

  /// Sets up to `wanted` breakpoints on random instructions; returns how many were set.
  std::size_t arm(std::size_t wanted, Prng& prng);
  /// From now on few breakpoints on this instruction.
  void retire(Address address) { retired_.insert(address); }

 private:
  pid_t pid_;
  std::string root_;  // in front of the paths of a process in another root, else ""
  TargetMemory memory_;
  Breakpoints breakpoints_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::vector<finding::ModuleRecord> records_;
  std::unordered_set<std::string> unusable_;  // files that are not binaries, or not readable
  std::unordered_set<Address> retired_;
};

}  // namespace duress::collide
