// SPDX-License-Identifier: Apache-2.0
//
// One strand at a time. A strand runs until its next schedule point, where the strategy chooses who goes on;
// a strand that must wait is not among the candidates until another one's action wakes it. So blocking is
// decided here and not by the kernel: a deadlock is an empty run queue, a timeout is a choice, and the same
// choices make the same execution.
//
// The runtime decides what blocks: it calls point() before an operation, tries the real operation, and calls
// block() if that would wait.
//
// Parts: RunQueue (who can run), WaitQueues (who waits where), Timers, DescriptorWaits, Choices (strategy and
// record), Handoff (gives the turn to another strand), StepRecorder and SpinDetector (systematic executions).
// This class is the glue. It is implemented in scheduler.cc (points, waits, who is next), locks.cc,
// threads.cc, alarms.cc (timers of the program), stepping.cc (systematic executions) and wait_outcome.cc.
//
// Threads: all of it belongs to whichever strand is running. Kernel threads hand the turn to each other
// through futexes (Handoff), which order everything.
#pragma once

#include <atomic>

#include "base/arena.h"
#include "sched/callbacks.h"
#include "sched/choices.h"
#include "sched/descriptors.h"
#include "sched/handoff.h"
#include "sched/observer.h"
#include "sched/run_queue.h"
#include "sched/spin_detector.h"
#include "sched/step_recorder.h"
#include "sched/timers.h"
#include "sched/wait_queues.h"

namespace duress::sched {

class Scheduler {
 public:
  Scheduler(Arena& arena, const Callbacks& callbacks) : arena_(arena), callbacks_(callbacks) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// The calling thread becomes strand 0 of a new execution. Its kernel thread runs all strands, which have
  /// none of their own, if the runtime emulates those.
  Strand* begin(const trail::Request& request, trail::Record* record, bool emulates_threads);
  bool emulates_threads() const { return emulates_threads_; }

  Strand* running() const { return handoff_.running(); }
  Strand* strands() const { return execution_.first; }
  const trail::Request& request() const { return choices_.request(); }
  trail::Record& record() { return choices_.record(); }

  // ---- the running strand
  /// A schedule point: it is about to perform `operation`, others may go first.
  void point(const Operation& operation);
  /// It did something that another strand could see.
  void changed() {
    ++execution_.changes;
    execution_.idle = 0;
    if (DURESS_UNLIKELY(systematic_) && running()) running()->spin.forget();
    if (DURESS_UNLIKELY(queue_.spinning_count() != 0)) queue_.release_spinning();
  }
  /// Whether a plain load need not be a schedule point (Repetition).
  bool throttle_load(uptr site) { return running()->repetition.throttle_load(site, execution_.changes); }
  /// All strands have spun for long and nothing changed. Whoever can compute the local state of the running
  /// strand passes it to note_state(): a strand that keeps coming to new states computes something, and is
  /// not stuck.
  bool suspects_livelock() const { return execution_.suspects_livelock; }
  void note_state(u64 state) {
    if (running()->repetition.note_state(state)) return;
    execution_.suspects_livelock = false;
    execution_.idle = 0;
  }
  /// Lets every other strand that can run go first, once.
  void yield(uptr place);
  /// It spins between two points: the others go first, until none of them can run.
  void preempt(uptr place);
  /// Waits in `queue` until woken, or until the deadline.
  Wake block(const Operation& operation, uptr queue, u64 deadline = kNever);
  /// Waits until one of the descriptors is ready, or until the deadline.
  Wake block_on_descriptors(const Operation& operation, pollfd* descriptors, u32 count,
                            u64 deadline = kNever);
  /// Wakes up to `most` of those that wait; which ones is a choice.
  u32 wake(uptr queue, u32 most = ~0u);
  void interrupt(Strand* strand);
  /// A strand that waits is to look after its signals, and to wait on afterwards.
  void visit(Strand* strand);
  u32 choose(ValueKind kind, u32 count) { return choices_.choose(kind, count); }
  u32 decide(ValueKind kind, u32 count, u32 wanted) { return choices_.decide(kind, count, wanted); }

