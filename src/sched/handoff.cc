// SPDX-License-Identifier: Apache-2.0
#include "sched/handoff.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/check.h"
#include "base/raw.h"
#include "sched/context.h"

namespace duress::sched {

namespace {

void futex_wake(std::atomic<u32>& word) {
  word.store(1, std::memory_order_release);
  raw_syscall(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

void futex_await(const std::atomic<u32>& word) {
  while (!word.load(std::memory_order_acquire)) {
    raw_syscall(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0);
  }
}

void await_turn(std::atomic<u32>& turn) {
  futex_await(turn);
  turn.store(0, std::memory_order_relaxed);
}

void change_signal_mask(u64 mask, u64* before) {
  constexpr int kSetMask = 2;
  raw_syscall(SYS_rt_sigprocmask, kSetMask, reinterpret_cast<long>(&mask), reinterpret_cast<long>(before),
              sizeof mask);
}

/// A thread that has ended gives its stack and its heap arena back on its way out; which ones the next thread
/// gets must not depend on how fast it was.
void await_death(int os_id) {
  int process = process_number();
  if (os_id == process) return;  // the first thread stays as a zombie until the process ends
  while (raw_syscall(SYS_tgkill, process, os_id, 0) == 0) yield_processor();
}

/// A new kernel thread is on its way to its parking stack while its creator goes on.
void await_arrival(const Strand* s) {
  if (DURESS_UNLIKELY(!s->kernel.arrived.load(std::memory_order_relaxed))) futex_await(s->kernel.arrived);
}

}  // namespace

void Handoff::arrive(Strand* s) {
  KernelThread& kernel = s->kernel;
  kernel.thread_pointer = thread_pointer();
  kernel.os_id = thread_number();
  duress_context_leave(&kernel.stack_pointer, kernel.parking_stack + kParkingBytes, &Handoff::park_new, s,
                       this);
  await_last_end();
}

void Handoff::arrive(Strand* s, void* load, uptr storage) {
  KernelThread& kernel = s->kernel;
  kernel.thread_pointer = thread_pointer();
  kernel.arrived.store(1, std::memory_order_relaxed);
  duress_context_switch(&kernel.stack_pointer, load, storage);
}

void Handoff::park_new(void* strand, void*) {
  KernelThread& kernel = static_cast<Strand*>(strand)->kernel;
  futex_wake(kernel.arrived);
  await_turn(kernel.turn);
  duress_context_resume(kernel.stack_pointer);
}

void Handoff::park(void* strand, void* data) {
  KernelThread& kernel = static_cast<Strand*>(strand)->kernel;
  auto& handoff = *static_cast<Handoff*>(data);
  // Another kernel thread may look at its stack: no handler may run here meanwhile.
  u64 all = ~u64{0}, before = 0;
  change_signal_mask(all, &before);
  handoff.hand_over(handoff.return_target_);
  await_turn(kernel.turn);
  change_signal_mask(before, nullptr);
  duress_context_resume(kernel.stack_pointer);
}

/// On a kernel thread that has no strand to run: the last thing it does before it waits for its turn.
void Handoff::hand_over(Strand* next) {
  ++turns_;
  running_ = next;
  futex_wake(next->kernel.turn);
}

void Handoff::switch_to(Strand* next) {
  Strand* self = running_;
  KernelThread& kernel = self->kernel;
  await_arrival(next);
  if (on_carrier_) {
    ++turns_;
    running_ = next;
    duress_context_switch(&kernel.stack_pointer, next->kernel.stack_pointer, next->kernel.thread_pointer);
  } else {
    return_target_ = next;
    duress_context_leave(&kernel.stack_pointer, kernel.parking_stack + kParkingBytes, &Handoff::park, self,
                         this);
    await_last_end();
  }
}

void Handoff::await_last_end() {
  if (DURESS_LIKELY(ending_ == 0)) return;
  await_death(ending_);
  ending_ = 0;
}

void Handoff::end(Strand* next) {
  await_arrival(next);
  if (on_carrier_) {
    return_target_ = next;
    return;
  }
  ending_ = running_->kernel.os_id;
  hand_over(next);
}

void Handoff::leave_ended() {
  ++turns_;
  Strand* next = running_ = return_target_;
  void* nowhere = nullptr;
  duress_context_switch(&nowhere, next->kernel.stack_pointer, next->kernel.thread_pointer);
  __builtin_unreachable();
}

void Handoff::run(Strand* s) {
  on_carrier_ = true;
  running_ = s;
  await_arrival(s);
  if (!carrier_thread_pointer_) carrier_thread_pointer_ = thread_pointer();
  duress_context_switch(&carrier_stack_pointer_, s->kernel.stack_pointer, s->kernel.thread_pointer);
  on_carrier_ = false;
}

void Handoff::leave() {
  duress_context_switch(&running_->kernel.stack_pointer, carrier_stack_pointer_, carrier_thread_pointer_);
}

void Handoff::alone() {
  ending_ = 0;
  running_->kernel.os_id = thread_number();
}

}  // namespace duress::sched
