// SPDX-License-Identifier: Apache-2.0
//
// duress::check: a test runs a closure thousands of times, each time under another schedule.
//
//   #include <duress/gtest.h>   // GoogleTest; with another framework duress/test.h, and look at the result
//   TEST(Queue, PopsWhatWasPushed) {
//     duress::check([] {
//       Queue queue;
//       std::thread producer([&] { queue.push(1); });
//       int got = queue.pop();          // waits
//       producer.join();
//       EXPECT_EQ(got, 1);
//     });
//   }
//
// Build with duress-c++; the test then finds failing schedules when it is started by itself, as ctest does.
// Built with another compiler, or started under `duress explore`, the closure runs once. On failure the
// interleaving and a token are printed; duress::replay(closure, token) runs that execution again.
//
// The closure must make everything anew that it changes: it runs many times in one process. It uses plain
// std::thread, std::mutex, std::atomic, pthreads. All threads it starts have ended before the next execution.
// A failure is: an exception that leaves the closure, a deadlock or livelock, a GoogleTest failure (if
// gtest.h is included before this file), or what CheckOptions::failed says; a memory error; a data race; and
// a crash, which ends the process.
#ifndef DURESS_TEST_H_
#define DURESS_TEST_H_

#include <cxxabi.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "duress/test_call.h"

namespace duress {

struct CheckOptions {
  std::uint64_t runs = 1000;
  std::uint64_t seed = 1;
  const char* strategy = "portfolio";  // random, pct, pos, round-robin
  unsigned depth = 3;                  // pct: how many steps must be in the wrong order
  double seconds = 0;                  // stop searching after so long; 0: after `runs`
  bool all_points = false;             // preempt between any two accesses, not only at synchronisation
  std::uint64_t most_steps = 0;        // of one execution; 0: ten million
  bool quiet = false;
  bool exhaustive =
      false;  // every interleaving up to equivalence, each once; `runs` and `strategy` do not matter
  unsigned spurious = 0;      // exhaustive, sc: waits on conditions may end with no signal, so often in a row
  const char* model = "sc";   // "rc11": atomics are as weak as C++20 allows
  bool races = true;          // a data race is a failure
  bool memory_errors = true;  // so are uses of freed memory and the like (docs/guide/memory-errors.md)
  bool (*failed)() = nullptr;  // whether an execution that ended failed
};

struct CheckResult {
  bool passed = true;
  std::uint64_t executions = 0;
  bool complete = false;  // exhaustive: every interleaving was seen, of racing accesses too; passed is then a
                          // proof for this closure
  std::string bound;      // exhaustive: what was not explored
  std::string failure;    // one line
  std::string report;     // the interleaving
  std::string token;
  explicit operator bool() const { return passed; }
};

namespace internal {

inline std::string name_of(const std::type_info& type) {
  int status = 0;
  char* name = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string result = status == 0 && name ? name : type.name();
  std::free(name);
  return result;
}

template <typename Closure>
struct Call {
  Closure* closure;
  bool (*failed)();

  static void run(void* self) {
    auto& call = *static_cast<Call*>(self);
#if defined(__cpp_exceptions)
    try {
      (*call.closure)();
    } catch (const std::exception& error) {
      if (!__duress_check_failed) throw;
      __duress_check_failed(
          (std::string("exception ") + name_of(typeid(error)) + ": " + error.what()).c_str());
    } catch (abi::__forced_unwind&) {
      throw;  // pthread_exit
    } catch (...) {
      if (!__duress_check_failed) throw;
      __duress_check_failed("an exception that is no std::exception");
    }
#else
    (*call.closure)();
#endif
  }
  static int has_failed(void* self) { return static_cast<Call*>(self)->failed(); }
};

/// What a test framework adds; duress/gtest.h does for GoogleTest.
struct Framework {
  void (*begin)() = nullptr;                    // failures of assertions are kept back from now on
  bool (*failed)() = nullptr;                   // whether one came since the last call
  void (*end)(std::string* message) = nullptr;  // no longer; the last one's text
  void (*tell)(const CheckResult& result, const char* file, int line) = nullptr;
};
inline Framework framework;

template <typename Closure>
CheckResult search(Closure& closure, const CheckOptions& options, const char* token) {
  CheckResult result;
  if (!__duress_check) {  // not built with duress-c++
    closure();
    result.executions = 1;
    result.passed = !options.failed || !options.failed();
    return result;
  }
  bool (*failed)() = options.failed     ? options.failed
                     : framework.failed ? framework.failed
                                        : [] { return false; };
  if (framework.begin) framework.begin();
  Call<Closure> call = {&closure, failed};
  DuressCheck check = {};
  check.size = sizeof check;
  check.depth = options.depth;
  check.runs = options.runs;
  check.seed = options.seed;
  check.most_steps = options.most_steps;
  check.seconds = options.seconds;
  check.strategy = options.strategy;
  check.model = options.model;
  check.token = token;
  check.all_points = options.all_points;
  check.exhaustive = options.exhaustive;
  check.ignores_races = !options.races;
  check.ignores_memory_errors = !options.memory_errors;
  check.spurious = options.spurious;
  check.quiet = options.quiet || framework.tell;  // the framework prints it
  check.closure = Call<Closure>::run;
  check.failed = Call<Closure>::has_failed;
  check.data = &call;
  result.passed = __duress_check(&check) == 0;
  result.executions = check.executions;
  result.complete = check.complete != 0;
  if (check.bound) result.bound = check.bound;
  if (check.what) result.failure = check.what;
  if (framework.end) {
    std::string message;
    framework.end(&message);
    if (!message.empty() && !check.raced) result.failure += "\n" + message;
  }
  if (check.report) result.report = check.report;
  if (check.found) result.token = check.found;
  return result;
}

}  // namespace internal

/// Runs the closure under many schedules; stops at the first that fails. With GoogleTest a failing execution
/// is a failure of the test; else look at the result.
template <typename Closure>
CheckResult check(Closure&& closure, const CheckOptions& options = {}, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  CheckResult result = internal::search(closure, options, nullptr);
  if (internal::framework.tell) internal::framework.tell(result, file, line);
  return result;
}

/// Runs the execution that a token names, once.
template <typename Closure>
CheckResult replay(Closure&& closure, const std::string& token, const CheckOptions& options = {},
                   const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  CheckResult result = internal::search(closure, options, token.c_str());
  if (internal::framework.tell) internal::framework.tell(result, file, line);
  return result;
}

}  // namespace duress

#endif  // DURESS_TEST_H_