  // ---- locks (locks.cc)
  /// Comes to an exclusive lock: waits while another strand holds it. False: the deadline passed.
  bool approach_lock(const Operation& operation, bool reentrant, u64 deadline = kNever);
  void lock_taken(uptr lock);
  void lock_given(uptr lock);
  /// Its holder ends; a robust mutex can then be locked by another.
  void lock_abandoned(uptr lock);
  /// Whether a strand waits to lock it exclusively.
  bool is_wanted(uptr lock) const;
  Strand* holder_of(uptr lock) const { return queues_.holder_of(lock); }
  /// Whether another strand waits at that lock, semaphore or condition, and cannot go on.
  bool is_waited_at(uptr object) const;
  /// Marks the operation if it is half of a deadlock that the request is after.
  void name_lock(Operation& operation) const;

  // ---- attention: something is to be done by a strand when it has passed a point (signals)
  /// `route` gives what came from outside to a strand, while none runs.
  void set_attention(void (*attend)(Strand& strand), void (*route)()) {
    attend_ = attend;
    route_ = route;
  }
  /// Async-signal-safe.
  void attend() { attention_.store(true, std::memory_order_relaxed); }

  // ---- timers of the program (alarms.cc)
  /// The numbers of alarms begin here: by default strands go first.
  static constexpr u32 kFirstAlarm = 1 << 20;
  Strand* make_alarm(void (*expire)(Strand& alarm), void* owner);
  /// It expires at that time, or earlier if the schedule says so and `early` allows it. kNever: it is off.
  void set_alarm(Strand* alarm, u64 deadline, uptr place);
  /// Its schedule is known while this is true; the running strand is never alone then.
  bool any_alarm() const { return execution_.first_alarm && timers_.any(); }

  // ---- threads (threads.cc)
  /// The running strand is about to create another. No choice: what others do before it or after it is the
  /// same.
  void creates(uptr place);
  /// `start_key`: equal for strands that begin alike; 0: not known.
  Strand* make_strand(uptr created_at, u64 start_key = 0);
  void forget_strand(Strand* strand);  // its thread could not be made
  /// In the creator, after the kernel thread was made: the strand may be chosen from now on.
  void launch(Strand* strand);
  /// After that, as the last thing that creating it does: the new strand may run before its creator goes on.
  void created(uptr place);
  /// Whether that is a choice. The runtime creates strands of its own that must not run before it knows them.
  void set_creations_are_points(bool yes) { creations_are_points_ = yes; }
  /// In the new thread, on its own kernel thread: returns when it is chosen for the first time.
  void arrive(Strand* strand);
  /// The same of a strand without one, whose creator waits at `load` with that storage.
  void arrive(Strand* strand, void* load, uptr storage);
  /// The running strand ends. Its kernel thread goes on alone and must not call anything here; if it has
  /// none, it goes on to leave_ended().
  void end();
  [[noreturn]] void leave_ended() { handoff_.leave_ended(); }
  /// After fork in the child: the running strand is the only one.
  void alone(trail::Record* record);

  // ---- executions of a closure on pooled strands (duress::check). The calling thread is the carrier.
  /// A strand that is in no execution yet; its kernel thread is to call arrive().
  Strand* make_spare();
  /// A new execution begins; nobody runs yet.
  void begin_closure(const trail::Request& request, trail::Record* record);
  /// A spare one joins the execution as its youngest strand. launch() makes it run.
  void enlist(Strand* strand, uptr created_at);
  /// Runs `root` and whoever it starts until all have ended, or until abandon().
  void run(Strand* root) { handoff_.run(root); }
  /// The running strand has done its job. Returns when it is given another one, in a later execution.
  void end_job();
  /// Leaves the execution as it is, from within; run() returns.
  [[noreturn]] void abandon();
  /// After that: those that have not ended give up their jobs, so that they can be used again. What their
  /// stacks held is gone, no destructor runs.
  void call_back();
  /// Returns when the strand is given another job.
  void give_up_job() { handoff_.leave(); }

