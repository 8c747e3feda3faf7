// SPDX-License-Identifier: Apache-2.0
#include "check/execution.h"

#include <sys/syscall.h>
#include <time.h>

#include "base/check.h"
#include "base/text.h"
#include "catalog/models.h"
#include "check/memory_errors.h"
#include "check/point_learner.h"
#include "check/races.h"
#include "check/step_trace.h"
#include "runtime/interceptors/pool.h"
#include "runtime/rc11.h"
#include "runtime/runtime.h"

namespace duress {

constinit Check check;
constinit Arena check_arena;

namespace {

using sched::Strand;

exhaustive::StepLog* log = nullptr;

void* run_closure(void*) {
  check.call->closure(check.call->data);
  return nullptr;
}

// ---- callbacks of the scheduler

[[noreturn]] void abandon_execution(trail::Outcome outcome) {
  check.abandoned = true;
  check.outcome = outcome;
  scheduler().abandon();
}
void ignore_last_end() {}

/// While it lives, atomics follow the request's memory model.
class ScopedRc11 {
 public:
  ScopedRc11() {
    if (check.request->model != ModelId::kRc11) return;
    alignas(Rc11Adversary) static char memory[sizeof(Rc11Adversary)];
    g_rc11 = new (memory) Rc11Adversary(*g_runtime, *check.request, *check.record);
  }
  ~ScopedRc11() {
    if (g_rc11) g_rc11->~Rc11Adversary();
    g_rc11 = nullptr;
  }
  ScopedRc11(const ScopedRc11&) = delete;
  ScopedRc11& operator=(const ScopedRc11&) = delete;
};

void run_strands() {
  ScopedRc11 weak;
  scheduler().begin_closure(*check.request, check.record);
  control_random_begin(check.request->seed);
  Strand* root = pool_take(run_closure, nullptr, 0);
  if (!root) fatal("duress::check cannot make a thread", "raise 'ulimit -u'");
  memcpy(root->name, "test", 5);
  scheduler().launch(root);
  g_pooling = true;
  scheduler().run(root);
  if (check.abandoned) scheduler().call_back();
  g_pooling = false;
  scheduler().finish();
  race_execution_ends();
  memory_execution_ends();
  pool_end_execution(scheduler().strands());
}

const char* text_of(trail::Outcome outcome) {
  switch (outcome) {
    case trail::Outcome::kDeadlock:
      return "deadlock";
    case trail::Outcome::kLivelock:
      return "livelock";
    case trail::Outcome::kStepLimit:
      return "no end within the step limit";
    default:
      return "stuck";
  }
}

/// Whether the execution that just ended failed; fills check.what.
bool has_failed() {
  if (check.abandoned) {
    // An await loop that is blocked, not a failure: the explorer discards the execution.
    if (check.outcome == trail::Outcome::kEnded) return false;
    if (memory_error_found()) {
      Text text(check_arena);
      put_memory_error(text);
      check.set_what(text.data(), text.size());
      return true;
    }
    const char* text = text_of(check.outcome);
    check.set_what(text, strlen(text));
    return true;
  }
  if (check.threw) return true;
  if (check.call->failed(check.call->data)) {
    constexpr char kText[] = "the closure failed";
    check.set_what(kText, sizeof kText - 1);
    return true;
  }
  const FoundRace* race = race_found();
  check.raced = race && !check.call->ignores_races;
  if (check.raced) {
    Text text(check_arena);
    put_race(text, *race);
    check.set_what(text.data(), text.size());
  }
  return check.raced;
}

u64 real_nanoseconds() {
  timespec now = {};
  raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&now));
  return static_cast<u64>(now.tv_sec) * 1'000'000'000 + static_cast<u64>(now.tv_nsec);
}

}  // namespace

void prepare_executions() {
  if (check.request) return;
  check.request = static_cast<trail::Request*>(map_memory(kRequestRoom));
  check.record = static_cast<trail::Record*>(map_memory(trail::kRecordBytes));
  log = static_cast<exhaustive::StepLog*>(map_memory(exhaustive::StepLog::bytes(exhaustive::kMostSteps)));
  if (!check.request || !check.record || !log || !prepare_point_learner())
    fatal("out of memory for duress::check");
  static sched::Callbacks callbacks = {abandon_execution, StepTrace::dump, ignore_last_end,
                                       StepTrace::step,   control_state,   control_local_state,
                                       pool_give_up};
  g_scheduler = new (map_memory(sizeof(sched::Scheduler))) sched::Scheduler(check_arena, callbacks);
  log->room = exhaustive::kMostSteps;
  scheduler().set_step_log(log);
}

bool execute_closure() {
  memset(static_cast<void*>(check.record), 0, sizeof(trail::Record));
  check.threw = check.abandoned = check.raced = false;
  check.what[0] = 0;
  learner_execution_begins();
  if (g_learn_access == learn_access) g_runtime->points.promote();
  race_execution_begins();
  memory_execution_begins();
  run_strands();
  if (check.record->choices > check.longest) check.longest = check.record->choices;
  return has_failed();
}

exhaustive::StepLog& step_log() {
  return *log;
}

Deadline::Deadline(double seconds)
    : nanoseconds_(seconds > 0 ? real_nanoseconds() + static_cast<u64>(seconds * 1e9) : 0) {}

bool Deadline::passed() const {
  return nanoseconds_ != 0 && real_nanoseconds() > nanoseconds_;
}

}  // namespace duress

using namespace duress;

extern "C" __attribute__((visibility("default"))) void __duress_check_failed(const char* what) {
  if (!g_pooling) return;
  check.threw = true;
  check.set_what(what, strlen(what));
}
