// SPDX-License-Identifier: Apache-2.0
//
// Random programs as numbers: what the judge (random_programs_test.cc) writes and the machine (machine.cc), which
// is instrumented and explored, reads. One program a line: its kind, how many threads; for each thread how many
// instructions, and for each of these six numbers.
#pragma once

namespace duress::small {

enum What : int {
  kLoad,  // of an atomic; what it returns is the thread's *last* value
  kStore,
  kAdd,
  kExchange,
  kCompare,  // compare and exchange, strong
  kFence,
  kPlainLoad,  // of a plain variable; `last` too
  kPlainStore,
  kLock,
  kUnlock,
  kAssume,  // last == value, else the execution does not count
  kAgain,   // goes back `expected` instructions if last != value, once
  kExit,    // _exit(value) if last == expected: of whole programs only
};

struct Instruction {
  int what, where, order, value, expected, failure;
};

inline constexpr int kMostThreads = 3, kMostInstructions = 12, kVariables = 2;

struct Thread {
  int count;
  Instruction code[kMostInstructions];
};

struct Program {
  int threads;
  Thread thread[kMostThreads];
};

}  // namespace duress::small