  /// The process or the execution ends: the strategy completes the record.
  void finish();
  /// The running strand made a mistake: the execution ends (trail/outcome.h).
  [[noreturn]] void misuse(trail::Outcome outcome) {
    if (systematic_) leave(running()->next.place);
    stop(outcome);
  }

  // ---- time, virtual, in nanoseconds
  u64 now() const { return explores_timeouts() && running() ? running()->outcomes.time : timers_.now(); }
  /// A read of a clock: time goes on, and faster if nothing else happens in between.
  u64 read_clock();

  // ---- systematic executions (Request::systematic, stepping.cc)
  bool is_systematic() const { return systematic_; }
  /// Where their steps are written.
  void set_step_log(exhaustive::StepLog* log) { recorder_.set_log(log); }
  exhaustive::StepLog& step_log() { return recorder_.log(); }
  /// A reason why the exploration is not complete (StepLog::Limit), met at that operation of the running
  /// strand. REQUIRES: the execution is systematic.
  void limit(u32 reason, const Operation& operation) { recorder_.limit(reason, operation); }
  /// Under a memory model: the age of the store that the running strand's step shall read or follow, and
  /// where it writes which one it was. Null: no room.
  u32 wanted_age() const { return choices_.wanted_at(recorder_.steps() - 1); }
  exhaustive::Step* last_step() { return recorder_.last(); }
  /// The running strand wrote plain memory that others may know.
  void wrote_plain() { running()->spin.wrote = true; }
  /// The program itself reads a clock. Its values are not explored.
  void note_clock() {
    if (systematic_) recorder_.limit(exhaustive::StepLog::kClock);
  }
  /// The running strand ends the process, by itself or by a failure: a choice like any other. In systematic
  /// executions, after all others have come as far as they can.
  void leave(uptr place);

  // ---- what programs say (duress/annotate.h)
  /// A number below `count`; in systematic executions a step, or several, with an alternative for each.
  u32 nondet(u32 count, uptr place);
  /// The execution is of no interest: it ends, after all others have come as far as they can.
  [[noreturn]] void assumption_failed(uptr place);

  // ---- how waits end, in systematic executions that explore it (wait_outcome.cc)
  /// The running strand comes to a wait: a signal ends it, or it ends by itself. A step of its own.
  WaitEnd choose_end(const Operation& wait, bool may_be_spurious, u64 deadline);
  /// The wait is over.
  void wait_ended(uptr place, WaitEnd end, u64 deadline);
  /// Whether an operation that waits until the deadline is to be tried once instead: the schedule decides
  /// when, so all outcomes are covered.
  bool tries_instead(uptr place, u64 deadline);
  /// The outcome of trying it.
  void tried(uptr place, u64 deadline, bool in_time);
  /// It chose to time out, but there was nothing to wait for: the same as if it had chosen to wait.
  void timeout_unused();
  bool explores_timeouts() const { return systematic_ && request().timeouts != 0; }

 private:
  /// Steps of one strand in a row at which others could have been chosen.
  struct LongRun {
    const Strand* strand = nullptr;
    u32 steps = 0;
  };
  /// What begins anew with each execution, apart from the parts that reset themselves.
  struct Execution {
    Strand* first = nullptr;  // list of all strands, oldest first
    Strand* last = nullptr;
    u32 made = 0, alive = 0;
    u64 changes = 0;  // that another strand could see
    u64 idle = 0;     // points since something changed, while all spin
    bool suspects_livelock = false;
    bool stopping = false;
    bool has_chosen = false;  // systematic
    LongRun long_run;
    u64 left_at = 0;  // steps when a strand first wanted to end the process
    Strand* dumper = nullptr;
    Strand* first_alarm = nullptr;
    u32 alarms = 0;
  };
  struct Candidates;

