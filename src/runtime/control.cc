// SPDX-License-Identifier: Apache-2.0
//
// One controlled execution: begins, waits, ends; and what is written of it.
#include "runtime/control.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "runtime/adversary.h"
#include "runtime/interceptors/real.h"
#include "runtime/misuse.h"
#include "runtime/rc11.h"
#include "runtime/runtime.h"
#include "runtime/unwinding.h"
#include "runtime/what_if.h"

namespace duress {

thread_local uptr t_hook_caller __attribute__((tls_model("initial-exec"))) = 0;
thread_local sched::Strand* t_strand __attribute__((tls_model("initial-exec"))) = nullptr;
sched::Scheduler* g_scheduler = nullptr;
void (*g_trace_value)(u64 value, u32 size) = nullptr;
bool g_observe_plain = true;
void (*g_learn_access)(const void* p, u64 size, bool write, const DuressSite* site) = nullptr;
void (*g_learn_atomic)(const void* p, u64 size, bool write) = nullptr;
void (*g_learn_freed)(void* p) = nullptr;

namespace {

using sched::Strand;

const trail::Request* g_request = nullptr;
trail::Record* g_record = nullptr;
int server_in = -1, server_out = -1;
thread_local DuressFrame* t_frames __attribute__((tls_model("initial-exec"))) =
    nullptr;                         // mapped for this strand
constinit Strand* traced = nullptr;  // its operation's value is not known yet
constinit bool traced_stale = false;
constinit u64 traced_newest = 0;

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

// ---- what is written
// -----------------------------------------------------------------------------------------

constexpr int kMostFrames = 64;

struct Dump {
  uptr frames[kMostFrames];
  int count;
};
constexpr u32 kMostDumps = 4096;
Dump* dumps = nullptr;  // by strand; made when needed

void dump_strand(Strand& strand) {
  Uncontrolled here;
  if (!dumps) dumps = static_cast<Dump*>(map_memory(kMostDumps * sizeof(Dump)));
  if (!dumps || strand.number >= kMostDumps) return;
  Dump& dump = dumps[strand.number];
  dump.count = unwind_stack(dump.frames, kMostFrames, strand.next.place);
}

const char* state_word(const Strand& s) {
  if (s.state == Strand::State::kEnded) return "ended";
  return s.state == Strand::State::kBlocked ? "blocked" : "runnable";
}

void put_strand(Text& text, Strand& s) {
  text.put('{').key("strand").number(s.number).key("name").quoted(s.name).key("state").quoted(state_word(s));
  text.key("op").quoted(word_of(s.next.kind)).key("object").address(s.next.object);
  text.key("place").address(s.next.place).key("held_by").put('[');
  if (s.next.kind == OpKind::kLock || s.next.kind == OpKind::kReadLock || s.next.kind == OpKind::kOnce) {
    if (Strand* holder = scheduler().holder_of(s.next.object)) text.number(holder->number);
  } else if (s.next.kind == OpKind::kJoin) {
    text.number(reinterpret_cast<Strand*>(s.next.object)->number);
  }
  text.put(']').key("stack").put('[');
  for (int i = 0; dumps && s.number < kMostDumps && i < dumps[s.number].count; ++i) {
    if (i) text.put(',');
    text.address(dumps[s.number].frames[i]);
  }
  text.put("]}");
}

const char* outcome_word(trail::Outcome outcome) {
  switch (outcome) {
    case trail::Outcome::kDeadlock:
      return "deadlock";
    case trail::Outcome::kLivelock:
      return "livelock";
    case trail::Outcome::kStepLimit:
      return "step-limit";
    default:
      break;
  }
  const trail::Misuse* misuse = trail::misuse_of(outcome);
  return misuse ? misuse->word : "stuck";
}

[[noreturn]] void stuck(trail::Outcome outcome) {
  Uncontrolled here;
  Runtime& rt = *g_runtime;
  if (outcome == trail::Outcome::kEnded) {  // nothing to tell
    rt.finish(0);
    exit_process(0);
  }
  rt.modules.log_new();
  Text text(rt.arena);
  const Strand& by = *scheduler().running();
  if (g_misuse_calls.count && dumps && by.number < kMostDumps) {
    memcpy(dumps[by.number].frames, g_misuse_calls.pc, sizeof g_misuse_calls.pc);
    dumps[by.number].count = static_cast<int>(g_misuse_calls.count);
  }
  text.put('{').key("t").quoted("stuck").key("outcome").quoted(outcome_word(outcome));
  text.key("strands").put('[');
  bool first = true;
  if (trail::misuse_of(outcome)) {  // whose mistake it is comes first
    put_strand(text, *scheduler().running());
    first = false;
  }
  for (Strand* s = scheduler().strands(); s; s = s->next_strand) {
    if (s->state == Strand::State::kEnded || (!first && s == &by && trail::misuse_of(outcome))) continue;
    if (!first) text.put(',');
    first = false;
    put_strand(text, *s);
  }
  text.put("]}");
  rt.log.write(text);
  rt.finish(66);
  exit_process(66);
}

void put_step(const Strand& s, bool has_value, u64 value) {
  Uncontrolled here;
  Runtime& rt = *g_runtime;
  rt.modules.log_new();
  Text text(rt.arena);
  text.put('{').key("t").quoted("step").key("n").number(g_record->steps).key("strand").number(s.number);
  text.key("name").quoted(s.name).key("op").quoted(word_of(s.next.kind)).key("object").address(s.next.object);
  text.key("size").number(s.next.size);
  if (s.next.kind == OpKind::kJoin && s.next.object) {
    const auto* joined = reinterpret_cast<const Strand*>(s.next.object);
    if (joined->state == Strand::State::kEnded) text.key("joins").number(joined->number);
  }
  if (has_value) text.key("value").address(value);
  const char* as = nullptr;
  if (has_value && traced_stale) text.key("newest").address(traced_newest);
  traced_stale = false;
  text.key("site");
  if (is_access(s.next.kind)) {
    u8 flags = reinterpret_cast<const DuressSite*>(s.next.place)->flags;
    if (flags & (DURESS_SITE_FLOAT | DURESS_SITE_POINTER))
      as = flags & DURESS_SITE_FLOAT ? "float" : "pointer";
    rt.modules.put_site(text, rt.modules.site_id(reinterpret_cast<const DuressSite*>(s.next.place)));
  } else {
    text.put("null").key("place").address(s.next.place);
  }
  if (as) text.key("as").quoted(as);
  text.put('}');
  rt.log.write(text);
}

void trace_value(u64 value, u32 size) {
  if (!traced) return;
  Strand* s = traced;
  traced = nullptr;
  if (size < 8) value &= (u64{1} << size * 8) - 1;
  put_step(*s, size <= 8, value);
}

void trace(const Strand& strand) {
  if (is_access(strand.next.kind)) {
    traced = const_cast<Strand*>(&strand);
  } else {
    put_step(strand, false, 0);
  }
}

bool start_carrier(void* (*function)(void*), void* argument);

exhaustive::StepLog* step_log(trail::Record* record) {
  auto* log = reinterpret_cast<exhaustive::StepLog*>(reinterpret_cast<char*>(record) + trail::kStepsOffset);
  static_assert(exhaustive::StepLog::bytes(exhaustive::kMostSteps) <= trail::kStepsBytes);
  log->room = exhaustive::kMostSteps;
  if (log->strands == 0) log->strands = 1;
  return log;
}

void nobody_left() {
  exit(0);
}

}  // namespace

// ---- the execution
// ---------------------------------------------------------------------------------------------

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
  g_request = static_cast<const trail::Request*>(map_file(options.request_, trail::kRequestBytes, false));
  g_record = static_cast<trail::Record*>(map_file(options.record_, trail::kRecordBytes, true));
  if (*options.server_) {
    char* rest = nullptr;
    server_in = static_cast<int>(strtol(options.server_, &rest, 10));
    server_out = *rest == ',' ? static_cast<int>(strtol(rest + 1, &rest, 10)) : -1;
    if (server_out < 0) fatal("option server must be IN,OUT[,PROCESSOR]", "two descriptors and a number");
    if (*rest == ',') control_server_processor(static_cast<unsigned>(strtoul(rest + 1, nullptr, 10)));
    return;
  }
  control_begin();
}

