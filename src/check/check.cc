// SPDX-License-Identifier: Apache-2.0
//
// duress::check (include/duress/test.h): thousands of executions of one closure in this process. The caller's
// kernel thread carries all strands; threads of the closure are jobs for a pool. No kernel thread is made or
// woken per execution, so a small closure runs more than a hundred thousand times a second (bench/explore).
#include "base/check.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/text.h"
#include "check/execution.h"
#include "check/races.h"
#include "check/step_trace.h"
#include "duress/test_call.h"
#include "exhaustive/explorer.h"
#include "memory/model.h"
#include "runtime/interceptors/pool.h"
#include "runtime/rc11.h"
#include "runtime/runtime.h"
#include "trail/token.h"

namespace duress {

constinit Check check;
constinit Arena check_arena;

namespace {

using sched::Strand;

// ---- one check ----

exhaustive::StepLog* step_log = nullptr;

void* run_closure(void*) {
  check.asked->closure(check.asked->data);
  return nullptr;
}

[[noreturn]] void stuck(trail::Outcome outcome) {
  check.abandoned = true;
  check.outcome = outcome;
  scheduler().abandon();
}

void nobody_left() {}
bool no_carrier(void* (*)(void*), void*) {
  return false;
}

void name_race(const FoundRace& found) {
  Text text(check_arena);
  put_race(text, found);
  size_t n = text.size() < sizeof check.what - 1 ? text.size() : sizeof check.what - 1;
  memcpy(check.what, text.data(), n);
  check.what[n] = 0;
}

/// While it lives, atomics are as the request's model says.
class Weak {
 public:
  Weak() {
    if (check.request->model != raw(memory::ModelId::kRc11)) return;
    alignas(Rc11Adversary) static char memory[sizeof(Rc11Adversary)];
    g_rc11 = new (memory) Rc11Adversary(*g_runtime, *check.request, *check.record);
  }
  ~Weak() {
    if (g_rc11) g_rc11->~Rc11Adversary();
    g_rc11 = nullptr;
  }
  Weak(const Weak&) = delete;
  Weak& operator=(const Weak&) = delete;
};

/// Runs the closure once as check.request says. True: it failed.
bool execute() {
  memset(static_cast<void*>(check.record), 0, sizeof(trail::Record));
  check.threw = check.abandoned = check.raced = false;
  check.what[0] = 0;
  learn_execution_begins();
  if (g_learn_access == learn_access) g_runtime->points.promote();
  race_execution_begins();
  Weak weak;
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
  pool_end_execution(scheduler().strands());
  if (check.record->choices > check.length) check.length = check.record->choices;
  if (check.abandoned && check.outcome == trail::Outcome::kEnded) {  // a loop waits for what is there already
    return false;
  }
  if (check.abandoned) {
    const char* word = check.outcome == trail::Outcome::kDeadlock    ? "deadlock"
                       : check.outcome == trail::Outcome::kLivelock  ? "livelock"
                       : check.outcome == trail::Outcome::kStepLimit ? "no end within the step limit"
                                                                     : "stuck";
    memcpy(check.what, word, strlen(word) + 1);
    return true;
  }
  if (check.threw) return true;
  if (check.asked->failed(check.asked->data)) {
    memcpy(check.what, "the closure failed", 19);
    return true;
  }
  check.raced = race_found() && !check.asked->ignores_races;
  if (check.raced) name_race(*race_found());
  return check.raced;
}

// ---- a crash of the closure ends the process: the token is what is left ----

void on_check_crash(int signal, siginfo_t*, void*) {
  struct sigaction original = {};
  original.sa_handler = SIG_DFL;
  sigaction(signal, &original, nullptr);
  g_pooling = false;
  t_strand = nullptr;
  if (keep_trail()) {
    Text text(check_arena);
    text.put("duress::check: the closure crashed (signal ").number(static_cast<u64>(signal));
    text.put(") in execution ")
        .number(check.asked->executions + 1)
        .put("\nreplay: duress::replay(closure, \"");
    write_token(text, check.request->points == trail::Points::kSync);
    text.put("\")\n");
    write_all(2, text.data(), text.size());
  }
  raw_syscall(SYS_tgkill, process_number(), thread_number(), signal);
}

class CrashHandlers {
 public:
  CrashHandlers() {
    for (int i = 0; i < kCount; ++i) {
      struct sigaction ours = {};
      ours.sa_sigaction = on_check_crash;
      ours.sa_flags = SA_SIGINFO | SA_NODEFER;
      sigaction(kSignals[i], &ours, &before_[i]);
    }
  }
  ~CrashHandlers() {
    for (int i = 0; i < kCount; ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  CrashHandlers(const CrashHandlers&) = delete;
  CrashHandlers& operator=(const CrashHandlers&) = delete;

 private:
  static constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  static constexpr int kCount = 5;
  struct sigaction before_[kCount];
};

u64 real_nanoseconds() {
  timespec now = {};
  raw_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&now));
  return static_cast<u64>(now.tv_sec) * 1'000'000'000 + static_cast<u64>(now.tv_nsec);
}

void prepare() {
  if (check.request) return;
  check.request = static_cast<trail::Request*>(map_memory(kRequestRoom));
  check.record = static_cast<trail::Record*>(map_memory(trail::kRecordBytes));
  if (!check.request || !check.record || !learn_prepare()) fatal("out of memory for duress::check");
  static sched::Scheduler::Surroundings surroundings = {
      stuck,         CheckTrace::dump,    no_carrier,  nobody_left, CheckTrace::step,
      control_state, control_local_state, pool_give_up};
  g_scheduler = new (map_memory(sizeof(sched::Scheduler))) sched::Scheduler(check_arena, surroundings);
  step_log =
      static_cast<exhaustive::StepLog*>(map_memory(exhaustive::StepLog::bytes(exhaustive::kMostSteps)));
  if (!step_log) fatal("out of memory for duress::check");
  step_log->room = exhaustive::kMostSteps;
  scheduler().set_step_log(step_log);
}

/// What an exploration leaves out, in words; null: nothing.
const char* bound_of(u32 limits) {
  using Log = exhaustive::StepLog;
  if (limits & Log::kTooManySteps) return "an execution has more steps than are explored";
  if (limits & Log::kTooManyStrands) return "there are more threads than are explored";
  if (limits & Log::kSpinning) return "a loop went round without end";
  if (limits & Log::kTimers) return "timeouts come only when nothing else can happen";
  if (limits & Log::kClock) return "the closure looks at a clock";
  if (limits & Log::kDescriptors) return "the closure waits for a descriptor";
  if (limits & Log::kFutex) return "a futex wakes some of those who wait";
  if (limits & Log::kHistory)
    return "an atomic has more stores than are remembered, is accessed in several sizes, or was written "
           "unseen";
  if (limits & Log::kNotExplored) return "under rc11 threads meet at something else than atomics and mutexes";
  if (limits & Log::kCancelled) return "a thread is cancelled";
  return nullptr;
}

/// The execution that just ran passed. It is run again as often as is needed to know whether it has a race.
bool judge(bool* unwatched) {
  if (g_race_watch == RaceWatch::kDigest) {
    if (races_known()) return false;
    races_look_closer();
    if (execute()) return true;
  }
  while (races_unseen()) {
    if (execute()) return true;
  }
  if (!races_suspected()) {
    if (g_race_watch == RaceWatch::kSuspects) races_are_none();
    return false;
  }
  if (watch_with_clocks()) return execute();
  watch_races(RaceWatch::kNone, nullptr);
  *unwatched = true;
  return false;
}

/// Every interleaving up to equivalence, until one fails.
bool explore_interleavings(DuressCheck& c) {
  constexpr u64 kMostNodes = u64{1} << 24;  // about 4 GiB
  u64 deadline = check_deadline(c);
  Arena arena;
  bool failed = false, again = true, unwatched = false;
  u32 limits = 0;
  while (again) {
    again = false;
    c.executions = 0;
    c.bound = nullptr;
    limits = 0;
    exhaustive::Explorer explorer(arena);
    exhaustive::Explorer::Plan plan;
    for (; !failed && explorer.next(&plan); ++c.executions) {
      if (deadline && c.executions % 64 == 63 && check_is_late(deadline)) {
        c.bound = "the time was up";
        break;
      }
      if (explorer.nodes() > kMostNodes) {
        c.bound = "there was no more memory for what is still to be explored";
        break;
      }
      trail::Request& r = *check.request;
      r = trail::Request();
      r.seed = c.seed;
      r.strategy = raw(StrategyId::kExhaustive);
      r.most_steps = c.most_steps;
      r.steps = 1;
      r.spurious = c.spurious;
      r.picks = plan.count;
      memcpy(r.picked(), plan.picks, plan.count * sizeof *plan.picks);
      u32 spins = step_log->spins;
      failed = execute() || judge(&unwatched);
      limits |= step_log->limits;
      if (!failed && step_log->limits & exhaustive::StepLog::kAwaitBlocked)
        --c.executions;                          // it does not count
      if (!failed && step_log->spins > spins) {  // a loop that waits was found: see sched/spin.cc
        again = true;
        // Only then does it matter what is written besides: a round of the loop that writes is no mere wait.
        g_plain_matters = true;
        break;
      }
      if (!explorer.learn(plan.ticket, step_log->steps, step_log->count)) {
        c.bound = "the closure does not do the same again under the same schedule";
      }
    }
    if (!c.bound) c.bound = unwatched ? "there is no memory to look for races" : bound_of(limits);
    c.redundant = static_cast<u32>(explorer.redundant());
    c.complete = !failed && !c.bound && explorer.done();
  }
  arena.release_all();
  return failed;
}

bool explore_all(DuressCheck& c) {
  bool failed = is_weak(c) ? explore_graphs(c) : explore_interleavings(c);
  g_plain_matters = true;  // a replay looks at every place
  if (failed && keep_trail()) {
    minimise(check.abandoned ? 20 : 400);
    report(c, c.executions);
  }
  return failed;
}

bool replay(DuressCheck& c) {
  trail::TokenHead head;
  trail::TokenView view;
  u64 length = strlen(c.token);
  void* memory = map_memory(trail::token_memory(length) + 1);
  static char problem[] = "the token is not one of this version of duress, or was damaged";
  if (!memory || trail::read_token(c.token, length, memory, head, view) != trail::TokenError::kNone) {
    c.what = problem;
    if (!c.quiet) {
      write_all(2, "duress::replay: ", 16);
      write_all(2, problem, sizeof problem - 1);
      write_all(2, "\n", 1);
    }
    return true;
  }
  trail::Request& r = *check.request;
  r = trail::Request();
  r.points = view.points;
  r.steps = view.steps;
  r.model = view.model;
  r.spurious = view.spurious;
  r.timeouts = view.timeouts;
  if (!view.fair) r.fair_after = 0;
  r.seed = view.seed;
  r.most_steps = view.most_steps;
  r.deviations = view.trail_count;
  memcpy(r.trail(), view.trail, view.trail_count * sizeof(trail::Deviation));
  watch_races(c.ignores_races && r.model == 0 ? RaceWatch::kNone : RaceWatch::kClocks, nullptr);
  g_runtime->points.mark_keys(view.sites, view.site_count);
  unmap_memory(memory, trail::token_memory(length) + 1);
  bool failed = execute();
  c.executions = 1;
  if (failed) report(c, 0);
  return failed;
}

}  // namespace

bool check_execute() {
  return execute();
}
exhaustive::StepLog& check_steps() {
  return *step_log;
}
const char* check_bound_of(u32 limits) {
  return bound_of(limits);
}
u64 check_deadline(const DuressCheck& c) {
  return c.seconds > 0 ? real_nanoseconds() + static_cast<u64>(c.seconds * 1e9) : 0;
}
bool check_is_late(u64 deadline) {
  return real_nanoseconds() > deadline;
}

}  // namespace duress

