// SPDX-License-Identifier: Apache-2.0
//
// Start-up, threads and the end of the process.
#include "runtime/runtime.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.h"
#include "runtime/control.h"
#include "runtime/crash.h"
#include "runtime/parallel_adversary.h"
#include "runtime/unwinding.h"

extern "C" {
// Threads that the runtime does not know push their frames here; nobody reads them. 65,536 frames.
__attribute__((visibility("default"))) DuressFrame __duress_scratch_frames[1 << 16];
// The read cache of threads that have none yet: never written, so nothing is ever found in it.
__attribute__((visibility("default"))) uint64_t __duress_no_reads[DURESS_READ_CACHE_ENTRIES];
__attribute__((visibility("default"))) constinit thread_local DuressSelf __duress_self = {
    0, 0, __duress_scratch_frames, __duress_no_reads, 0};
}

namespace duress {

Runtime* g_runtime = nullptr;
constinit thread_local Thread* t_current __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

thread_local bool t_ended __attribute__((tls_model("initial-exec"))) = false;

/// The analyses, and Record, which is not for users: a trace is made by `duress trace record`.
Analysis* make_tool(void* context, const char* name, size_t length) {
  auto& rt = *static_cast<Runtime*>(context);
  if (length == 6 && memcmp(name, "Record", 6) == 0) {
    if (!rt.recorder) {
      rt.recorder =
          new (rt.arena.allocate(sizeof(Recorder))) Recorder(rt, rt.options.first_ && !rt.controlled);
    }
    return rt.recorder;
  }
  return make_analysis(&rt.analysis_context, name, length);
}

/// Reads a small file of /proc; the result ends with a NUL.
size_t read_small_file(const char* path, char* buffer, size_t size) {
  long fd = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  size_t total = 0;
  while (total + 1 < size) {
    long n = raw_syscall(SYS_read, fd, reinterpret_cast<long>(buffer + total),
                         static_cast<long>(size - 1 - total));
    if (n <= 0) break;
    total += static_cast<size_t>(n);
  }
  raw_syscall(SYS_close, fd);
  buffer[total] = 0;
  return total;
}

extern "C" void* __libc_stack_end;

void find_main_stack(Thread& t) {
  rlimit limit = {};
  raw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, reinterpret_cast<long>(&limit));
  u64 size = limit.rlim_cur > (u64{1} << 30) ? u64{1} << 30 : limit.rlim_cur;
  t.stack_end = (reinterpret_cast<uptr>(__libc_stack_end) | 0xfff) + 1;
  t.stack_begin = t.stack_end - size;
}

void at_exit(int code, void*) {
  process_ending(code);
}

const char* find_options(char** environment) {
  static constexpr char kName[] = "DURESS_OPTIONS=";
  for (; environment && *environment; ++environment) {
    if (strncmp(*environment, kName, sizeof kName - 1) == 0) return *environment + sizeof kName - 1;
  }
  return nullptr;
}

// Modules that reported themselves, awake or not: duress::check wakes the runtime late.
constexpr u32 kMostModules = 1024;
constinit const DuressModule* known_modules[kMostModules] = {};
constinit u32 known_count = 0;

void start_parallel_adversary(Runtime& rt) {
  if (strcmp(rt.options.model_, "stale") != 0)
    fatal("option model must be sc or stale where threads run in parallel");
  rt.checking = false;
  rt.points.track(rt.options.track_);
  rt.points.apply(ParallelAdversary::request());
  if (rt.volatile_mode == VolatileMode::kPlain) rt.points.begin_filter();
  g_parallel_adversary = new (map_memory(sizeof(ParallelAdversary))) ParallelAdversary(rt);
}

