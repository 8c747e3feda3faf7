// SPDX-License-Identifier: Apache-2.0
//
// Makes records of collisions: instructions, stacks and values, in the form in which every detector's
// findings are kept. Says nothing about whether they are races; that takes debug information.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "collide/space.h"
#include "collide/unwinder.h"
#include "collide/watch.h"
#include "finding/log_record.h"

namespace duress::collide {

/// A held thread, and whom it met.
struct Collision {
  pid_t tid = 0;
  int thread = 0;
  Address code = 0;  // of the instruction that it was about to run
  Instruction instruction;
  Operand operand;
  Address data = 0;
  Registers registers;
  std::string before, after;  // the operand's bytes
  std::uint64_t held_microseconds = 0;

  int other_thread = -1;  // -1: only the value changed
  pid_t other_tid = 0;
  Hit hit;
};

class Recorder {
 public:
  Recorder(pid_t pid, Space& space) : pid_(pid), space_(space) {}

  void thread(int number, int parent, pid_t tid);
  /// False if the access that was met cannot be part of a race, whatever the program's text says.
  bool add(const Collision& collision);

  /// How often an instruction met another thread.
  std::uint64_t seen(Address code) const;
  std::size_t races() const { return races_.size(); }
  /// Everything so far.
  finding::ProcessLog log() const;

 private:
  finding::InstructionRecord describe(Module& module, const Function& function, std::size_t index,
                                      const Operand& operand, Address data) const;
  bool shared_outside(Address data) const;
  bool other_side(const Collision& collision, finding::AccessRecord& record);
  std::vector<Address> stack(Address innermost, const Registers& registers, const std::string& bytes);

  pid_t pid_;
  Space& space_;
  std::unique_ptr<Unwinder> unwinder_;
  std::size_t unwinder_modules_ = 0;
  std::map<int, finding::ThreadRecord> threads_;
  std::vector<finding::RaceRecord> races_;
  std::map<std::pair<Address, Address>, std::uint64_t> pairs_;  // instructions that met, and how often
  std::map<Address, std::uint64_t> seen_;
};

}  // namespace duress::collide
