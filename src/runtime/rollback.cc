// SPDX-License-Identifier: Apache-2.0
#include "runtime/rollback.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/raw.h"
#include "runtime/control.h"
#include "runtime/preemption.h"
#include "runtime/rollback_ahead.h"
#include "runtime/rollback_state.h"
#include "runtime/runtime.h"
#include "runtime/thread_emulation.h"
#include "sched/context.h"

namespace duress {

RollbackState* g_rollback = nullptr;

namespace {

constexpr uptr kImageAddress = RollbackState::kAddress + (uptr{1} << 36);
constexpr u32 kMostFruitless = 4;  // children in a row that could not be rolled back: then
constexpr u32 kRetryAfter = 16;    // only one child in 16 tries

/// The runtime's own calls.
void note_raw_call(const long (&call)[5], long result) {
  RollbackState& s = *g_rollback;
  if (!s.active) return;
  switch (call[0]) {
    case SYS_write:
      s.record->wrote = 1;
      break;
    case SYS_openat:
    case SYS_fcntl:
    case SYS_pidfd_open:
      s.calls.made_descriptors = true;
      break;
    case SYS_setitimer:
      s.calls.set_timer = true;
      break;
    case SYS_brk:
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_mremap:
    case SYS_madvise:
      if (!s.memory.note_call(call, result)) rollback_refuse(trail::Rollback::kCall, call[0]);
      break;
    default:
      break;
  }
}

bool is_kept_mapping(uptr address, size_t bytes) {
  return g_rollback->active && g_rollback->memory.is_kept(address, bytes);
}
bool may_mapping_stay(uptr address, size_t bytes) {
  return g_rollback->active && g_rollback->memory.may_stay(address, bytes);
}

/// Out of the way of programs that count on low numbers; the server's other children close theirs. Negative:
/// impossible.
int moved_up(int fd) {
  constexpr int kLow = 190, kHigh = 1000;
  if (fd >= kLow) return fd;
  long high = raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kHigh);
  raw_syscall(SYS_close, fd);
  return static_cast<int>(high);
}

void reply(RollbackState& s, int status) {
  trail::Reply text = {s.process, status};
  write_all(s.out, reinterpret_cast<const char*>(&text), sizeof text);
}

/// Waits for the host's next request. Returns which.
char await_request(RollbackState& s) {
  for (;;) {
    char command = 0;
    long n = raw_syscall(SYS_read, s.in, reinterpret_cast<long>(&command), 1);
    if (n == -EINTR) continue;
    if (n <= 0 || command == trail::kEndKept) exit_process(0);
    if (command == trail::kRun || command == trail::kRunKept) return command;
  }
}

/// The first thread's stack grows when it is touched, and what has grown stays: executions that recurse
/// deeply would all have to end their process. The kernel is made to write there, because it reports where a
/// stack cannot grow.
void grow_stack(uptr at) {
  constexpr uptr kMost = uptr{4} << 20;
  rlimit limit;
  if (raw_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, reinterpret_cast<long>(&limit)) != 0) return;
  uptr room = limit.rlim_cur / 2 < kMost ? limit.rlim_cur / 2 : kMost;
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, static_cast<long>((at - room) & ~uptr{7}), sizeof(u64));
}

// ---- On the stack of the state: all others are put back.

void take_image(void*, void*) {
  RollbackState& s = *g_rollback;
  grow_stack(reinterpret_cast<uptr>(s.resume));
  if (s.in >= 0 && s.out >= 0 && s.memory.take(kImageAddress) && s.calls.prepare()) {
    s.calls.patches.begin();
    s.active = true;
    s.calls.watch(true);
  } else {
    rollback_refuse(trail::Rollback::kUnsupported);
  }
  sched::duress_context_resume(s.resume);
}

void take_checkpoint(void*, void*) {
  RollbackState& s = *g_rollback;
  s.checkpoint.is_valid = s.calls.is_untouched() &&
                          s.checkpoint.save(*control_request(), *s.record, *control_step_log()) &&
                          s.memory.take_checkpoint();
  s.checkpoint.thread_pointer = sched::thread_pointer();
  s.checkpoint.staying_mappings = s.memory.stayed;
  s.calls.watch(true);
  sched::duress_context_resume(s.checkpoint.resume);
}

/// If the request leads to the checkpoint, the execution begins there.
void begin_at_checkpoint(RollbackState& s) {
  Checkpoint& checkpoint = s.checkpoint;
  if (!checkpoint.is_valid) return;
  if (s.memory.has_checkpoint() && checkpoint.leads_here(*control_request(), *control_step_log())) {
    if (checkpoint.mismatches != 0) --checkpoint.mismatches;
    checkpoint.restore(*s.record, *control_step_log());
    checkpoint.resumed = true;
    s.memory.begin_at_checkpoint(checkpoint.staying_mappings);
    if (s.calls.reached_before) control_rewind_input();
    if (s.calls.set_timer) preemption_begin();
    s.calls.set_timer = false;
    s.active = true;
    s.calls.watch(true);
    sched::set_thread_pointer(checkpoint.thread_pointer);
    sched::duress_context_resume(checkpoint.resume);
  }
  checkpoint.is_valid = false;
  checkpoint.attempts = 0;
  ++checkpoint.mismatches;
  s.memory.leave_checkpoint();
}

