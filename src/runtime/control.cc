// SPDX-License-Identifier: Apache-2.0
//
// The beginning and the end of one controlled execution. Its schedule points at accesses are in
// control_access.cc, the fork server in fork_server.cc, what is logged in control_log.cc.
#include "runtime/control.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/check.h"
#include "runtime/access_watch.h"
#include "runtime/adversary.h"
#include "runtime/call_patch.h"
#include "runtime/control_log.h"
#include "runtime/crash.h"
#include "runtime/debugger.h"
#include "runtime/frame_rooms.h"
#include "runtime/interceptors/real.h"
#include "runtime/memory_guard.h"
#include "runtime/preemption.h"
#include "runtime/rc11.h"
#include "runtime/rollback.h"
#include "runtime/rollback_memory.h"
#include "runtime/runtime.h"
#include "runtime/side_events.h"
#include "runtime/thread_emulation.h"
#include "runtime/what_if.h"

namespace duress {

thread_local uptr t_hook_caller __attribute__((tls_model("initial-exec"))) = 0;
thread_local sched::Strand* t_strand __attribute__((tls_model("initial-exec"))) = nullptr;
sched::Scheduler* g_scheduler = nullptr;
void (*g_trace_value)(u64 value, u32 size) = nullptr;
void (*g_trace_plain)(const void* p, u32 size, bool write, u64 value, const DuressSite* site) = nullptr;
bool g_note_caller = false;
bool g_observe_plain = true;
void (*g_learn_access)(const void* p, u64 size, bool write, const DuressSite* site) = nullptr;
void (*g_learn_atomic)(const void* p, u64 size, bool write) = nullptr;
void (*g_learn_freed)(void* p) = nullptr;

namespace {

const trail::Request* g_request = nullptr;
trail::Record* g_record = nullptr;
thread_local DuressFrame* t_frames __attribute__((tls_model("initial-exec"))) =
    nullptr;  // mapped for this strand

void* map_file(const char* path, size_t bytes, bool write) {
  long fd = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path),
                        (write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (fd < 0) fatal("cannot open the file of a controlled execution", path);
  long at = raw_syscall(SYS_mmap, 0, static_cast<long>(bytes), write ? PROT_READ | PROT_WRITE : PROT_READ,
                        MAP_SHARED, fd, 0);
  raw_syscall(SYS_close, fd);
  if (at < 0 && at > -4096) fatal("cannot map the file of a controlled execution", path);
  return reinterpret_cast<void*>(at);
}

exhaustive::StepLog* prepared_step_log() {
  exhaustive::StepLog* log = control_step_log();
  static_assert(exhaustive::StepLog::bytes(exhaustive::kMostSteps) <= trail::kStepsBytes);
  log->room = exhaustive::kMostSteps;
  if (log->strands == 0) log->strands = 1;
  return log;
}

void nobody_left() {
  exit(0);
}

}  // namespace

bool control_taken(const char* record) {
  auto* mapped = static_cast<trail::Record*>(map_file(record, sizeof(trail::Record), false));
  bool taken = mapped->magic != 0;
  raw_syscall(SYS_munmap, reinterpret_cast<long>(mapped), sizeof(trail::Record));
  return taken;
}

void control_prepare() {
  // One arena for all threads: which one a thread gets must not depend on who ended when, and making one
  // costs four system calls.
  mallopt(M_ARENA_MAX, 1);
  const Options& options = g_runtime->options;
  bool serves = *options.server_ != 0;
  g_request = static_cast<const trail::Request*>(map_file(options.request_, trail::kRequestBytes, serves));
  g_record = static_cast<trail::Record*>(map_file(options.record_, trail::kRecordBytes, true));
  // From here on the runtime's mappings are where the program has none: whether one is made in each execution
  // or was kept from the one before (rollback_memory.h), the program gets the same addresses.
  g_own_mappings.next = kOwnMappings;
  g_redzone = kRedzone;  // before that: what it allocates and frees has to fit what is allocated later
  warm_up_threads();
  reserve_patch_room();
  frame_rooms().reserve();
  EpochFilter::keep_tables(kWarmThreads + 1);
  preemption_prepare();
  if (serves) {
    fork_server_prepare(options.server_);
    return;
  }
  control_begin();
}

void control_begin() {
  if (g_request->magic != trail::kMagic || g_request->version != trail::kVersion) {
    fatal("the request is of another version of duress");
  }
  Runtime& rt = *g_runtime;
  rt.log.count_into(&g_record->log_bytes);
  g_on_fatal = [] { g_record->tool_failed = 1; };
  static sched::Callbacks callbacks = {log_stuck,     keep_stack,          nobody_left, log_step,
                                       control_state, control_local_state, nullptr};
  bool debugged = debugger_begin();
  if (debugged) callbacks.trace = debugger_step;
  callbacks.first_choice = rollback_at_first_choice;
  callbacks.limited = record_limit;
  // A search has thousands of runs, and few of them are reported.
  callbacks.timed_out_early = g_request->strategy == StrategyId::kReplay ? log_early_timeout : nullptr;
  alignas(sched::Scheduler) static char scheduler_memory[sizeof(sched::Scheduler)];
  g_scheduler = new (scheduler_memory) sched::Scheduler(rt.arena, callbacks);
  if (g_request->systematic) g_scheduler->set_step_log(prepared_step_log());
  rt.points.apply(*g_request);
  what_if_begin(*g_request, *g_record);
  g_note_caller =
      g_request->memory || (g_request->systematic && (g_request->site_count || g_request->edit_count));
  g_observe_plain = g_request->detect == trail::Detect::kRaces || g_request->site_count ||
                    g_request->wait_site_count || g_request->points == trail::Points::kAll ||
                    g_request->memory || g_request->trace_plain;
  bool by_volatile = rt.volatile_mode != VolatileMode::kPlain;
  if (g_request->detect != trail::Detect::kRaces && g_request->points == trail::Points::kSync &&
      !g_request->systematic && !g_request->memory && !g_request->trace_plain && !by_volatile)
    rt.points.begin_filter();
  if (g_request->trace && !debugged) g_trace_value = log_traced_value;
  if (g_request->trace_plain && !debugged) g_trace_plain = log_plain_access;
  bool rc11 = g_request->model == ModelId::kRc11;
  bool detects = g_request->detect != trail::Detect::kNothing;
  bool clocks = control_uses_clocks();
  if (detects) rt.reporter.tell_points(&rt.points);
  access_watch_begin(*g_request, *g_record);
  if (clocks) {
    rt.checking = g_request->detect == trail::Detect::kRaces && g_access_watch != AccessWatch::kDigest;
    rt.enter_main_thread();
  }
  if (rc11) {
    alignas(Rc11Adversary) static char memory[sizeof(Rc11Adversary)];
    g_rc11 = new (memory) Rc11Adversary(rt, *g_request, *g_record);
  } else if (g_request->model != ModelId::kSc) {
    if (!detects) fatal("a request with a memory model must follow clocks");
    alignas(Adversary) static char memory[sizeof(Adversary)];
    g_adversary = new (memory) Adversary(rt, *g_request, *g_record);
  }
  if (!clocks) control_enter_strand();
  if (g_request->memory) {
    if (!detects) fatal("a request that looks for memory errors must follow clocks");
    if (rt.options.memory_errors_)
      memory_guard_begin(rt);
    else
      g_record->memory_limits |= trail::kHeapNotSeen;
  }
  own_thread_number();
  bool emulates = g_request->backend != trail::Backend::kThread && emulation_possible();
  t_strand = scheduler().begin(*g_request, g_record, emulates);
  memcpy(t_strand->name, "main", 5);
  control_processor_begin();
  control_signals_begin();
  control_random_begin(g_request->seed);
  if (emulates) preemption_begin();
}

// Checked bodies find each access in a filter that contains everything, so a function with atomics runs
// optimised code that calls hooks for those alone.
void control_enter_strand() {
  DuressFrame* frames = frame_rooms().take(FrameRooms::kBytes);
  if (!frames) fatal("out of memory for a thread's call stack", "raise 'ulimit -v'");
  __duress_self = self_that_passes(frames);
  t_frames = frames;
}

void control_leave_strand() {
  if (!t_frames) return;
  frame_rooms().give(t_frames, FrameRooms::kBytes);
  t_frames = nullptr;
  __duress_self = self_that_passes(__duress_scratch_frames);
}

bool control_uses_clocks() {
  return g_request->detect != trail::Detect::kNothing || g_request->model == ModelId::kRc11;
}

trail::Record* control_record() {
  return g_record;
}

const trail::Request* control_request() {
  return g_request;
}

trail::Request* control_own_request() {
  return const_cast<trail::Request*>(g_request);
}

exhaustive::StepLog* control_step_log() {
  return reinterpret_cast<exhaustive::StepLog*>(reinterpret_cast<char*>(g_record) + trail::kStepsOffset);
}

void control_attach(const trail::Request* request, trail::Record* record) {
  g_request = request;
  g_record = record;
}

void control_ended() {
  if (!g_scheduler || !g_record || g_record->outcome != trail::Outcome::kRunning) return;
  scheduler().finish();
  g_record->outcome = trail::Outcome::kEnded;
}

void control_settle(uptr place) {
  if (!controlled()) return;
  if (DURESS_UNLIKELY(g_adversary != nullptr)) g_adversary->settle(place);
  if (scheduler().is_systematic()) scheduler().leave(place);
}

static bool has_children = false;
void control_child_made() {
  if (g_scheduler) has_children = true;
}
bool control_has_children() {
  return has_children;
}

void control_crashed(int signal) {
  if (!g_scheduler) return;
  scheduler().finish();
  if (g_record) g_record->own_signal = static_cast<u32>(signal);
}

// In children that the program forks: the process that the execution is, and its record.
static int g_first_process = 0;
static trail::Record* g_first_record = nullptr;

void control_sends(int process, int signal) {
  if (signal != SIGKILL || !g_scheduler) return;
  if (process == process_number()) return control_crashed(signal);
  if (g_first_record && process == g_first_process) g_first_record->own_signal = static_cast<u32>(signal);
}

/// The child of a fork by the program itself: it is controlled too, but not a part of the record.
void control_after_fork_in_child() {
  if (!g_scheduler || !t_strand) return;
  static trail::Record* own = nullptr;
  own = static_cast<trail::Record*>(map_memory(trail::kRecordBytes));
  if (!own) fatal("out of memory for the record of a forked child");
  if (!g_first_record) {
    g_first_record = g_record;
    g_first_process = static_cast<int>(raw_syscall(SYS_getppid));
  }
  memcpy(own, g_record, sizeof *own);
  own->deviations = 0;
  g_record = own;
  scheduler().alone(own);
  control_forget_timers();
}

}  // namespace duress
