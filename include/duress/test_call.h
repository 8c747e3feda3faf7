// SPDX-License-Identifier: Apache-2.0
//
// Between duress/test.h, compiled with the test, and the runtime. Plain C layout: both are built apart.
#ifndef DURESS_TEST_CALL_H_
#define DURESS_TEST_CALL_H_

#include <cstdint>

extern "C" {

/// What the header asks of the runtime; see src/check/check.cc.
struct DuressCheck {
  uint32_t size;  // of this struct
  uint32_t depth;
  uint64_t runs;
  uint64_t seed;
  uint64_t most_steps;
  double seconds;          // 0: no limit
  const char* strategy;    // a name, or "portfolio"
  const char* model;       // of memory: "sc", "rc11"
  const char* token;       // null: search; else replay this execution
  uint32_t all_points;     // 1: every shared access is a schedule point
  uint32_t quiet;          // 1: print nothing
  uint32_t exhaustive;     // 1: every interleaving up to equivalence, each once
  uint32_t ignores_races;  // 1: they are not looked for
  uint32_t ignores_memory_errors;
  uint32_t spurious;  // exhaustive: so many wake-ups with no signal in a row of a wait are explored
  void (*closure)(void*);
  int (*failed)(void*);  // after each execution; null: never
  void* data;
  // What came of it.
  uint64_t executions;
  uint32_t raced;         // 1: the failure is a data race, and nothing else
  uint32_t uncontrolled;  // 1: something ran that could not be controlled
  uint32_t complete;      // exhaustive: every interleaving was seen
  uint32_t redundant;     // exhaustive: executions that were equal to others
  const char* bound;      // exhaustive: what was not explored; null: nothing
  const char* what;       // one line; lives until the next check
  const char* report;     // what was printed
  const char* found;      // token of the failing execution
};

__attribute__((weak)) int __duress_check(struct DuressCheck* check);
/// Called in the closure's strand: an exception left it.
__attribute__((weak)) void __duress_check_failed(const char* what);
}

#endif  // DURESS_TEST_CALL_H_