void control_begin() {
  if (g_request->magic != trail::kMagic || g_request->version != trail::kVersion) {
    fatal("the request is of another version of duress");
  }
  Runtime& rt = *g_runtime;
  static sched::Callbacks callbacks = {stuck, dump_strand,   start_carrier,       nobody_left,
                                       trace, control_state, control_local_state, nullptr};
  g_scheduler = new (map_memory(sizeof(sched::Scheduler))) sched::Scheduler(rt.arena, callbacks);
  if (g_request->by_steps) g_scheduler->set_step_log(step_log(g_record));
  rt.points.apply(*g_request);
  what_if_begin(*g_request, *g_record);
  g_observe_plain = g_request->detect == trail::Detect::kRaces || g_request->site_count ||
                    g_request->wait_site_count || g_request->points == trail::Points::kAll;
  bool by_volatile = rt.volatile_mode != VolatileMode::kPlain;
  if (g_request->detect != trail::Detect::kRaces && g_request->points == trail::Points::kSync &&
      !g_request->by_steps && !by_volatile)
    rt.points.begin_filter();
  if (g_request->trace) g_trace_value = trace_value;
  bool rc11 = g_request->model == ModelId::kRc11;
  bool detects = g_request->detect != trail::Detect::kNothing;
  bool clocks = detects || rc11;
  if (detects) rt.reporter.tell_points(&rt.points);
  if (clocks) {
    rt.checking = g_request->detect == trail::Detect::kRaces;
    rt.enter_main_thread();
  }
  if (rc11) {
    g_rc11 = new (map_memory(sizeof(Rc11Adversary))) Rc11Adversary(rt, *g_request, *g_record);
  } else if (g_request->model != ModelId::kSc) {
    if (!detects) fatal("a request with a memory model must follow clocks");
    g_adversary = new (map_memory(sizeof(Adversary))) Adversary(rt, *g_request, *g_record);
  }
  if (!clocks) control_enter_strand();
  own_thread_number();
  t_strand = scheduler().begin(*g_request, g_record);
  memcpy(t_strand->name, "main", 5);
  control_processor_begin();
  control_signals_begin();
  control_random_begin(g_request->seed);
}

