// SPDX-License-Identifier: Apache-2.0
#include "runtime/preemption.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>

#include "base/raw.h"
#include "runtime/call_trap.h"
#include "runtime/control.h"
#include "runtime/sync.h"

extern "C" {
// First and last in the archive, and so around the runtime's code in the executable.
__attribute__((visibility("hidden"))) void duress_text_begin();
__attribute__((visibility("hidden"))) void duress_text_end();
}

namespace duress {
namespace {

constexpr long kTick = 10'000;     // microseconds of processor time
constexpr u32 kFirstSamples = 10;  // ticks at one place before a strand is taken to spin there
constexpr u32 kKnownSamples = 2;   // the same at the place where one has spun before
constexpr uptr kLoop = 256;        // bytes: such a loop is short
constexpr int kMostChanging = 2;   // registers: the value that was seen, a counter

struct Range {
  uptr low, high;
  bool contains(uptr p) const { return p >= low && p < high; }
};
/// Code that takes locks of its own: a strand is not interrupted there.
constexpr u32 kMostLibraries = 16;
constinit Range libraries[kMostLibraries] = {};
constinit u32 library_count = 0;

/// What was seen of the running strand since its last point.
struct Samples {
  u64 steps;
  u32 count;
  uptr low, high;
  greg_t registers[REG_RSP + 1];  // all general ones
  bool changed[REG_RSP + 1];
};
constinit Samples samples = {};
constinit Range known_loop = {};

bool is_own_code(uptr pc) {
  Range runtime = {address_of(reinterpret_cast<void*>(duress_text_begin)),
                   address_of(reinterpret_cast<void*>(duress_text_end))};
  if (runtime.low >= runtime.high || runtime.contains(pc)) return true;  // or not known
  for (u32 i = 0; i < library_count; ++i) {
    if (libraries[i].contains(pc)) return true;
  }
  return false;
}

/// Adds what is seen now. True: the strand spins.
bool spins(const greg_t* registers, u64 steps) {
  auto pc = static_cast<uptr>(registers[REG_RIP]);
  uptr low = pc < samples.low ? pc : samples.low, high = pc > samples.high ? pc : samples.high;
  if (samples.count == 0 || samples.steps != steps || high - low > kLoop) {
    samples = {steps, 1, pc, pc, {}, {}};
    memcpy(samples.registers, registers, sizeof samples.registers);
    return false;
  }
  samples.low = low;
  samples.high = high;
  int changing = 0;
  for (int i = 0; i <= REG_RSP; ++i) {
    samples.changed[i] = samples.changed[i] || samples.registers[i] != registers[i];
    changing += samples.changed[i];
  }
  if (changing > kMostChanging) {
    samples.count = 0;
    return false;
  }
  u32 wanted = known_loop.contains(pc) ? kKnownSamples : kFirstSamples;
  return ++samples.count >= wanted;
}

void on_tick(int, siginfo_t*, void* data) {
  const greg_t* registers = static_cast<ucontext_t*>(data)->uc_mcontext.gregs;
  auto pc = static_cast<uptr>(registers[REG_RIP]);
  if (is_own_code(pc) || !g_scheduler || !controlled()) return;
  if (!spins(registers, scheduler().record().steps)) return;
  known_loop = {samples.low > kLoop ? samples.low - kLoop : 0, samples.high + kLoop};
  samples.count = 0;
  int saved = errno;
  incomplete(
      "a thread that spins where it cannot be watched, in code that is not instrumented or on a plain "
      "variable, is interrupted by the clock: replays may differ");
  scheduler().preempt(pc);
  errno = saved;
}

void set_timer(long microseconds) {
  itimerval time = {{0, microseconds}, {0, microseconds}};
  raw_syscall(SYS_setitimer, ITIMER_PROF, reinterpret_cast<long>(&time), 0);
}

int add_library(dl_phdr_info* info, size_t, void*) {
  static constexpr const char* kNames[] = {"libc.so",  "ld-linux", "libpthread", "libstdc++",
                                           "libgcc_s", "libm.so",  "vdso"};
  bool known = false;
  for (const char* name : kNames) known |= info->dlpi_name && strstr(info->dlpi_name, name) != nullptr;
  if (!known || library_count == kMostLibraries) return 0;
  Range range = {~uptr{0}, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    uptr begin = info->dlpi_addr + part.p_vaddr;
    if (begin < range.low) range.low = begin;
    if (begin + part.p_memsz > range.high) range.high = begin + part.p_memsz;
  }
  libraries[library_count++] = range;
  return 0;
}

}  // namespace

void preemption_prepare() {
  dl_iterate_phdr(add_library, nullptr);
}

void preemption_begin() {
  set_signal_handler(kPreemptionSignal, on_tick, SA_RESTART, nullptr);
  set_timer(kTick);
}

void preemption_end() {
  set_timer(0);
}

}  // namespace duress
