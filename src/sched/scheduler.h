// SPDX-License-Identifier: Apache-2.0
//
// One strand at a time. A strand runs until its next schedule point, where the strategy says who goes on; a
// strand that must wait is taken out of those that can run until another one's action wakes it. So blocking
// is logic, not the kernel's doing: a deadlock is an empty list, a timeout a choice, and the same choices
// make the same execution.
//
// What blocks is the runtime's business: it calls point() before an operation, tries the real operation, and
// block()s if that would wait. The real object (a pthread_mutex_t, a sem_t) keeps its own state; here are
// only queues by address.
//
// Threads: all of it belongs to whichever strand is running. Kernel threads hand the turn to each other
// through futexes (hand_over), which order everything.
#ifndef DURESS_SCHED_SCHEDULER_H_
#define DURESS_SCHED_SCHEDULER_H_

#include <poll.h>

#include <atomic>

#include "base/arena.h"
#include "exhaustive/step_log.h"
#include "sched/strategy.h"

namespace duress::sched {

inline constexpr u64 kNever = ~u64{0};

using exhaustive::WaitEnd;

enum class Wake : u8 { kNone, kWoken, kTimeout, kInterrupted };

/// What a strand has looked at since it last changed something (spin.cc).
struct Spin {
  static constexpr u32 kMostVisits = 16, kMostLooks = 16;
  struct Visit {  // of a step
    u64 key, state;
    u32 looks;  // how many there were then
    u32 repeats;
  };
  struct Look {
    uptr object;
    u32 size;
    u32 at;  // entry of the log
  };
  Visit visits[kMostVisits];
  Look looks[kMostLooks];
  u32 visit_count = 0, look_count = 0;
  u32 locked = 0;       // locks taken and not given back meanwhile
  bool wrote = false;   // plain memory
  bool awaits = false;  // until one of the looks from `first` on is written by another strand
  u32 first = 0;
  u32 yields = 0;       // in a row, with no step in between
  bool rests = false;   // until another strand has done something
  bool leaves = false;  // ends the process when nobody else can go on

  void forget() {
    visit_count = look_count = locked = 0;
    wrote = awaits = false;
  }
};

/// How waits of a strand end, where that is explored (ends.cc).
struct Ends {
  static constexpr u32 kMostPlaces = 32;
  struct Place {
    uptr place = 0;
    u32 spurious = 0, timeouts = 0;  // in a row
  };
  Place places[kMostPlaces] = {};
  WaitEnd chosen = WaitEnd::kWoken;  // of the wait that it is in or comes to
  bool chose = false;                // there was a choice
  bool could_time_out = false;       // but waits until it is woken
  bool by_itself = false;            // the last wait ended with no signal
  u64 time = 0;                      // its own clock, if timeouts are explored
  u64 clock_reads = 0;
};

struct Strand : StrandView {
  enum class State : u8 { kReady, kBlocked, kEnded };
  State state = State::kReady;
  bool home = false;           // its own kernel thread must run it, not the carrier
  bool queued = false;         // waits in a queue
  bool stepping_back = false;  // spins: runs only when nobody else can, until something changes
  Wake wake = Wake::kNone;
  u64 pending_signals = 0, blocked_signals = 0;
  bool cancelled = false;  // by pthread_cancel, not acted on yet
  bool dump = false;       // woken only to write down its call stack
  u32 place_in_list = 0;   // in ready_ or spinning_
  u64 deadline = kNever;
  uptr queue = 0;
  Strand* next_in_queue = nullptr;
  pollfd* descriptors = nullptr;  // waits for one of these
  u32 descriptor_count = 0;
  static constexpr u32 kMostHeld = 8;  // of more locks the first are known
  uptr held[kMostHeld] = {};           // exclusive locks, in the order they were taken
  uptr held_at[kMostHeld] = {};        // where they were taken
  OpKind held_kind[kMostHeld] = {};
  u32 held_count = 0;

