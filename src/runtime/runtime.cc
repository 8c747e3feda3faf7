// SPDX-License-Identifier: Apache-2.0
#include "runtime/runtime.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/check.h"
#include "runtime/control.h"
#include "runtime/debugger.h"
#include "runtime/parallel_adversary.h"
#include "runtime/preemption.h"
#include "runtime/site_units.h"
#include "runtime/startup.h"

namespace duress {

Runtime* g_runtime = nullptr;

namespace {

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

}  // namespace

Runtime::Runtime(const Options& parsed) : options(parsed) {}

void Runtime::log_start() {
  static char buffer[1 << 16];
  Text text(arena);
  text.put('{').key("t").quoted("start").key("version").number(1);
  text.key("pid")
      .number(static_cast<u64>(process_number()))
      .key("ppid")
      .number(static_cast<u64>(raw_syscall(SYS_getppid)));
  executable_path(buffer, sizeof buffer);
  text.key("exe").quoted(buffer).key("argv").put('[');
  size_t size = read_small_file("/proc/self/cmdline", buffer, sizeof buffer);
  for (size_t at = 0; at < size; at += strlen(buffer + at) + 1) {
    if (at) text.put(',');
    text.quoted(buffer + at);
  }
  long n = raw_syscall(SYS_getcwd, reinterpret_cast<long>(buffer), sizeof buffer);
  if (n <= 0) buffer[0] = 0;
  text.put(']')
      .key("cwd")
      .quoted(buffer)
      .key("chain")
      .quoted(options.chain_)
      .key("mode")
      .quoted(options.mode_);
  if (g_preloaded) text.key("preloaded").number(1);
  text.put('}');
  log.write(text);
}

bool Runtime::every_access() const {
  return controlled || g_parallel_adversary || !firsts || options.faithful_ ||
         volatile_mode != VolatileMode::kPlain;
}

void Runtime::wake(const DuressModule* module) {
  modules.add_instrumented(module);
  if (g_preloaded && !controlled) modules.log_new();  // the host wants to know that there is one
  bool attacked = controlled || g_parallel_adversary;
  bool faithful = every_access();
  if (faithful && is_only_checked(*module))
    fatal(
        "the program or one of its libraries was built with -fduress=run, which is only for duress run with "
        "FastTrack",
        "build it without -fduress=run");
  if (attacked) return points.add(*module);
  memset(module->flags_begin, faithful ? DURESS_BODY_FAITHFUL : DURESS_BODY_CHECKED,
         static_cast<size_t>(module->flags_end - module->flags_begin));
}

void Runtime::write_stats() {
  chain.counters(reporter);
  if (g_parallel_adversary) g_parallel_adversary->report();
  reporter.stat("races", reporter.races());
  reporter.stat("threads", threads.count());
  reporter.stat("collections", fasttrack.collections());
  reporter.stat("record chunks", fasttrack.record_chunks());
  reporter.stat("spill units", fasttrack.spills().units_in_use());
}

void Runtime::finish(int code) {
  if (finished.exchange(true)) return;
  if (controlled) {
    debugger_ending(code);
    control_ended();
    if (!log.begun() && !detecting) return;
  }
  chain.finish(reporter);
  if (slots.inexact()) reporter.incomplete("more than 4096 threads ended without being joined");
  if (options.stats_) write_stats();
  if (!controlled) modules.log_new();  // libraries that are not instrumented
  // Most executions of a campaign find nothing: they need no file.
  if (controlled && *options.server_ && !log.begun()) return;
  reporter.end(code);
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

// ---- sync.h: the process

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
  if (g_scheduler) preemption_end();
  Runtime& rt = *g_runtime;
  Text text(rt.arena);
  text.put('{').key("t").quoted("exec").key("path").quoted(path ? path : "").put('}');
  rt.log.write(text);
}

}  // namespace duress
