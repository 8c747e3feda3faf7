// SPDX-License-Identifier: Apache-2.0
//
// Performs random programs (small_program.h) that it reads from standard input. With the argument `check` every
// program is explored by duress::check under sc and under rc11, and what came of it is printed, a line each:
//   MODEL executions passed complete FAILURE;OUTCOME,OUTCOME...
// With `run N` it performs the first program once, with _exit where it says so: for duress verify. Then the
// outcome is its exit code.
#include <duress/annotate.h>
#include <duress/test.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "small_program.h"

using namespace duress::small;

namespace {

/// The orders must be constants, else every operation is seq_cst.
#define WITH_ORDER(order, OPERATION)        \
  switch (order) {                          \
    case 0:                                 \
      OPERATION(std::memory_order_relaxed); \
      break;                                \
    case 2:                                 \
      OPERATION(std::memory_order_acquire); \
      break;                                \
    case 3:                                 \
      OPERATION(std::memory_order_release); \
      break;                                \
    case 4:                                 \
      OPERATION(std::memory_order_acq_rel); \
      break;                                \
    default:                                \
      OPERATION(std::memory_order_seq_cst); \
  }

struct State {
  std::atomic<int> atomics[kVariables] = {};
  int plain[kVariables] = {};
  std::mutex locks[kVariables];
  int reads[kMostThreads][2 * kMostInstructions] = {};
  int count[kMostThreads] = {};
};

template <int kFailure>
bool compare(std::atomic<int>& object, int& expected, int value, int order) {
  constexpr auto failure = static_cast<std::memory_order>(kFailure);
  bool done = false;
#define COMPARE(success) done = object.compare_exchange_strong(expected, value, success, failure)
  WITH_ORDER(order, COMPARE)
#undef COMPARE
  return done;
}

void perform(State& state, const Program& program, int self) {
  const Thread& thread = program.thread[self];
  int last = 0;
  bool again[kMostInstructions] = {};
  for (int at = 0; at < thread.count; ++at) {
    const Instruction& i = thread.code[at];
    std::atomic<int>& object = state.atomics[i.where];
    bool read = true;
    switch (i.what) {
      case kLoad:
        switch (i.order) {
          case 0:
            last = object.load(std::memory_order_relaxed);
            break;
          case 2:
            last = object.load(std::memory_order_acquire);
            break;
          default:
            last = object.load(std::memory_order_seq_cst);
        }
        break;
      case kStore:
        read = false;
        switch (i.order) {
          case 0:
            object.store(i.value, std::memory_order_relaxed);
            break;
          case 3:
            object.store(i.value, std::memory_order_release);
            break;
          default:
            object.store(i.value, std::memory_order_seq_cst);
        }
        break;
#define ADD(order) last = object.fetch_add(i.value, order)
#define EXCHANGE(order) last = object.exchange(i.value, order)
#define FENCE(order) std::atomic_thread_fence(order)
      case kAdd:
        WITH_ORDER(i.order, ADD)
        break;
      case kExchange:
        WITH_ORDER(i.order, EXCHANGE)
        break;
      case kFence:
        read = false;
        WITH_ORDER(i.order, FENCE)
        break;
      case kCompare:
        last = i.expected;
        if (i.failure == 0)
          compare<__ATOMIC_RELAXED>(object, last, i.value, i.order);
        else if (i.failure == 2)
          compare<__ATOMIC_ACQUIRE>(object, last, i.value, i.order);
        else
          compare<__ATOMIC_SEQ_CST>(object, last, i.value, i.order);
        break;
      case kPlainLoad:
        last = state.plain[i.where];
        break;
      case kPlainStore:
        read = false;
        state.plain[i.where] = i.value;
        break;
      case kLock:
        read = false;
        state.locks[i.where].lock();
        break;
      case kUnlock:
        read = false;
        state.locks[i.where].unlock();
        break;
      case kAssume:
        read = false;
        duress::assume(last == i.value);
        break;
      case kAgain:
        read = false;
        if (last != i.value && !again[at]) {
          again[at] = true;
          at -= i.expected + 1;
        }
        break;
      case kExit:
        read = false;
        if (last == i.expected) _exit(i.value);
        break;
    }
    if (read) state.reads[self][state.count[self]++] = last;
  }
}

bool read_program(Program& program) {
  if (scanf("%d", &program.threads) != 1) return false;
  for (int t = 0; t < program.threads; ++t) {
    Thread& thread = program.thread[t];
    if (scanf("%d", &thread.count) != 1) return false;
    for (int k = 0; k < thread.count; ++k) {
      Instruction& i = thread.code[k];
      if (scanf("%d %d %d %d %d %d", &i.what, &i.where, &i.order, &i.value, &i.expected, &i.failure) != 6)
        return false;
    }
  }
  return true;
}

void run_threads(State& state, const Program& program) {
  std::thread threads[kMostThreads];
  for (int t = 0; t < program.threads; ++t)
    threads[t] = std::thread([&state, &program, t] { perform(state, program, t); });
  for (int t = 0; t < program.threads; ++t) threads[t].join();
}

std::set<std::string>* outcomes;

void note_outcome(const State& state, const Program& program) {
  char text[400];
  int at = 0;
  for (int t = 0; t < program.threads; ++t) {
    for (int k = 0; k < state.count[t]; ++k) at += sprintf(text + at, "%d ", state.reads[t][k]);
    at += sprintf(text + at, "| ");
  }
  for (const std::atomic<int>& one : state.atomics) at += sprintf(text + at, "%d ", one.load());
  for (int one : state.plain) at += sprintf(text + at, "%d ", one);
  outcomes->insert(text);
}

void check(const Program& program, const char* model) {
  std::set<std::string> found;
  outcomes = &found;
  duress::CheckOptions options;
  options.exhaustive = options.quiet = true;
  options.model = model;
  duress::CheckResult result = duress::check(
      [&program] {
        State state;
        run_threads(state, program);
        note_outcome(state, program);
      },
      options);
  printf("%s %lu %d %d %s;", model, static_cast<unsigned long>(result.executions), result.passed,
         result.complete, result.passed ? "-" : result.failure.c_str());
  for (const std::string& one : found) printf("%s,", one.c_str());
  printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  Program program;
  if (argc > 1 && strcmp(argv[1], "run") == 0) {
    if (!read_program(program)) return 99;
    State state;
    run_threads(state, program);
    return 0;
  }
  while (read_program(program)) {
    check(program, "sc");
    check(program, "rc11");
  }
  fflush(stdout);
}
