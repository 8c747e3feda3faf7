// SPDX-License-Identifier: Apache-2.0
//
// Tiny programs as lists of operations, for tests of the explorer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/types.h"

namespace duress::exhaustive::testing {

enum class Op {
  kLoad,         // a: variable
  kStore,        // a: variable, b: value
  kAdd,          // a: variable, b: value
  kCas,          // a: variable, b: expected, c: desired
  kLock,         // a: mutex
  kUnlock,       // a: mutex
  kTry,          // a: mutex; if it is held, skips b instructions
  kAcquire,      // a: semaphore
  kTryAcquire,   // a: semaphore; if it is 0, skips b instructions
  kPost,         // a: semaphore
  kWait,         // a: condition, b: mutex, which is held
  kSignal,       // a: condition
  kBroadcast,    // a: condition
  kSkipIf,       // if what was read last is a, skips b instructions; no step
  kAwait,        // a: variable, b: value: reads until it is that
  kAwaitEither,  // a: variable, b: value; or variable c is not 0: reads both in turn
  kCreate,       // a: thread; no step
  kJoin,         // a: thread; no step
  kArrive,       // a: barrier of b
  kTimedWait,    // as kWait, but may end by itself. What was read last is then 2, else 0; 1: it was spurious
};

struct Instruction {
  Op op;
  int a = 0, b = 0, c = 0;
};

struct Program {
  std::vector<std::vector<Instruction>> threads;
  std::vector<bool> started;  // those that run from the beginning
  std::vector<u64> semaphores;
  int spurious = 0, timeouts = 0;  // how many times in a row a wait may end so
};

inline u64 variable(int i) {
  return 0x1000 + u64(i) * 8;
}
inline u64 mutex(int i) {
  return 0x2000 + u64(i) * 64;
}
inline u64 semaphore(int i) {
  return 0x3000 + u64(i) * 64;
}
inline u64 condition(int i) {
  return 0x4000 + u64(i) * 64;
}
inline u64 barrier(int i) {
  return 0x5000 + u64(i) * 64;
}

inline Program flat(std::vector<std::vector<Instruction>> threads, std::vector<u64> semaphores = {}) {
  Program program;
  program.started.assign(threads.size(), true);
  program.threads = std::move(threads);
  program.semaphores = std::move(semaphores);
  return program;
}

inline std::string text_of(const Program& program) {
  static const char* const kNames[] = {"load",         "store",  "add",       "cas",         "lock",
                                       "unlock",       "try",    "acquire",   "try-acquire", "post",
                                       "wait",         "signal", "broadcast", "skip-if",     "await",
                                       "await-either", "create", "join",      "arrive",      "timed-wait"};
  std::string text;
  for (size_t t = 0; t < program.threads.size(); ++t) {
    text += "T" + std::to_string(t) + ":";
    for (const Instruction& i : program.threads[t]) {
      text += std::string("  ") + kNames[int(i.op)] + " " + std::to_string(i.a) + "," + std::to_string(i.b) +
              "," + std::to_string(i.c);
    }
    text += "\n";
  }
  for (u64 s : program.semaphores) text += "semaphore " + std::to_string(s) + "\n";
  return text;
}

}  // namespace duress::exhaustive::testing