// Checked bodies compare a shadow word with the thread's epoch: with a span of everything and a shadow that
// nobody writes, each comparison holds, and a function with atomics runs optimised code that calls hooks for
// those alone.
constexpr size_t kFrameBytes = size_t{64}
                               << 20;  // address space only; deeper than any stack of 64 MiB can be

void control_enter_strand() {
  auto* frames = static_cast<DuressFrame*>(map_memory(kFrameBytes));
  if (!frames) fatal("out of memory for a thread's call stack", "raise 'ulimit -v'");
  __duress_self = {0, ~u64{0}, frames, __duress_no_reads, 0};
  t_frames = frames;
}

void control_leave_strand() {
  if (!t_frames) return;
  unmap_memory(t_frames, kFrameBytes);
  t_frames = nullptr;
  __duress_self = {0, ~u64{0}, __duress_scratch_frames, __duress_no_reads, 0};
}

void control_fork_point() {
  if (server_in < 0) return;
  int in = server_in, out = server_out;
  server_in = -1;
  for (;;) {
    char command = 0;
    long n = raw_syscall(SYS_read, in, reinterpret_cast<long>(&command), 1);
    if (n == -EINTR) continue;
    if (n <= 0) exit_process(0);
    if (command != trail::kRun) continue;
    pid_t pid = fork_alone();
    if (pid == 0) {
      forget_own_thread_number();
      g_runtime->log.open_later(g_runtime->options.log_dir_, [] { g_runtime->log_start(); });
      raw_syscall(SYS_close, in);
      raw_syscall(SYS_close, out);
      raw_syscall(SYS_lseek, 0, 0, SEEK_SET);
      control_begin();
      return;
    }
    trail::Reply reply = {pid, -1};
    write_all(out, reinterpret_cast<const char*>(&reply), sizeof reply);
    int status = 125 << 8;
    while (pid > 0 && raw_syscall(SYS_wait4, pid, reinterpret_cast<long>(&status), 0, 0) == -EINTR) {
    }
    reply = {pid, status};
    write_all(out, reinterpret_cast<const char*>(&reply), sizeof reply);
  }
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
  if (DURESS_UNLIKELY(g_adversary != nullptr) && controlled()) g_adversary->settle(place);
}