/// Called once, as early as an instrumented module allows. The C library's own `environ` may not be set yet.
void start(char** environment) {
  static bool started = false;
  if (started) return;
  started = true;
  const char* text = find_options(environment);
  if (!text) return;
  static Arena option_arena;
  static Options options;
  options.parse(text, option_arena);
  if (options.help_) Options::print_help();
  if (!*options.log_dir_) return;
  if (*options.record_ && control_taken(options.record_)) return;
  void* memory = map_memory(sizeof(Runtime));
  if (!memory) fatal("out of memory for the runtime");
  auto* rt = new (memory) Runtime(options);
  rt->controlled = strcmp(options.mode_, "controlled") == 0;
  if (!rt->controlled && strcmp(options.mode_, "free") != 0) fatal("option mode must be free or controlled");
  if (!(rt->controlled ? rt->log.open_later(options.log_dir_, [] { g_runtime->log_start(); })
                       : rt->log.open(options.log_dir_))) {
    fatal("cannot write to the log folder", "check log_dir in DURESS_OPTIONS");
  }
  if (!rt->shadow.open(DURESS_SHADOW_TABLE)) {
    fatal("cannot map the shadow table at 0x7fe00000", "something else is there, or 'ulimit -v' is too low");
  }
  const char* bad;
  if (!rt->chain.build(options.chain_, &make_tool, rt, &bad)) {
    Text message(option_arena);
    message.put("the chain of analyses is wrong at '").put(bad).put('\'').put('\0');
    fatal(message.data(), "duress list analyses names them");
  }
  rt->direct = strcmp(options.chain_, "FastTrack") == 0;
  rt->engine.set_silent(rt->direct);
  rt->firsts = rt->direct || (rt->recorder && rt->recorder->first_only());
  rt->judges_atomics = rt->chain.has("FastTrack");
  if (rt->recorder && !rt->recorder->open(options.log_dir_)) fatal("cannot write a trace", "check log_dir");
  if (strcmp(options.volatile_, "relaxed") == 0) rt->volatile_mode = VolatileMode::kRelaxed;
  if (strcmp(options.volatile_, "acqrel") == 0) rt->volatile_mode = VolatileMode::kAcqRel;
  g_runtime = rt;
  if (rt->controlled) {
    rt->detecting = false;
  } else {
    rt->log_start();
    if (strcmp(options.model_, "sc") != 0) start_parallel_adversary(*rt);
    rt->enter_main_thread();
  }
  interceptors_ready();
  install_crash_handlers();
  if (rt->controlled) control_prepare();
  on_exit(at_exit, nullptr);
}

}  // namespace

void find_stack(Thread& t) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* begin = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &begin, &size);
  pthread_attr_destroy(&attributes);
  t.stack_begin = reinterpret_cast<uptr>(begin);
  t.stack_end = t.stack_begin + size;
}

Runtime::Runtime(const Options& parsed) : options(parsed) {}

Runtime* wake_for_check() {
  if (!g_runtime) {
    static constinit Options options;
    void* memory = map_memory(sizeof(Runtime));
    if (!memory) fatal("out of memory for the runtime");
    auto* rt = new (memory) Runtime(options);
    rt->detecting = false;
    rt->controlled = true;
    g_runtime = rt;
    for (u32 i = 0; i < known_count; ++i) rt->modules.add_instrumented(known_modules[i]);
    interceptors_ready();
  }
  if (g_runtime->points.empty()) {
    for (u32 i = 0; i < known_count; ++i) g_runtime->points.add(*known_modules[i]);
  }
  return g_runtime;
}

void Runtime::log_start() {
  static char buffer[1 << 16];
  Text text(arena);
  text.put('{').key("t").quoted("start").key("version").number(1);
  text.key("pid")
      .number(static_cast<u64>(process_number()))
      .key("ppid")
      .number(static_cast<u64>(raw_syscall(SYS_getppid)));
  long n = raw_syscall(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"), reinterpret_cast<long>(buffer),
                       sizeof buffer - 1);
  buffer[n > 0 ? n : 0] = 0;
  text.key("exe").quoted(buffer).key("argv").put('[');
  size_t size = read_small_file("/proc/self/cmdline", buffer, sizeof buffer);
  for (size_t at = 0; at < size; at += strlen(buffer + at) + 1) {
    if (at) text.put(',');
    text.quoted(buffer + at);
  }
  n = raw_syscall(SYS_getcwd, reinterpret_cast<long>(buffer), sizeof buffer);
  if (n <= 0) buffer[0] = 0;
  text.put(']')
      .key("cwd")
      .quoted(buffer)
      .key("chain")
      .quoted(options.chain_)
      .key("mode")
      .quoted(options.mode_)
      .put('}');
  log.write(text);
}

void Runtime::wake(const DuressModule* module) {
  modules.add_instrumented(module);
  if (controlled || g_parallel_adversary) return points.add(*module);
  bool faithful = !firsts || options.faithful_ || volatile_mode != VolatileMode::kPlain;
  memset(module->flags_begin, faithful ? DURESS_BODY_FAITHFUL : DURESS_BODY_CHECKED,
         static_cast<size_t>(module->flags_end - module->flags_begin));
}

Thread* Runtime::make_thread(Tid parent, StackId created_at, const VectorClock& creator) {
  SpinGuard guard(threads_lock);
  Slots::Taken taken = slots.take(creator);
  Tid tid = threads.add(parent, created_at, taken.slot, taken.first);
  return new (arena.allocate(sizeof(Thread))) Thread(arena, tid, taken.slot, taken.first);
}