void put_back(void*, void*) {
  RollbackState& s = *g_rollback;
  s.active = false;
  s.calls.undo();
  if (!s.memory.put_back()) {
    rollback_refuse(trail::Rollback::kMappings);
    exit_process(s.code);
  }
  s.record->rollback = trail::Rollback::kDone;
  s.fruitless = 0;
  s.undone = true;
  bool goes_on = s.performs_ahead && (s.code & 0xff) == 0 &&
                 rollback_begin_ahead(*control_own_request(), *s.record, *control_step_log());
  if (!goes_on) {
    s.waiting.store(0);
    reply(s, (s.code & 0xff) << 8);
  }
  s.calls.patches.patch_next(
      [](uptr at, uptr* begin, uptr* end) { return g_rollback->memory.find_mapping(at, begin, end); });
  if (!goes_on) {
    char command = await_request(s);
    s.waiting.store(1);
    if (command == trail::kRun) reply(s, -1);
  }
  begin_at_checkpoint(s);
  if (control_uses_clocks()) s.memory.put_back_tables();
  s.active = true;
  s.calls.watch(true);
  sched::duress_context_resume(s.resume);
}

}  // namespace

// ---- the server

bool rollback_prepare_server(u32 patch_after) {
  long at = raw_syscall(SYS_mmap, RollbackState::kAddress, sizeof(RollbackState), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1);
  if (at != static_cast<long>(RollbackState::kAddress)) return false;
  g_rollback = reinterpret_cast<RollbackState*>(at);
  g_rollback->calls.patches.patch_after(patch_after);
  return true;
}

bool rollback_wanted() {
  if (!g_rollback) return false;
  RollbackState& s = *g_rollback;
  s.waiting.store(1);
  s.active = s.serving = false;  // the last child may have died at any moment
  u32 child = s.children++;
  if (child == 0) return false;  // most servers that run one execution run no other
  if (s.fruitless >= kMostFruitless && child % kRetryAfter != 0) return false;
  ++s.fruitless;
  return true;
}

bool rollback_child_ended() {
  return !g_rollback || g_rollback->waiting.exchange(0) != 0;
}

// ---- the child

void rollback_serve(int in, int out) {
  RollbackState& s = *g_rollback;
  s.in = moved_up(in);
  s.out = moved_up(out);
  s.process = process_number();
  s.thread_pointer = sched::thread_pointer();
  s.record = control_record();
  s.memory.user_faults = s.memory.page_map = s.memory.size_file = -1;
  s.calls.reset();
  s.checkpoint.reset(g_runtime->options.checkpoint_ != 0);
  s.performs_ahead = g_runtime->options.ahead_ != 0;
  s.serving = true;
  s.undone = false;
  sched::prepare_contexts();
  control_processor_begin();
  raw_syscall(SYS_prctl, PR_SET_THP_DISABLE, 1, 0, 0, 0);
  g_on_raw_call = note_raw_call;
  g_own_mappings.is_there = is_kept_mapping;
  g_own_mappings.keeps = may_mapping_stay;
  sched::duress_context_leave(&s.resume, s.stack + sizeof s.stack, &take_image, nullptr, nullptr);
}

void rollback_refuse(trail::Rollback why, long call) {
  if (!g_rollback || !g_rollback->serving) return;
  RollbackState& s = *g_rollback;
  s.active = s.serving = false;
  g_on_raw_call = nullptr;
  g_own_mappings.is_there = g_own_mappings.keeps = nullptr;
  s.calls.give_up();
  for (int fd : {s.in, s.out, s.memory.user_faults, s.memory.page_map, s.memory.size_file}) {
    if (fd >= 0) raw_syscall(SYS_close, fd);
  }
  s.record->rollback = why;
  s.record->rollback_call = static_cast<u32>(call);
  g_rollback = nullptr;  // the server's next child will use it
  emulation_without_rollback();
}

void rollback_unused() {
  g_rollback = nullptr;
}

bool rollback_at_first_choice() {
  if (!g_rollback || !g_rollback->active) return false;
  RollbackState& s = *g_rollback;
  if (!s.checkpoint.wanted(*control_request(), *s.record)) return false;
  ++s.checkpoint.attempts;
  s.checkpoint.resumed = false;
  s.calls.watch(false);
  sched::duress_context_leave(&s.checkpoint.resume, s.stack + sizeof s.stack, &take_checkpoint, nullptr,
                              nullptr);
  return s.checkpoint.resumed;
}

void rollback_end(int code) {
  if (!g_rollback || !g_rollback->active) return;
  RollbackState& s = *g_rollback;
  s.calls.watch(false);
  s.code = code;
  access_watch_end(*s.record);
  // Strands that have not ended are forgotten with their stacks.
  sched::set_thread_pointer(s.thread_pointer);
  sched::duress_context_leave(&s.left, s.stack + sizeof s.stack, &put_back, nullptr, nullptr);
}

bool rollback_watches_calls() {
  return g_rollback && g_rollback->active;
}

}  // namespace duress