static bool has_children = false;
void control_child_made() {
  if (g_scheduler) has_children = true;
}
bool control_has_children() {
  return has_children;
}

void control_crashed() {
  if (g_scheduler) scheduler().finish();
}

/// The child of a fork by the program itself: what it does is controlled too, but is no part of the record.
void control_after_fork_in_child() {
  if (!g_scheduler || !t_strand) return;
  static trail::Record* own = nullptr;
  own = static_cast<trail::Record*>(map_memory(trail::kRecordBytes));
  if (!own) fatal("out of memory for the record of a forked child");
  memcpy(own, g_record, sizeof *own);
  own->deviations = 0;
  g_record = own;
  scheduler().alone(own);
}

/// As the C library keeps them. Whoever waits, waits in the scheduler: the library knows of no waiters.
u64 control_state(const Operation& operation) {
  switch (operation.kind) {
    case OpKind::kAcquire:
    case OpKind::kTryAcquire:
    case OpKind::kPost:
      return *reinterpret_cast<const volatile u32*>(operation.object);
    default: {
      const auto* lock = reinterpret_cast<const pthread_rwlock_t*>(operation.object);
      if (lock->__data.__cur_writer) return exhaustive::kWriter;
      constexpr u32 kReaderShift = 3;
      return lock->__data.__readers >> kReaderShift;
    }
  }
}

u64 control_local_state(const sched::Strand& strand) {
  const Operation& operation = strand.next;
  return unwound_state(is_access(operation.kind) ? t_hook_caller : operation.place,
                       reinterpret_cast<uptr>(strand.job_frame));
}

// ---- accesses
// --------------------------------------------------------------------------------------------------

/// See Points::kLongRuns and SitePoints::waits.
static void end_long_run(bool write, const DuressSite* site) {
  if (write) scheduler().changed();  // somebody may wait for it
  constexpr u32 kLongRun = 20'000;   // about a millisecond
  static u64 steps = 0;
  static u32 run = 0;
  if (g_record->steps != steps) run = 0;
  steps = g_record->steps;
  if (++run < kLongRun) return;
  ++g_record->long_runs;
  scheduler().yield(reinterpret_cast<uptr>(site));
}

/// A hash of the running strand's stack above this function, registers that were saved there among it.
__attribute__((noinline)) static u64 stack_state() {
  constexpr u64 kMost = 64 << 10;
  uptr here = reinterpret_cast<uptr>(__builtin_frame_address(0)),
       top = reinterpret_cast<uptr>(t_strand->job_frame);
  if (top < here || top - here > kMost) top = here + 2048;  // the main thread's, or a deep one: what is near
  u64 hash = 0;
  for (uptr at = here; at + 8 <= top; at += 8) hash = mix(hash ^ *reinterpret_cast<const u64*>(at)) + 1;
  return hash;
}