  void* stack_pointer = nullptr;  // while it does not run
  uptr thread_pointer = 0;
  std::atomic<u32> turn{0};     // its kernel thread sleeps while 0
  std::atomic<u32> arrived{0};  // its kernel thread has parked for the first time
  int os_id = 0;
  char* parking_stack = nullptr;

  // Of a strand that lives on: its thread, what it runs and what came of it.
  unsigned long thread = 0;
  void* (*job)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
  bool detached = false;
  bool joined = false;
  bool thread_made = false;  // it is a thread of the program, which somebody must join or detach
  Strand* next_spare = nullptr;
  void* job_frame = nullptr;
  bool in_job = false;       // it has begun its job, or whatever it does then, and has not ended
  bool called_back = false;  // its execution was left: it gives up its job as soon as it runs
  void* watched = nullptr;   // what a detector of races keeps of it, over all executions
  /// Forgets everything but the kernel thread, for another execution.
  void renew();

  Strand* next_strand = nullptr;  // list of all, oldest first
  u32 creator = 0;
  uptr created_at = 0;
  char name[16] = {};

  /// An operation that it came to before, to see that it repeats.
  struct Repeat {
    u64 key;
    u64 changes, turn;  // of the scheduler, then
    u32 unchanged;      // times in a row that nothing had changed in between
    u32 in_turn;        // times in a row that nobody else had run in between
  };
  static constexpr u32 kRepeats = 32;
  Repeat repeats[kRepeats] = {};
  /// Plain loads that it came to again and again; see Scheduler::tires.
  struct Looks {
    uptr place;
    u64 changes;  // of the scheduler, then
    u32 count;    // times since something changed
  };
  static constexpr u32 kLooks = 8;
  Looks looks[kLooks] = {};
  /// States of its stack at looks that may be a livelock; see Scheduler::tell_state.
  static constexpr u32 kStates = 8;
  u64 states[kStates] = {};
  u32 state_count = 0;
  uptr relock = 0;  // waits on a condition: the mutex it takes afterwards

  // In executions by steps (steps.cc).
  bool at_step = false;  // comes to a step, or waits to do it; else it only goes on
  u32 children = 0;      // strands that it has made
  u64 path = 0;          // who it is in every interleaving: see trail/as_if.h
  Spin spin;
  Ends ends;
};

class Scheduler {
 public:
  static constexpr size_t kParkingBytes = 16384;
  static constexpr u64 kDefaultMostSteps = 10'000'000;

  /// What the scheduler cannot do itself. `stuck` reports and ends the process; `dump` writes down the
  /// running strand's call stack for it.
  struct Surroundings {
    void (*stuck)(trail::Outcome outcome);
    void (*dump)(Strand& strand);
    /// Starts a kernel thread that runs `function` with a stack of its own.
    bool (*start_carrier)(void* (*function)(void*), void* argument);
    void (*nobody_left)();  // the last strand has ended
    /// The running strand goes on with its operation. Only for requests that ask for a trace.
    void (*trace)(const Strand& strand);
    /// Executions by steps: the state of a semaphore or of a lock with readers, as exhaustive::Touch has it.
    u64 (*state)(const Operation& operation);
    /// Executions by steps: a hash of all that the running strand remembers, its registers and its stack.
    u64 (*local_state)(const Strand& strand);
    /// The running strand gives up its job; ends with give_up_job(). Null: nobody is called back.
    void (*give_up)(Strand& strand);
  };

  Scheduler(Arena& arena, const Surroundings& surroundings) : arena_(arena), surroundings_(surroundings) {}

  /// Where executions by steps are written down.
  void set_step_log(exhaustive::StepLog* log) { log_ = log; }
  bool by_steps() const { return by_steps_; }
  /// The running strand made a mistake: the execution ends (trail/misuse.h).
  [[noreturn]] void misuse(trail::Outcome outcome) { stop(outcome); }
  /// Executions by steps under a memory model: what the step of the running strand was asked to read or to
  /// follow, as an age, and where it writes down what it did. Null: no room.
  u32 wanted_age() const {
    u64 step = steps_done_ - 1;
    return step < request_->picks ? request_->picked()[step].value : 0;
  }
  exhaustive::Step* last_step() { return log_->count < log_->room ? &log_->steps[log_->count - 1] : nullptr; }
  exhaustive::StepLog& step_log() { return *log_; }