using namespace duress;

#define DURESS_EXPORT extern "C" __attribute__((visibility("default")))

DURESS_EXPORT void __duress_check_failed(const char* what) {
  if (!g_pooling) return;
  check.threw = true;
  size_t n = strlen(what) < sizeof check.what - 1 ? strlen(what) : sizeof check.what - 1;
  memcpy(check.what, what, n);
  check.what[n] = 0;
}

DURESS_EXPORT int __duress_check(DuressCheck* asked) {
  if (asked->size != sizeof(DuressCheck)) fatal("duress/test.h is of another version than the runtime");
  if (!is_weak(*asked) && strcmp(asked->model, "sc") != 0)
    fatal("duress::check knows the models sc and rc11");
  if (asked->spurious && (is_weak(*asked) || (!asked->exhaustive && !asked->token)))
    fatal("duress::check explores spurious wake-ups in exhaustive checks under sc",
          "set exhaustive, or leave spurious and model");
  if (controlled() || g_pooling) {  // under `duress explore`, which chooses the schedule
    asked->closure(asked->data);
    asked->executions = 1;
    return asked->failed(asked->data);
  }
  Runtime* rt = wake_for_check();
  prepare();
  check.asked = asked;
  check.length = 0;
  control_attach(check.request, check.record);
  g_plain_matters = true;
  rt->points.begin_learning(*check.request);
  if (asked->exhaustive) {
    g_plain_matters = false;
    step_log->strands = 1;
    step_log->spins = 0;
  }
  RaceWatch watch = asked->exhaustive ? RaceWatch::kDigest : RaceWatch::kSuspects;
  if (asked->ignores_races) watch = RaceWatch::kNone;
  if (is_weak(*asked)) watch = RaceWatch::kClocks;  // which the model needs
  watch_races(watch, asked->exhaustive ? nullptr : learn_access);
  if (is_weak(*asked) && g_race_watch == RaceWatch::kNone)
    fatal("duress::check has no memory for rc11", "raise 'ulimit -v'");
  bool failed;
  {
    CrashHandlers handlers;
    failed = asked->token ? replay(*asked) : asked->exhaustive ? explore_all(*asked) : search(*asked);
  }
  watch_races(RaceWatch::kNone, nullptr);
  rt->points.set_all(rt->detecting ? DURESS_BODY_CHECKED : DURESS_BODY_PLAIN);
  return failed;
}