bool control_access(const void* p, u64 size, bool write, const DuressSite* site) {
  if (g_learn_access) g_learn_access(p, size, write, site);
  if (write && scheduler().by_steps()) {
    // What lies on its own stack is a part of its local state.
    uptr top = reinterpret_cast<uptr>(t_strand->job_frame),
         here = reinterpret_cast<uptr>(__builtin_frame_address(0));
    uptr at = address_of(p);
    if (at < here || at >= (top ? top : here + (u64{1} << 20))) scheduler().wrote_plain();
  }
  u32 key = g_runtime->points.point(site, p);
  if (!key && g_request->points != trail::Points::kAll) {
    if (DURESS_UNLIKELY(g_request->points == trail::Points::kLongRuns ||
                        (g_request->wait_site_count && g_runtime->points.waits(site))))
      end_long_run(write, site);
    return false;
  }
  if (!write && g_request->points != trail::Points::kAll &&
      scheduler().throttle_load(reinterpret_cast<uptr>(site)))
    return false;
  if (DURESS_UNLIKELY(scheduler().suspects_livelock())) scheduler().note_state(stack_state());
  scheduler().point({write ? OpKind::kWrite : OpKind::kRead, static_cast<u32>(size), address_of(p), key,
                     reinterpret_cast<uptr>(site), site->line << 10 ^ site->column});
  return true;
}

void control_atomic(const void* p, u64 size, OpKind kind, const DuressSite* site) {
  if (DURESS_UNLIKELY(g_learn_atomic != nullptr)) g_learn_atomic(p, size, writes(kind));
  // Histories are of plain accesses; what an atomic writes among them is not guessed at.
  if (DURESS_UNLIKELY(g_adversary != nullptr) && writes(kind)) {
    g_adversary->forget(address_of(p), address_of(p) + size);
  }
  scheduler().point({kind, static_cast<u32>(size), address_of(p), g_runtime->points.point(site),
                     reinterpret_cast<uptr>(site), site->line << 10 ^ site->column});
}

void control_trace_stale(u64 newest) {
  traced_stale = true;
  traced_newest = newest;
}

bool control_take_stale(u64* newest) {
  bool stale = traced_stale;
  if (stale) *newest = traced_newest;
  traced_stale = false;
  return stale;
}

void control_compare(const void* p, u64 size, u64 expected, const DuressSite* site) {
  if (DURESS_UNLIKELY(g_learn_atomic != nullptr)) g_learn_atomic(p, size, true);
  if (DURESS_UNLIKELY(g_adversary != nullptr)) g_adversary->forget(address_of(p), address_of(p) + size);
  scheduler().point({OpKind::kAtomicRmw, static_cast<u32>(size), address_of(p), g_runtime->points.point(site),
                     reinterpret_cast<uptr>(site), site->line << 10 ^ site->column, 1, expected});
}

void control_done(bool changed) {
  if (changed) scheduler().changed();
}

// ---- time
// ------------------------------------------------------------------------------------------------------

u64 control_timeout(const timespec* duration) {
  if (!duration) return sched::kNever;
  if (duration->tv_sec > 1'000'000'000) return sched::kNever - 1;
  return scheduler().now() + static_cast<u64>(duration->tv_sec) * 1'000'000'000 +
         static_cast<u64>(duration->tv_nsec);
}

u64 control_deadline(clockid_t clock, const timespec* until) {
  if (!until) return sched::kNever;
  u64 start = control_clock_start(clock);
  if (until->tv_sec < 0) return 0;
  if (static_cast<u64>(until->tv_sec) > 9'000'000'000) return sched::kNever - 1;
  u64 at = static_cast<u64>(until->tv_sec) * 1'000'000'000 + static_cast<u64>(until->tv_nsec);
  return at > start ? at - start : 0;
}

u64 control_clock_start(clockid_t clock) {
  constexpr u64 kSecond = 1'000'000'000;
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
      return 1'600'000'000 * kSecond;  // a day in September 2020
    case CLOCK_PROCESS_CPUTIME_ID:
    case CLOCK_THREAD_CPUTIME_ID:
      return 0;
    default:
      return 1000 * kSecond;
  }
}

namespace {

bool start_carrier(void* (*function)(void*), void* argument) {
  Uncontrolled here;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t id;
  bool started = make_real_thread(&id, &attributes, function, argument) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

}  // namespace

}  // namespace duress