  void start(const trail::Request& request, trail::Record* record);
  void count_point();
  void make_ready(Strand* s, Wake wake);
  Wake wait_here(Strand* s, u64 deadline);
  void arm(Strand* s, u64 deadline);
  bool may_be_early(const Strand& s, u64 timeout) const;
  void tell_early(const Strand& s) {
    if (DURESS_UNLIKELY(callbacks_.timed_out_early != nullptr) && queue_.ready_count() > 1)
      callbacks_.timed_out_early(s);
  }
  void fire(Strand* s);
  bool fire_earliest();
  void expire(Strand* alarm);
  void expire_due_alarms();
  void poll_descriptors(int milliseconds) {
    descriptors_.poll(strands(), milliseconds, [this](Strand* s) { make_ready(s, Wake::kWoken); });
  }
  Strand* pick();
  Strand* pick_spinning();
  Strand* choose_thread();
  bool steps_back(Strand* s, const Operation& operation) {
    return s->repetition.steps_back(operation, execution_.changes, handoff_.turns());
  }

  void trace(const Strand& s) {
    if (DURESS_UNLIKELY(request().trace) && s.next.kind != OpKind::kChoose && s.next.kind != OpKind::kCreated)
      callbacks_.trace(s);
  }
  /// The strand has passed its point.
  void passed(Strand& s) {
    if (DURESS_UNLIKELY(watched_)) watch(s);
    if (DURESS_UNLIKELY(attention_.load(std::memory_order_relaxed))) give_attention(s);
  }
  void watch(Strand& s) {
    trace(s);
    if (observer_.is_on()) observer_.performs(s);
  }
  void give_attention(Strand& s);
  [[noreturn]] void stop(trail::Outcome outcome);
  void dump_all();

  void switch_to(Strand* next) {
    Strand* self = running();
    if (next == self) return;
    handoff_.switch_to(next);
    after_switch(self);
  }
  void after_switch(Strand* self) {
    if (DURESS_UNLIKELY(self->pool.called_back || self->dump || self->visited)) serve_others(self);
  }
  void serve_others(Strand* self);
  bool serve_visit(Strand* self);
  void end_outer_wait(Strand* self);
  void await_descriptors();
  Strand* allocate_strand();
  bool end_running();

  void systematic_point(const Operation& operation);
  Strand* systematic_pick();
  void collect_candidates(Candidates& found);
  Strand* choose_step(const Candidates& found);
  Strand* without_candidates(Candidates& found);
  Strand* choose_leaving(Candidates& found);
  Strand* after_long_run(u32 count);
  bool others_can_go_on() const;
  bool can_step(const Strand& s) const;
  void name_strand(Strand* s);
  void park_spinner(Strand* s);
  bool missed_timeout() const;
  [[noreturn]] void discard_execution();

  Arena& arena_;
  const Callbacks callbacks_;
  Handoff handoff_;
  Choices choices_;
  Observer observer_;
  bool watched_ = false;  // somebody wants to know each step: a trace, or the observer
  RunQueue queue_;
  Execution execution_;
  Timers timers_;
  DescriptorWaits descriptors_;
  WaitQueues queues_{arena_};
  u64 most_steps_ = trail::kDefaultMostSteps;
  std::atomic<bool> attention_{false};
  void (*attend_)(Strand& strand) = nullptr;
  void (*route_)() = nullptr;

  bool systematic_ = false;
  bool creations_are_points_ = true;
  bool emulates_threads_ = false;
  SpinDetector spins_{callbacks_};
  StepRecorder recorder_{queues_, choices_, spins_, callbacks_};
  Strand** candidates_ = nullptr;
  u32 candidates_room_ = 0;
};

}  // namespace duress::sched