  /// The calling thread becomes strand 0 of a new execution.
  Strand* begin(const trail::Request& request, trail::Record* record);

  Strand* running() const { return running_; }
  Strand* strands() const { return all_; }
  const trail::Request& request() const { return *request_; }
  trail::Record& record() { return *record_; }

  // ---- the running strand
  /// About to do `operation`: others may go first.
  void point(const Operation& operation);
  /// It did something that another strand could see.
  void changed() {
    ++changes_;
    idle_ = 0;
    if (DURESS_UNLIKELY(by_steps_) && running_) running_->spin.forget();
    if (DURESS_UNLIKELY(spinning_count_ != 0)) release_spinners();
  }
  /// Whether a plain load need not be a point: the running strand has come there very often since something
  /// changed, and of such looks one in many is enough. (tsp of 16 cities: 100,000,000 looks, 40 s, while
  /// everything else takes 0.2 s.)
  bool tires(uptr place) {
    constexpr u32 kOften = 4096, kOneIn = 64;
    Strand::Looks& looks = running_->looks[place / 32 % Strand::kLooks];
    if (looks.place != place || looks.changes != changes_) {
      looks = {place, changes_, 0};
      return false;
    }
    return ++looks.count > kOften && looks.count % kOneIn != 0;
  }
  /// All strands have looked for long and nothing changed. Whoever knows of the state of the running strand
  /// tells it: one that keeps coming to other states computes something, and is not stuck.
  bool suspects_livelock() const { return suspects_; }
  void tell_state(u64 state);
  /// Lets every other strand that can run go first, once.
  void yield(uptr place);
  /// Executions by steps: the running strand wrote plain memory that others may know.
  void wrote_plain() { running_->spin.wrote = true; }
  /// Waits in `queue` until woken, or until the deadline.
  Wake block(const Operation& operation, uptr queue, u64 deadline = kNever);
  /// Waits until one of the descriptors is ready, or until the deadline.
  Wake block_on_descriptors(const Operation& operation, pollfd* descriptors, u32 count,
                            u64 deadline = kNever);
  /// Comes to an exclusive lock: waits while another strand holds it. False: the deadline passed.
  bool approach_lock(const Operation& operation, bool reentrant, u64 deadline = kNever);
  void lock_taken(uptr lock);
  void lock_given(uptr lock);
  /// Whether a strand waits to lock it exclusively.
  bool is_wanted(uptr lock);
  // ---- how waits end, in executions by steps that explore it (ends.cc)
  /// The running strand comes to a wait: a signal ends it, or it ends by itself. A step of its own.
  WaitEnd choose_end(const Operation& wait, bool may_be_spurious, u64 deadline);
  /// The wait is over.
  void wait_ended(uptr place, WaitEnd end, u64 deadline);
  /// Whether an operation that waits until the deadline is to be tried once instead: when is up to the
  /// schedule, so the same can happen.
  bool tries_instead(uptr place, u64 deadline) const;
  /// What came of it.
  void tried(uptr place, u64 deadline, bool in_time);
  /// It chose to time out, but there was nothing to wait for: the same as if it had chosen to wait.
  void chose_in_vain();
  bool explores_timeouts() const { return by_steps_ && request_->timeouts != 0; }

  /// Wakes up to `most` of those who wait; which ones is a choice.
  u32 wake(uptr queue, u32 most = ~0u);
  /// Executions by steps: the running strand ends the process, after all others have come as far as they can.
  void leave_last();
  /// The strategy tells the record what it found: before the process ends.
  void finish();
  void interrupt(Strand* strand);
  u32 choose(ValueKind kind, u32 count);
  /// A value choice that the caller has made, unless the execution follows a trail: then the trail's.
  u32 decide(ValueKind kind, u32 count, u32 wanted);
  Strand* holder_of(uptr lock);
  /// Writes down in the operation if it is half of a deadlock that the request is after.
  void name_lock(Operation& operation) const;