void Runtime::enter_main_thread() {
  detecting = true;
  VectorClock nobody(arena);
  Thread* t = make_thread(Tid{0}, StackId{0}, nobody);
  find_main_stack(*t);
  enter_thread(t);
  engine.tell(*t, {SyncKind::kMap, t->stack_begin, t->stack_end - t->stack_begin});
}

void Runtime::enter_thread(Thread* t) {
  ThreadInfo& info = threads[t->tid];
  info.stack_begin = t->stack_begin;
  info.stack_end = t->stack_end;
  // No call chain can be deeper than its stack holds return addresses with alignment: 16 bytes each,
  // as much as a frame here takes. Programs that move their stack get 64 MiB at least.
  t->frames_bytes = t->stack_end - t->stack_begin;
  if (t->frames_bytes < (size_t{64} << 20)) t->frames_bytes = size_t{64} << 20;
  t->frames_begin = static_cast<DuressFrame*>(map_memory(t->frames_bytes));
  if (!t->frames_begin) fatal("out of memory for a thread's call stack", "raise 'ulimit -v'");
  t->os_id = thread_number();
  if (checking) {
    t->fasttrack.self = &__duress_self;
    __duress_self = {0, 0, t->frames_begin, __duress_no_reads, 0};
  } else {  // as in control_enter_strand(): no inline check fails, whatever FastTrack does to the other one
    __duress_self = {0, ~u64{0}, t->frames_begin, __duress_no_reads, 0};
  }
  t_current = t;
  fasttrack.attach(t->fasttrack);
  SpinGuard guard(threads_lock);
  t->next = live;
  live = t;
}

void Runtime::finish(int code) {
  if (finished.exchange(true)) return;
  if (controlled) {
    control_ended();
    if (!log.begun() && !detecting) return;
  }
  chain.finish(reporter);
  if (slots.inexact()) reporter.incomplete("more than 4096 threads ended without being joined");
  if (options.stats_) {
    threads_lock.lock();
    for (Thread* t = live; t; t = t->next) rules.add(t->fasttrack.rules);
    threads_lock.unlock();
    if (chain.has("FastTrack")) {
      rules.each([&](const char* name, u64 value) { reporter.stat(name, value); });
    }
    chain.counters(reporter);
    if (g_parallel_adversary) g_parallel_adversary->report();
    reporter.stat("races", reporter.races());
    reporter.stat("threads", threads.count());
    reporter.stat("collections", fasttrack.collections());
    reporter.stat("record chunks", fasttrack.record_chunks());
    reporter.stat("spill units", fasttrack.spills().units_in_use());
  }
  Text text(arena);
  text.put('{').key("t").quoted("end").key("exit").number(static_cast<u64>(code & 0xff)).put('}');
  log.write(text);
}

void Runtime::after_fork_in_child() {
  finished.store(false);
  modules.forget_logged();
  for (u32 i = 0; i < threads.count(); ++i) threads[static_cast<Tid>(i)].logged = false;
  if (controlled) {
    log.open_later(options.log_dir_, [] { g_runtime->log_start(); });
    control_after_fork_in_child();
    return;
  }
  if (!log.open(options.log_dir_)) fatal("cannot write to the log folder after fork");
  log_start();
  if (recorder) recorder->after_fork(options.log_dir_);
}

Thread* adopt_thread() {
  if (!g_runtime || t_ended || !g_runtime->detecting) return nullptr;
  // Who created this thread is unknown, so nothing it does could be ordered rightly: it is left alone.
  g_runtime->reporter.incomplete("a thread that was not created through pthread_create or thrd_create");
  t_ended = true;
  return nullptr;
}

// ---- sync.h: threads -------------------------------------------------------------------------------------

namespace {

StackId unwound_stack(Runtime& rt, Thread& t, uptr pc) {
  constexpr int kMost = 128;
  uptr frames[kMost];
  int count = unwind_stack(frames, kMost, pc);
  if (!count) return rt.context(t, pc);
  StackId stack{0};
  while (count > 0) stack = rt.stacks.push(stack, frames[--count]);
  return stack;
}

}  // namespace

