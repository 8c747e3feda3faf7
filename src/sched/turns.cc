// SPDX-License-Identifier: Apache-2.0
//
// The turn goes from one strand to the next: by a change of stacks where the carrier runs both, by a futex
// where a kernel thread must run its own strand. Both ways take the same decisions, so one trail gives the
// same execution on either.
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/check.h"
#include "sched/context.h"
#include "sched/scheduler.h"

namespace duress::sched {

namespace {

void give(std::atomic<u32>& turn) {
  turn.store(1, std::memory_order_release);
  raw_syscall(SYS_futex, reinterpret_cast<long>(&turn), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

void await(std::atomic<u32>& turn) {
  while (!turn.load(std::memory_order_acquire)) {
    raw_syscall(SYS_futex, reinterpret_cast<long>(&turn), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0);
  }
  turn.store(0, std::memory_order_relaxed);
}

void change_signal_mask(u64 mask, u64* before) {
  constexpr int kSetMask = 2;
  raw_syscall(SYS_rt_sigprocmask, kSetMask, reinterpret_cast<long>(&mask), reinterpret_cast<long>(before),
              sizeof mask);
}

/// A thread that has ended gives its stack and its heap arena back while it goes; which ones the next thread
/// gets must not depend on how fast it was.
void await_death(int os_id) {
  int process = process_number();
  if (os_id == process) return;  // the first thread stays as a zombie until the process ends
  while (raw_syscall(SYS_tgkill, process, os_id, 0) != -ESRCH) yield_processor();
}

}  // namespace

Strand* Scheduler::allocate_strand() {
  auto* s = new (arena_.allocate(sizeof(Strand))) Strand;
  s->parking_stack = static_cast<char*>(arena_.allocate(kParkingBytes));
  return s;
}

void Scheduler::enlist(Strand* s, uptr created_at) {
  if (made_ == capacity_) {
    u32 more = capacity_ ? capacity_ * 2 : 64;
    for (Strand*** list : {&ready_, &spinning_}) {
      auto** wider = static_cast<Strand**>(arena_.allocate(more * sizeof(Strand*)));
      for (u32 i = 0; i < capacity_; ++i) wider[i] = (*list)[i];
      if (capacity_) arena_.free(*list, capacity_ * sizeof(Strand*));
      *list = wider;
    }
    capacity_ = more;
  }
  s->number = made_++;
  s->state = Strand::State::kBlocked;
  s->home = request_->backend == trail::Backend::kThread;
  s->creator = running_ ? running_->number : 0;
  s->created_at = created_at;
  s->next = {};
  if (by_steps_) name_strand(s);
  (last_made_ ? last_made_->next_strand : all_) = s;
  last_made_ = s;
  ++alive_;
  record_->strands = made_;
}

Strand* Scheduler::make_strand(uptr created_at) {
  Strand* s = allocate_strand();
  enlist(s, created_at);
  if (s->number == 0) {
    s->thread_pointer = thread_pointer();
    s->os_id = thread_number();
    s->arrived.store(1);
  }
  return s;
}

void Scheduler::forget_strand(Strand* s) {
  s->state = Strand::State::kEnded;
  --alive_;
}

void Scheduler::launch(Strand* s) {
  need_carrier();  // also where it carries nobody: the heap must look the same on both backends
  s->state = Strand::State::kReady;
  add_ready(s);
  if (by_steps_ && running_) write_after(s, running_);
  changed();
}

void Scheduler::arrive(Strand* s) {
  s->thread_pointer = thread_pointer();
  s->os_id = thread_number();
  duress_context_leave(&s->stack_pointer, s->parking_stack + kParkingBytes, &Scheduler::park_new, s, this);
  after_switch(s);
}

void Scheduler::park_new(void* self, void*) {
  auto* s = static_cast<Strand*>(self);
  s->arrived.store(1, std::memory_order_release);
  raw_syscall(SYS_futex, reinterpret_cast<long>(&s->arrived), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
  await(s->turn);
  duress_context_resume(s->stack_pointer);
}

void Scheduler::hand_over(Strand* next) {
  ++turns_;
  running_ = next;
  if (next->home) {
    on_carrier_ = false;
    give(next->turn);
  } else {
    on_carrier_ = true;
    carrier_next_ = next;
    give(carrier_turn_);
  }
}

namespace {
Scheduler* g_parking = nullptr;  // the scheduler of this process, for kernel threads on their parking stacks
}

void Scheduler::park(void* self, void* next) {
  auto* s = static_cast<Strand*>(self);
  // Its stack and storage may be in use by the carrier: no handler may run here meanwhile.
  u64 all = ~u64{0}, before = 0;
  change_signal_mask(all, &before);
  g_parking->hand_over(static_cast<Strand*>(next));
  await(s->turn);
  change_signal_mask(before, nullptr);
  duress_context_resume(s->stack_pointer);
}

/// A new kernel thread finds its way to the parking place while its creator goes on.
void Scheduler::await_arrival(Strand* s) {
  while (!s->arrived.load(std::memory_order_acquire)) {
    raw_syscall(SYS_futex, reinterpret_cast<long>(&s->arrived), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0);
  }
}

void Scheduler::switch_to(Strand* next) {
  Strand* self = running_;
  if (next == self) return;
  if (DURESS_UNLIKELY(!next->arrived.load(std::memory_order_relaxed))) await_arrival(next);
  if (on_carrier_ && !next->home) {
    ++turns_;
    running_ = next;
    duress_context_switch(&self->stack_pointer, next->stack_pointer, next->thread_pointer);
  } else if (on_carrier_) {
    homeward_ = next;
    duress_context_switch(&self->stack_pointer, carrier_stack_pointer_, carrier_thread_pointer_);
  } else {
    g_parking = this;
    duress_context_leave(&self->stack_pointer, self->parking_stack + kParkingBytes, &Scheduler::park, self,
                         next);
  }
  after_switch(self);
}

/// First thing of a strand that got the turn.
void Scheduler::after_switch(Strand* self) {
  if (DURESS_UNLIKELY(dying_ != 0)) {
    await_death(dying_);
    dying_ = 0;
  }
  if (DURESS_UNLIKELY(self->called_back)) surroundings_.give_up(*self);
  while (DURESS_UNLIKELY(self->dump)) {
    self->dump = false;
    surroundings_.dump(*self);
    switch_to(dumper_);
  }
}

void Scheduler::go_home() {
  Strand* self = running_;
  self->home = true;
  if (!on_carrier_) return;
  homeward_ = self;
  duress_context_switch(&self->stack_pointer, carrier_stack_pointer_, carrier_thread_pointer_);
  after_switch(self);
}

void* Scheduler::run_carrier(void* data) {
  auto& scheduler = *static_cast<Scheduler*>(data);
  scheduler.carrier_thread_pointer_ = thread_pointer();
  for (;;) {
    await(scheduler.carrier_turn_);
    Strand* next = scheduler.carrier_next_;
    duress_context_switch(&scheduler.carrier_stack_pointer_, next->stack_pointer, next->thread_pointer);
    scheduler.hand_over(scheduler.homeward_);
  }
}

void Scheduler::need_carrier() {
  if (carrier_there_) return;
  prepare_contexts();
  if (!surroundings_.start_carrier(&Scheduler::run_carrier, this)) {
    fatal("cannot start the carrier thread", "raise 'ulimit -u'");
  }
  carrier_there_ = true;
}

void Scheduler::end() {
  Strand* self = running_;
  self->next.kind = OpKind::kEnd;
  remove_ready(self);
  self->state = Strand::State::kEnded;
  wake(reinterpret_cast<uptr>(self));
  changed();
  if (--alive_ == 0) return surroundings_.nobody_left();
  Strand* next = pick();
  if (!next->arrived.load(std::memory_order_relaxed)) await_arrival(next);
  dying_ = self->os_id;
  hand_over(next);
}

// ---- closures ----

void Strand::renew() {
  static_cast<StrandView&>(*this) = {};
  state = State::kReady;
  home = queued = stepping_back = cancelled = dump = detached = joined = false;
  wake = Wake::kNone;
  pending_signals = blocked_signals = 0;
  deadline = kNever;
  queue = relock = created_at = 0;
  next_in_queue = next_strand = next_spare = nullptr;
  held_count = 0;
  descriptors = nullptr;
  result = nullptr;
  creator = 0;
  name[0] = 0;
  at_step = false;
  children = 0;
  path = 0;
  spin = Spin();
  ends = Ends();
  for (Repeat& repeat : repeats) repeat.key = 0;
  for (Looks& look : looks) look = {};
}

Strand* Scheduler::make_spare() {
  prepare_contexts();
  return allocate_strand();
}

void Scheduler::begin_closure(const trail::Request& request, trail::Record* record) {
  running_ = all_ = last_made_ = nullptr;
  made_ = alive_ = 0;
  ready_count_ = spinning_count_ = descriptor_waiters_ = timed_ = 0;
  next_deadline_ = kNever;
  changes_ = turns_ = idle_ = now_ = clock_reads_ = clock_changes_ = 0;
  stopping_ = false;
  carrier_there_ = true;
  dumper_ = nullptr;
  if (objects_) {  // an execution that was abandoned left some
    for (Object*& bucket : buckets_) {
      while (Object* o = bucket) {
        bucket = o->next;
        arena_.free(o, sizeof(Object));
      }
    }
    objects_ = 0;
  }
  start(request, record);
}

void Scheduler::run(Strand* root) {
  on_carrier_ = true;
  running_ = root;
  await_arrival(root);
  carrier_thread_pointer_ = carrier_thread_pointer_ ? carrier_thread_pointer_ : thread_pointer();
  duress_context_switch(&carrier_stack_pointer_, root->stack_pointer, root->thread_pointer);
  on_carrier_ = false;
}

void Scheduler::end_job() {
  Strand* self = running_;
  self->next.kind = OpKind::kEnd;
  remove_ready(self);
  self->state = Strand::State::kEnded;
  wake(reinterpret_cast<uptr>(self));
  changed();
  if (--alive_ == 0) {
    duress_context_switch(&self->stack_pointer, carrier_stack_pointer_, carrier_thread_pointer_);
  } else {
    switch_to(pick());
  }
}

void Scheduler::abandon() {
  Strand* self = running_;
  self->in_job = true;  // also if it was about to end
  self->state = Strand::State::kBlocked;
  duress_context_switch(&self->stack_pointer, carrier_stack_pointer_, carrier_thread_pointer_);
  surroundings_.give_up(*self);
  __builtin_unreachable();
}

void Scheduler::call_back() {
  for (Strand* s = all_; s; s = s->next_strand) {
    if (s->state == Strand::State::kEnded) continue;
    if (s->in_job) {
      s->called_back = on_carrier_ = true;
      running_ = s;
      duress_context_switch(&carrier_stack_pointer_, s->stack_pointer, s->thread_pointer);
      s->called_back = on_carrier_ = false;
    }
    s->state = Strand::State::kEnded;
  }
}

void Scheduler::give_up_job() {
  Strand* self = running_;
  duress_context_switch(&self->stack_pointer, carrier_stack_pointer_, carrier_thread_pointer_);
}

void Scheduler::alone(trail::Record* record) {
  record_ = record;
  Strand* self = running_;
  for (Strand* s = all_; s; s = s->next_strand) {
    if (s != self) s->state = Strand::State::kEnded;
    s->deadline = kNever;
    s->descriptors = nullptr;
    s->queued = false;
  }
  for (Object*& bucket : buckets_) {
    for (Object* o = bucket; o; o = o->next) {
      o->first = o->last = nullptr;
      o->waiting = o->contenders = 0;
    }
  }
  ready_count_ = spinning_count_ = 0;
  timed_ = descriptor_waiters_ = 0;
  next_deadline_ = kNever;
  alive_ = 1;
  self->state = Strand::State::kReady;
  self->stepping_back = false;
  add_ready(self);
  carrier_there_ = false;
  on_carrier_ = false;
  dying_ = 0;
  self->os_id = thread_number();
}

}  // namespace duress::sched