  // ---- attention: something is to be done by a strand when it has passed a point (signals)
  void set_attention(void (*attend)(Strand& strand)) { attend_ = attend; }
  /// Async-signal-safe.
  void attend() { attention_.store(true, std::memory_order_relaxed); }

  // ---- threads
  Strand* make_strand(uptr created_at);
  void forget_strand(Strand* strand);  // its thread could not be made
  /// In the creator, after the kernel thread was made: the strand may be chosen from now on.
  void launch(Strand* strand);
  /// In the new thread, on its own kernel thread: returns when it is chosen for the first time.
  void arrive(Strand* strand);
  /// The running strand goes on on its own kernel thread, from now on.
  void go_home();
  /// The running strand, at home, ends. The kernel thread goes on alone and must not call anything here.
  void end();
  // ---- executions of a closure on strands that live on (duress::check). The calling thread is the carrier.
  /// A strand that is in no execution yet; its kernel thread is to call arrive().
  Strand* make_spare();
  /// A new execution begins; nobody runs yet.
  void begin_closure(const trail::Request& request, trail::Record* record);
  /// A spare one joins the execution as its youngest strand. launch() makes it run.
  void enlist(Strand* strand, uptr created_at);
  /// Runs `root` and whoever it starts until all have ended, or until abandon().
  void run(Strand* root);
  /// The running strand has done its job. Returns when it is given another one, in a later execution.
  void end_job();
  /// Leaves the execution as it is, from within; run() returns.
  [[noreturn]] void abandon();
  /// After that: those who have not ended give up their jobs, so that they can be used again. What their
  /// stacks held is gone, no destructor runs.
  void call_back();
  /// Returns when the strand is given another job.
  void give_up_job();

  /// After fork in the child: the running strand is the only one.
  void alone(trail::Record* record);

  // ---- time, virtual, in nanoseconds
  u64 now() const { return explores_timeouts() && running_ ? running_->ends.time : now_; }
  /// A read of a clock: time goes on, and faster if nothing else happens in between.
  u64 read_clock();
  /// Executions by steps: a clock that the program itself looks at. Its values are not explored.
  void note_clock() {
    if (by_steps_) log_->limits |= exhaustive::StepLog::kClock;
  }

 private:
  struct Object {  // what is known about one address
    uptr address;
    Object* next;
    Strand* first;  // waiting, in order of arrival
    Strand* last;
    u32 waiting;
    u32 contenders;  // strands that come to the lock
    Strand* holder;
    u32 depth;
  };
  static constexpr u32 kBuckets = 1024;

  Object& object(uptr address);
  Object* find_object(uptr address);
  void drop_if_unused(uptr address);
  void enqueue(Strand* s, uptr queue);
  void dequeue(Strand* s);

  void make_ready(Strand* s, Wake wake);
  void add_ready(Strand* s);
  void remove_ready(Strand* s);
  void add_spinning(Strand* s);
  void remove_spinning(Strand* s);
  void release_spinners();
  bool repeats(Strand* s, const Operation& operation);

  Wake wait_here(Strand* s, u64 deadline);
  void arm(Strand* s, u64 deadline);
  void fire(Strand* s);
  void fire_due();
  bool fire_earliest();
  void poll_descriptors(int milliseconds);
  Strand* pick();
  Strand* choose_thread();
  Strand* allocate_strand();
  void start(const trail::Request& request, trail::Record* record);
  void note_choice(trail::ChoiceKind kind, u32 value, bool deviates);
  void step();
  void trace(const Strand& s) {
    if (DURESS_UNLIKELY(request_->trace != 0) && s.next.kind != OpKind::kChoose) surroundings_.trace(s);
  }
  /// The strand has passed its point.
  void passed(Strand& s) {
    trace(s);
    if (DURESS_UNLIKELY(attention_.load(std::memory_order_relaxed))) give_attention(s);
  }
  void give_attention(Strand& s);
  [[noreturn]] void stop(trail::Outcome outcome);
  void dump_all();

