// SPDX-License-Identifier: Apache-2.0
//
// How the runtime starts: from .preinit_array, before the constructors of any library, when DURESS_OPTIONS
// names a log folder; never in a program with raised privileges; or late, when a test calls duress::check.
// Otherwise every function runs its plain body.
#include "runtime/startup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "runtime/control.h"
#include "runtime/crash.h"
#include "runtime/own_file.h"
#include "runtime/parallel_adversary.h"
#include "runtime/runtime.h"
#include "runtime/tsan_hooks.h"

namespace duress {

bool g_preloaded = false;

namespace {

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

constexpr char kOptionsName[] = "DURESS_OPTIONS=";

void at_exit(int code, void*) {
  process_ending(code);
}

/// The entry of DURESS_OPTIONS in the environment, or null.
char** find_options(char** environment) {
  for (; environment && *environment; ++environment) {
    if (strncmp(*environment, kOptionsName, sizeof kOptionsName - 1) == 0) return environment;
  }
  return nullptr;
}

/// What a program with raised privileges starts may have lost the mark that it has them: it must not see the
/// options of the user either.
void remove_options(char** environment) {
  while (char** entry = find_options(environment)) {
    for (; *entry; ++entry) entry[0] = entry[1];
  }
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

/// In controlled executions the file is made with its first line: most find nothing.
void open_log(Runtime& rt) {
  const char* folder = rt.options.log_dir_;
  bool open = rt.controlled ? rt.log.open_later(folder, [] { g_runtime->log_start(); }) : rt.log.open(folder);
  if (!open) fatal("cannot write to the log folder", "log_dir in DURESS_OPTIONS must be a folder of yours");
}

void build_chain(Runtime& rt, Arena& arena) {
  const Options& options = rt.options;
  const char* bad;
  if (!rt.chain.build(options.chain_, &make_tool, &rt, &bad)) {
    Text message(arena);
    message.put("the chain of analyses is wrong at '").put(bad).put('\'').put('\0');
    fatal(message.data(), "duress list analyses names them");
  }
  rt.direct = rt.chain.is_inline();
  rt.engine.set_silent(rt.direct);
  rt.firsts = rt.direct || (rt.recorder && rt.recorder->first_only());
  rt.checks_atomics = rt.chain.has_inline_path();
  if (rt.recorder && !rt.recorder->open(options.log_dir_)) fatal("cannot write a trace", "check log_dir");
}

/// Called once, as early as an instrumented module allows. The C library's own `environ` may not be set yet.
void start(char** environment) {
  static bool started = false;
  if (started) return;
  started = true;
  if (has_raised_privileges()) return remove_options(environment);
  char** entry = find_options(environment);
  if (!entry) return;
  static Arena option_arena;
  static Options options;
  options.parse(*entry + sizeof kOptionsName - 1, option_arena);
  if (options.help_) Options::print_help();
  if (!*options.log_dir_) return;
  if (*options.record_ && control_taken(options.record_)) return;
  void* memory = map_memory(sizeof(Runtime));
  if (!memory) fatal("out of memory for the runtime");
  if (modules_have("libtsan.so"))
    fatal("the program or one of its libraries is linked with libtsan, ThreadSanitizer's own runtime",
          "link it without: compile with -fsanitize=thread, link by duress-c++");
  auto* rt = new (memory) Runtime(options);
  rt->controlled = strcmp(options.mode_, "controlled") == 0;
  if (!rt->controlled && strcmp(options.mode_, "free") != 0) fatal("option mode must be free or controlled");
  open_log(*rt);
  if (!rt->shadow.open(DURESS_SHADOW_TABLE)) {
    fatal("cannot map the shadow table at 0x7fe00000", "something else is there, or 'ulimit -v' is too low");
  }
  build_chain(*rt, option_arena);
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
  tsan_hooks_wake(*rt, rt->every_access());
  interceptors_ready();
  install_crash_handlers();
  if (rt->controlled) control_prepare();
  on_exit(at_exit, nullptr);
}

}  // namespace

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
    tsan_hooks_wake(*rt, true);
    interceptors_ready();
  }
  if (g_runtime->points.empty()) {
    for (u32 i = 0; i < known_count; ++i) g_runtime->points.add(*known_modules[i]);
  }
  return g_runtime;
}

}  // namespace duress

extern "C" __attribute__((visibility("default"))) void __duress_module_init(const DuressModule* module) {
  duress::start(environ);
  if (duress::known_count < duress::kMostModules) duress::known_modules[duress::known_count++] = module;
  if (duress::g_runtime) duress::g_runtime->wake(module);
}

extern "C" void duress_start(char** environment) {
  duress::start(environment);
}

// The same function under a name that no other module can define: preload.cc compares the two.
extern "C" __attribute__((visibility("hidden"), alias("__duress_module_init"))) void duress_own_module_init(
    const DuressModule* module);