Thread* thread_created(uptr pc) {
  Thread* parent = current_thread_or_adopt();
  InRuntime in(parent);
  if (!in.entered()) return nullptr;
  Runtime& rt = *g_runtime;
  Thread* t = rt.make_thread(parent->tid, unwound_stack(rt, *parent, pc), parent->clock.clock());
  StackId created_at = rt.threads[t->tid].created_at;
  rt.engine.thread_created(*parent, *t, {SyncKind::kThreadCreate, raw(t->tid), 0, {SiteId{0}, created_at}});
  return t;
}

void thread_path(Thread* t, u64 path) {
  g_runtime->threads[t->tid].path = path;
}

void thread_started(Thread* t) {
  if (!t) return;
  enter_runtime(t);
  find_stack(*t);
  Runtime& rt = *g_runtime;
  rt.enter_thread(t);
  rt.engine.thread_started(*t, {SyncKind::kThreadStart, 0, 0});
  if (rt.checking) rt.engine.fresh(*t, t->stack_begin, t->stack_end);
  rt.engine.tell(*t, {SyncKind::kMap, t->stack_begin, t->stack_end - t->stack_begin});
  t->in_runtime = false;
}

static void drop_reference(Thread* t) {
  if (t->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  Runtime& rt = *g_runtime;
  t->start.clear(rt.arena);
  t->end.clear(rt.arena);
  t->~Thread();
  rt.arena.free(t, sizeof(Thread));
}

void thread_ended() {
  Thread* t = t_current;
  if (!t) return;
  Runtime& rt = *g_runtime;
  enter_runtime(t);
  rt.engine.thread_ended(*t, {SyncKind::kThreadEnd, 0, 0});
  rt.fasttrack.detach(t->fasttrack);
  t->fasttrack.self = &t->idle_self;
  __duress_self = {0, 0, __duress_scratch_frames, __duress_no_reads, 0};
  t_ended = true;
  t_current = nullptr;
  {
    SpinGuard guard(rt.threads_lock);
    for (Thread** link = &rt.live; *link; link = &(*link)->next) {
      if (*link == t) {
        *link = t->next;
        break;
      }
    }
    ThreadInfo& info = rt.threads[t->tid];
    info.stack_begin = info.stack_end = 0;
    rt.rules.add(t->fasttrack.rules);
    rt.slots.give_back(t->clock.slot(), t->clock.own());
  }
  unmap_memory(t->frames_begin, t->frames_bytes);
  drop_reference(t);
}

void thread_not_created(Thread* t) {
  if (!t) return;
  {
    SpinGuard guard(g_runtime->threads_lock);
    g_runtime->slots.give_back(t->clock.slot(), t->clock.own());
  }
  drop_reference(t);
  drop_reference(t);
}

void thread_unreferenced(Thread* t) {
  if (t) drop_reference(t);
}

void thread_joined(Thread* joined, uptr) {
  if (!joined) return;
  Thread* t = current_thread();
  InRuntime in(t);
  if (in.entered()) {
    g_runtime->engine.thread_joined(*t, *joined, {SyncKind::kThreadJoin, raw(joined->tid), 0});
  }
  drop_reference(joined);
}

void thread_named(Thread* t, const char* name) {
  if (!t) t = current_thread();
  if (!t || !g_runtime) return;
  ThreadInfo& info = g_runtime->threads[t->tid];
  size_t n = strlen(name) < sizeof info.name - 1 ? strlen(name) : sizeof info.name - 1;
  memcpy(info.name, name, n);
  info.name[n] = 0;
  info.logged = false;
}

// ---- sync.h: the process
// -----------------------------------------------------------------------------------

void incomplete(const char* what) {
  if (g_runtime) g_runtime->reporter.incomplete(what);
}

void process_ending(int code) {
  if (!g_runtime) return;
  Thread* t = current_thread();
  InRuntime in(t);
  g_runtime->finish(code);
}

void before_exec(const char* path) {
  if (!g_runtime) return;
  Runtime& rt = *g_runtime;
  Text text(rt.arena);
  text.put('{').key("t").quoted("exec").key("path").quoted(path ? path : "").put('}');
  rt.log.write(text);
}

}  // namespace duress

// ---- entry points
// ----------------------------------------------------------------------------------------------

extern "C" __attribute__((visibility("default"))) void __duress_module_init(const DuressModule* module) {
  duress::start(environ);
  if (duress::known_count < duress::kMostModules) duress::known_modules[duress::known_count++] = module;
  if (duress::g_runtime) duress::g_runtime->wake(module);
}

// Before the constructors of any shared library: what they do is to be seen too.
static void duress_preinit(int, char**, char** environment) {
  duress::start(environment);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const duress_preinit_entry)(int, char**, char**) = duress_preinit;