  // ---- executions by steps (steps.cc)
  void point_by_steps(const Operation& operation);
  Strand* pick_by_steps();
  bool can_step(const Strand& s);
  void describe(const Strand* s, exhaustive::Step* step);
  void describe_operation(const Strand* s, exhaustive::Step* step);
  void choose_woken(const Object& o);
  void choose_value_of(Strand* s, exhaustive::Step* step);
  u64 ends_of(const Strand& s, uptr place, bool may_be_spurious, bool timed) const;
  Ends::Place* place_of_ends(Strand& s, uptr place) const;
  u64 read_own_clock();
  bool waits_although_it_could_time_out() const;
  [[noreturn]] void does_not_count();
  void write_step(Strand* s);
  void write_pending();
  void write_after(const Strand* s, const Strand* other);
  void name_strand(Strand* s);
  u64 waiting_in(uptr queue);
  void look_for_spinning(Strand* s);
  void note_look(Strand* s, const exhaustive::Step& step);
  void await_looks(Strand* s, u32 first);
  bool sees_change(const Strand& s) const;
  bool waits_for_what_is_there() const;
  bool was_tried_in_vain() const;
  void rest(Strand* s);
  Strand* choose_waiter(const Object& o);

  void switch_to(Strand* next);
  void hand_over(Strand* next);
  void await_arrival(Strand* s);
  void after_switch(Strand* self);
  static void park(void* self, void* next);
  static void park_new(void* self, void* scheduler);
  static void* run_carrier(void* scheduler);
  void need_carrier();

  Arena& arena_;
  Surroundings surroundings_;
  const trail::Request* request_ = nullptr;
  trail::Record* record_ = nullptr;
  Strategy* strategy_ = nullptr;
  u64 most_steps_ = kDefaultMostSteps;

  Strand* running_ = nullptr;
  Strand* all_ = nullptr;
  Strand* last_made_ = nullptr;
  u32 made_ = 0, alive_ = 0;
  Strand** ready_ = nullptr;
  Strand** spinning_ = nullptr;
  u32 ready_count_ = 0, spinning_count_ = 0, capacity_ = 0;
  u32 descriptor_waiters_ = 0;
  u32 timed_ = 0;
  u64 next_deadline_ = kNever;
  u64 changes_ = 0;
  u64 turns_ = 0;
  u64 idle_ = 0;  // points since something changed, while all spin
  bool suspects_ = false;
  u64 now_ = 0;
  u64 clock_reads_ = 0, clock_changes_ = 0;
  void (*attend_)(Strand& strand) = nullptr;
  std::atomic<bool> attention_{false};
  bool stopping_ = false;
  Strand* dumper_ = nullptr;

  bool on_carrier_ = false;  // the running strand is run by the carrier
  bool carrier_there_ = false;
  void* carrier_stack_pointer_ = nullptr;
  uptr carrier_thread_pointer_ = 0;
  Strand* carrier_next_ = nullptr;
  Strand* homeward_ = nullptr;
  std::atomic<u32> carrier_turn_{0};
  int dying_ = 0;  // kernel thread of the strand that ended last

  bool by_steps_ = false;
  bool weak_ = false;  // and atomics may read older stores
  exhaustive::StepLog* log_ = nullptr;
  u64 steps_done_ = 0;
  Strand* to_wake_ = nullptr;  // whom the running strand's signal wakes
  Strand** candidates_ = nullptr;
  u32 candidates_room_ = 0;

  Object* buckets_[kBuckets] = {};
  u32 objects_ = 0;
};

}  // namespace duress::sched

#endif  // DURESS_SCHED_SCHEDULER_H_
