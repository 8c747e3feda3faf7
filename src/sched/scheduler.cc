// SPDX-License-Identifier: Apache-2.0
//
// Who can run, and who does. Handing the turn over is in turns.cc.
#include "sched/scheduler.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/check.h"
#include "trail/site_key.h"

namespace duress::sched {

namespace {

constexpr u64 kLongTimer = 10'000'000'000;  // ten seconds
/// A strand that comes to the same operation this often while nothing changes only waits for others.
constexpr u32 kPatience = 3;
/// A strand that waits and counts its tries changes something each time. After so many equal operations in
/// one turn others go first. More than RaceFuzzer's figure 2 needs (100,000), less than the limit of steps.
constexpr u32 kLongTurn = 250'000;
/// The same for operations that change nothing another strand could see: locks. What is done under them is
/// not seen, so it may be work.
constexpr u32 kLongLockTurn = 10'000;
/// Those who spin take turns of so many points: on the thread backend each turn costs microseconds.
constexpr u64 kSpinningTurn = 100;
/// All strands spin and nothing changes: after so many points for each, nothing ever will. Large, because a
/// loop that asks a flag while it computes looks the same from here.
constexpr u64 kLivelock = 1'000'000;
constexpr u64 kLastLooks = 10'000;  // of each strand, to see whether it is in a few states only

}  // namespace

void Scheduler::start(const trail::Request& request, trail::Record* record) {
  request_ = &request;
  record_ = record;
  record->magic = trail::kMagic;
  record->version = trail::kVersion;
  strategy_ = strategy_of(static_cast<StrategyId>(request.strategy));
  if (!strategy_) fatal("the request names a strategy that this runtime does not have");
  strategy_->start(request);
  most_steps_ = request.most_steps ? request.most_steps : kDefaultMostSteps;
  by_steps_ = request.steps != 0;
  weak_ = by_steps_ && request.model != 0;
  steps_done_ = 0;
  if (by_steps_) {
    DURESS_CHECK(log_ != nullptr);
    log_->count = log_->limits = 0;
  }
}

Strand* Scheduler::begin(const trail::Request& request, trail::Record* record) {
  start(request, record);
  Strand* main = make_strand(0);
  main->state = Strand::State::kReady;
  add_ready(main);
  running_ = main;
  return main;
}

// ---- objects
// ---------------------------------------------------------------------------------------------------

Scheduler::Object* Scheduler::find_object(uptr address) {
  Object* o = buckets_[mix(address) % kBuckets];
  while (o && o->address != address) o = o->next;
  return o;
}

Scheduler::Object& Scheduler::object(uptr address) {
  if (Object* known = find_object(address)) return *known;
  Object*& bucket = buckets_[mix(address) % kBuckets];
  auto* made =
      new (arena_.allocate(sizeof(Object))) Object{address, bucket, nullptr, nullptr, 0, 0, nullptr, 0};
  bucket = made;
  ++objects_;
  return *made;
}

void Scheduler::drop_if_unused(uptr address) {
  for (Object** link = &buckets_[mix(address) % kBuckets]; *link; link = &(*link)->next) {
    Object* o = *link;
    if (o->address != address) continue;
    if (o->waiting || o->contenders || o->holder) return;
    *link = o->next;
    arena_.free(o, sizeof(Object));
    --objects_;
    return;
  }
}

void Scheduler::enqueue(Strand* s, uptr queue) {
  Object& o = object(queue);
  s->queue = queue;
  s->queued = true;
  s->next_in_queue = nullptr;
  (o.last ? o.last->next_in_queue : o.first) = s;
  o.last = s;
  ++o.waiting;
}

void Scheduler::dequeue(Strand* s) {
  if (!s->queued) return;
  Object& o = object(s->queue);
  Strand* before = nullptr;
  for (Strand* w = o.first; w != s; w = w->next_in_queue) before = w;
  (before ? before->next_in_queue : o.first) = s->next_in_queue;
  if (o.last == s) o.last = before;
  --o.waiting;
  s->queued = false;
  drop_if_unused(s->queue);
}

Strand* Scheduler::holder_of(uptr lock) {
  Object* o = find_object(lock);
  return o ? o->holder : nullptr;
}

// ---- who can run
// -----------------------------------------------------------------------------------------------

void Scheduler::add_ready(Strand* s) {
  s->place_in_list = ready_count_;
  ready_[ready_count_++] = s;
}

void Scheduler::remove_ready(Strand* s) {
  Strand* last = ready_[--ready_count_];
  ready_[s->place_in_list] = last;
  last->place_in_list = s->place_in_list;
}

void Scheduler::add_spinning(Strand* s) {
  s->stepping_back = true;
  s->place_in_list = spinning_count_;
  spinning_[spinning_count_++] = s;
}

void Scheduler::remove_spinning(Strand* s) {
  // In order: those who spin take turns.
  for (u32 i = s->place_in_list + 1; i < spinning_count_; ++i) {
    spinning_[i - 1] = spinning_[i];
    spinning_[i - 1]->place_in_list = i - 1;
  }
  --spinning_count_;
  s->stepping_back = false;
}

void Scheduler::release_spinners() {
  for (u32 i = 0; i < spinning_count_; ++i) {
    spinning_[i]->stepping_back = false;
    add_ready(spinning_[i]);
  }
  spinning_count_ = 0;
}

/// A blocked strand can run.
void Scheduler::make_ready(Strand* s, Wake wake) {
  dequeue(s);
  if (s->descriptors) {
    s->descriptors = nullptr;
    --descriptor_waiters_;
  }
  bool listed = s->state == Strand::State::kReady;  // its timer could fire at any time
  if (s->deadline != kNever) {
    s->deadline = kNever;
    --timed_;
  }
  s->wake = wake;
  s->state = Strand::State::kReady;
  if (!listed) add_ready(s);
}

namespace {

/// What only looks. Whoever does the same of these again and again, while nothing changes, waits.
bool only_looks(OpKind kind) {
  switch (kind) {
    case OpKind::kRead:
    case OpKind::kAtomicRead:
    case OpKind::kAtomicRmw:  // those that write something else are a change
    case OpKind::kTryLock:
    case OpKind::kTryReadLock:
    case OpKind::kTryAcquire:
    case OpKind::kYield:
    case OpKind::kSystem:
      return true;
    default:
      return false;
  }
}

}  // namespace

/// Whether the strand is to step back because it comes to this operation again and again. What is compared is
/// the same in every body of a function, so that an execution does not depend on which ones are run.
bool Scheduler::repeats(Strand* s, const Operation& operation) {
  u64 key = mix(operation.object ^ mix(u64{operation.line} << 8 | raw(operation.kind)));
  Strand::Repeat& r = s->repeats[key % Strand::kRepeats];
  if (r.key != key) {
    r = {key, changes_, turns_, 0, 0};
    return false;
  }
  r.unchanged = r.changes == changes_ ? r.unchanged + 1 : 0;
  r.in_turn = r.turn == turns_ ? r.in_turn + 1 : 0;
  bool changes = r.changes != changes_;
  r.changes = changes_;
  r.turn = turns_;
  if (only_looks(operation.kind) && r.unchanged >= kPatience) return true;
  if (r.in_turn < (changes ? kLongTurn : kLongLockTurn)) return false;
  r.in_turn = 0;
  return true;
}

// ---- points
// ----------------------------------------------------------------------------------------------------

void Scheduler::step() {
  ++running_->operations;
  now_ += 100;
  if (DURESS_UNLIKELY(++record_->steps > most_steps_)) stop(trail::Outcome::kStepLimit);
}

void Scheduler::point(const Operation& operation) {
  if (DURESS_UNLIKELY(by_steps_)) return point_by_steps(operation);
  Strand* s = running_;
  s->next = operation;
  step();
  if (DURESS_UNLIKELY(repeats(s, operation)) && alive_ > 1) {
    remove_ready(s);
    add_spinning(s);
  }
  if (ready_count_ != 1 || ready_[0] != s || timed_ || descriptor_waiters_) switch_to(pick());
  if (DURESS_UNLIKELY(s->stepping_back)) {  // nobody else could run: goes on, still of no use to others
    remove_spinning(s);
    add_ready(s);
  }
  passed(*s);
}

void Scheduler::yield(uptr place) {
  Strand* s = running_;
  s->next = {OpKind::kYield, 0, 0, 0, place};
  step();
  if (alive_ == 1) return;
  if (by_steps_) return rest(s);
  remove_ready(s);
  add_spinning(s);
  Strand* next = pick();
  // One turn of another is enough, unless the strand comes here again with nothing changed.
  if (s->stepping_back && !repeats(s, s->next)) {
    remove_spinning(s);
    add_ready(s);
  }
  switch_to(next);
  if (s->stepping_back) {
    remove_spinning(s);
    add_ready(s);
  }
  passed(*s);
}

/// What is pending for other strands keeps the flag; each looks when it passes a point.
void Scheduler::give_attention(Strand& s) {
  attention_.store(false, std::memory_order_relaxed);
  for (Strand* other = all_; other; other = other->next_strand) {
    if (other != &s && other->pending_signals & ~other->blocked_signals) attend();
  }
  if (attend_) attend_(s);
}

Wake Scheduler::wait_here(Strand* s, u64 deadline) {
  s->wake = Wake::kNone;
  s->state = Strand::State::kBlocked;
  s->at_step = by_steps_ && exhaustive::may_wait(s->next.kind);
  remove_ready(s);
  if (deadline != kNever) arm(s, deadline);
  switch_to(pick());
  if (s->wake == Wake::kNone) fire(s);  // chosen while its timer was running
  Wake wake = s->wake;
  s->ends.could_time_out = false;
  passed(*s);
  return wake;
}

Wake Scheduler::block(const Operation& operation, uptr queue, u64 deadline) {
  Strand* s = running_;
  s->next = operation;
  step();
  if (by_steps_ && operation.kind == OpKind::kSleep) {  // it may be over at once
    if (s->ends.time < deadline && deadline < kNever - 1) s->ends.time = deadline;
    return Wake::kTimeout;
  }
  if (deadline <= now_ && !explores_timeouts()) {
    point(operation);
    return Wake::kTimeout;
  }
  enqueue(s, queue);
  return wait_here(s, deadline);
}

Wake Scheduler::block_on_descriptors(const Operation& operation, pollfd* descriptors, u32 count,
                                     u64 deadline) {
  Strand* s = running_;
  s->next = operation;
  step();
  s->descriptors = descriptors;
  s->descriptor_count = count;
  ++descriptor_waiters_;
  return wait_here(s, deadline);
}

// ---- locks
// -----------------------------------------------------------------------------------------------------

void Scheduler::name_lock(Operation& operation) const {
  const trail::SitePair* pairs = request_->site_pairs();
  for (u32 i = 0; i < running_->held_count; ++i) {
    u32 key = trail::lock_key(running_->held[i], operation.object);
    for (u32 k = 0; k < request_->pairs; ++k) {
      if (pairs[k].first == key || pairs[k].second == key) operation.site = key;
    }
  }
}

bool Scheduler::approach_lock(const Operation& asked, bool reentrant, u64 deadline) {
  Operation operation = asked;
  if (DURESS_UNLIKELY(running_->held_count != 0 && request_->pairs != 0)) name_lock(operation);
  Object& o = object(operation.object);
  ++o.contenders;
  bool held = o.holder && !(o.holder == running_ && reentrant);
  bool in_time = true;
  if (held) {
    in_time = block(operation, operation.object, deadline) != Wake::kTimeout;
  } else {
    point(operation);
  }
  --o.contenders;
  drop_if_unused(operation.object);
  return in_time;
}

void Scheduler::lock_taken(uptr lock) {
  Object& o = object(lock);
  o.holder = running_;
  if (++o.depth == 1 && running_->held_count < Strand::kMostHeld) {
    running_->held_at[running_->held_count] = running_->next.place;
    running_->held_kind[running_->held_count] =
        running_->next.object == lock && running_->next.kind == OpKind::kTryLock ? OpKind::kLock
                                                                                 : running_->next.kind;
    running_->held[running_->held_count++] = lock;
  }
  if (DURESS_LIKELY(!o.contenders)) return;
  // Those who had come to the free lock cannot go on any more.
  for (u32 i = ready_count_; i-- > 0;) {
    Strand* s = ready_[i];
    if (s == running_ || s->queued || s->next.kind != OpKind::kLock || s->next.object != lock) continue;
    remove_ready(s);
    s->state = Strand::State::kBlocked;
    enqueue(s, lock);
  }
}

bool Scheduler::is_wanted(uptr lock) {
  Object* o = find_object(lock);
  for (Strand* s = o ? o->first : nullptr; s; s = s->next_in_queue) {
    if (s->next.kind == OpKind::kLock) return true;
  }
  return false;
}

void Scheduler::lock_given(uptr lock) {
  // Whoever only tries for it may try again. Nothing else has changed: a strand that looks at something under
  // a lock, again and again, must be seen to wait.
  for (u32 i = spinning_count_; i-- > 0;) {
    Strand* s = spinning_[i];
    if (s == running_ || s->next.object != lock) continue;
    remove_spinning(s);
    add_ready(s);
  }
  Object* o = find_object(lock);
  if (!o) return;
  if (o->depth && --o->depth) return;
  if (Strand* s = o->holder) {
    u32 kept = 0;
    for (u32 i = 0; i < s->held_count; ++i) {
      if (s->held[i] == lock) continue;
      s->held_at[kept] = s->held_at[i];
      s->held_kind[kept] = s->held_kind[i];
      s->held[kept++] = s->held[i];
    }
    s->held_count = kept;
  }
  o->holder = nullptr;
  if (o->waiting) {
    while (o->first) {
      bool last = o->waiting == 1;
      make_ready(o->first, Wake::kWoken);
      if (last) break;
    }
  } else {
    drop_if_unused(lock);
  }
}

u32 Scheduler::wake(uptr queue, u32 most) {
  u32 woken = 0;
  for (; woken < most; ++woken) {
    Object* o = find_object(queue);
    if (!o || !o->waiting) break;
    Strand* s = o->first;
    if (by_steps_ && most - woken < o->waiting) {
      s = choose_waiter(*o);
    } else if (most - woken < o->waiting) {
      for (u32 pick = choose(ValueKind::kWakeOne, o->waiting); pick > 0; --pick) s = s->next_in_queue;
    }
    uptr relock = s->relock;
    if (by_steps_) {
      make_ready(s, Wake::kWoken);
      write_after(s, running_);
    } else if (relock && holder_of(relock)) {  // nothing to do for it until the mutex is free
      make_ready(s, Wake::kWoken);
      remove_ready(s);
      s->state = Strand::State::kBlocked;
      s->next = {OpKind::kLock, 0, relock, 0, s->next.place};
      enqueue(s, relock);
    } else {
      make_ready(s, Wake::kWoken);
    }
  }
  if (woken) changed();
  return woken;
}

void Scheduler::finish() {
  if (strategy_) strategy_->finish(*record_);
  if (by_steps_) write_pending();
  by_steps_ = false;
}

void Scheduler::interrupt(Strand* s) {
  if (s->state == Strand::State::kBlocked || s->queued) make_ready(s, Wake::kInterrupted);
}

// ---- time
// ------------------------------------------------------------------------------------------------------

u64 Scheduler::read_clock() {
  if (explores_timeouts()) return read_own_clock();
  if (clock_changes_ != changes_) {
    clock_changes_ = changes_;
    clock_reads_ = 0;
  }
  // From 1 microsecond a read to one second: a loop that waits for a time ends after a few dozen reads.
  now_ += u64{1000} << (clock_reads_ < 40 ? clock_reads_ / 2 : 20);
  ++clock_reads_;
  if (by_steps_) log_->limits |= exhaustive::StepLog::kClock;
  idle_ = 0;
  return now_;
}

/// Timeouts of waits on descriptors and of joins are not explored.
static bool is_explored_timer(OpKind kind) {
  return kind == OpKind::kWait || kind == OpKind::kFutexWait || exhaustive::may_wait(kind);
}

/// Whether the timer may fire while others can run is a choice; if not, it fires when nobody else can.
void Scheduler::arm(Strand* s, u64 deadline) {
  s->deadline = deadline;
  ++timed_;
  if (deadline < next_deadline_) next_deadline_ = deadline;
  // Programs take a timeout of many seconds for "never"; those fire only when nothing else can happen.
  bool long_timer = deadline > now_ + kLongTimer;
  if (by_steps_) {
    if (!explores_timeouts() || !is_explored_timer(s->next.kind))
      log_->limits |= exhaustive::StepLog::kTimers;
    return;
  }
  if (!long_timer && choose(ValueKind::kEarlyTimer, 2)) {
    s->state = Strand::State::kReady;
    add_ready(s);
  }
}

/// The strand's time has come.
void Scheduler::fire(Strand* s) {
  s->at_step = false;
  if (s->deadline > now_ && s->deadline != kNever) now_ = s->deadline;
  if (s->deadline > s->ends.time && s->deadline != kNever) s->ends.time = s->deadline;
  make_ready(s, Wake::kTimeout);
  // By steps, timers fire when nothing else can happen: it goes on after all that others did.
  for (const Strand* other = by_steps_ ? all_ : nullptr; other; other = other->next_strand)
    write_after(s, other);
}

void Scheduler::fire_due() {
  next_deadline_ = kNever;
  for (Strand* s = all_; s; s = s->next_strand) {
    if (s->deadline == kNever) continue;
    if (s->deadline <= now_) {
      fire(s);
    } else if (s->deadline < next_deadline_) {
      next_deadline_ = s->deadline;
    }
  }
}

bool Scheduler::fire_earliest() {
  Strand* earliest = nullptr;
  for (Strand* s = all_; s; s = s->next_strand) {
    if (s->deadline != kNever && (!earliest || s->deadline < earliest->deadline)) earliest = s;
  }
  if (!earliest) return false;
  fire(earliest);
  return true;
}

// ---- descriptors
// -------------------------------------------------------------------------------------------------

void Scheduler::poll_descriptors(int milliseconds) {
  constexpr u32 kMost = 1024;
  static pollfd all[kMost];
  u32 count = 0;
  for (Strand* s = all_; s; s = s->next_strand) {
    for (u32 i = 0; s->descriptors && i < s->descriptor_count && count < kMost; ++i)
      all[count++] = s->descriptors[i];
  }
  long ready;
  do {
    ready = raw_syscall(SYS_poll, reinterpret_cast<long>(all), count, milliseconds);
  } while (ready == -EINTR && milliseconds < 0);
  if (ready <= 0) return;
  u32 at = 0;
  for (Strand* s = all_; s; s = s->next_strand) {
    if (!s->descriptors) continue;
    bool any = false;
    for (u32 i = 0; i < s->descriptor_count && at < count; ++i) any |= all[at++].revents != 0;
    if (any) make_ready(s, Wake::kWoken);
  }
}

// ---- choices
// ---------------------------------------------------------------------------------------------------

void Scheduler::note_choice(trail::ChoiceKind kind, u32 value, bool deviates) {
  u64 number = record_->choices++;
  if (!deviates) return;
  if (record_->deviations == trail::kMostDeviations) {
    record_->truncated = 1;
    return;
  }
  record_->trail()[record_->deviations] = trail::Deviation::of(static_cast<u32>(number), kind, value);
  ++record_->deviations;
}

u32 Scheduler::choose(ValueKind kind, u32 count) {
  if (count <= 1) return 0;
  u32 value = strategy_->choose_value(kind, count);
  DURESS_CHECK(value < count);
  note_choice(trail::ChoiceKind::kValue, value, value != 0);
  return value;
}

u32 Scheduler::decide(ValueKind kind, u32 count, u32 wanted) {
  if (count <= 1) return 0;
  bool follows = request_->strategy == raw(StrategyId::kReplay);
  u32 value = follows ? strategy_->choose_value(kind, count) : wanted;
  DURESS_CHECK(value < count);
  note_choice(trail::ChoiceKind::kValue, value, value != 0);
  return value;
}

Strand* Scheduler::choose_thread() {
  if (ready_count_ == 1) return ready_[0];
  Strand* s = running_;
  bool can = s->state == Strand::State::kReady && !s->stepping_back;
  Situation situation = {record_->choices, record_->steps, reinterpret_cast<StrandView* const*>(ready_),
                         ready_count_, can ? s : nullptr};
  auto* next = static_cast<Strand*>(strategy_->choose_thread(situation));
  Strand* usual = s;
  if (!can) {
    usual = ready_[0];
    for (u32 i = 1; i < ready_count_; ++i) {
      if (ready_[i]->number < usual->number) usual = ready_[i];
    }
  }
  note_choice(trail::ChoiceKind::kThread, next->number, next != usual);
  record_->switches += can && next != s;
  return next;
}

void Scheduler::tell_state(u64 state) {
  Strand* s = running_;
  for (u32 i = 0; i < s->state_count; ++i) {
    if (s->states[i] == state) return;
  }
  if (s->state_count < Strand::kStates) {
    s->states[s->state_count++] = state;
  } else {
    suspects_ = false;
    idle_ = 0;
  }
}

Strand* Scheduler::pick() {
  if (DURESS_UNLIKELY(by_steps_)) return pick_by_steps();
  for (;;) {
    if (timed_ && now_ >= next_deadline_) fire_due();
    if (descriptor_waiters_) poll_descriptors(0);
    if (ready_count_) {
      idle_ = 0;
      suspects_ = false;
      return choose_thread();
    }
    if (timed_ && fire_earliest()) continue;
    if (spinning_count_) {
      if (descriptor_waiters_) {
        poll_descriptors(1);
        if (ready_count_) continue;
      } else if (++idle_ > (suspects_ ? kLastLooks : kLivelock) * spinning_count_) {
        if (suspects_) stop(trail::Outcome::kLivelock);
        suspects_ = true;
        idle_ = 0;
        for (Strand* s = all_; s; s = s->next_strand) s->state_count = 0;
      }
      Strand* s = spinning_[0];
      if (idle_ % kSpinningTurn == 0) {
        remove_spinning(s);  // to the end of the line
        add_spinning(s);
        s = spinning_[0];
      }
      return s;
    }
    if (!descriptor_waiters_) stop(trail::Outcome::kDeadlock);
    poll_descriptors(-1);
  }
}

void Scheduler::stop(trail::Outcome outcome) {
  if (stopping_) exit_process(125);
  stopping_ = true;
  record_->outcome = outcome;
  finish();
  dump_all();
  surroundings_.stuck(outcome);
  exit_process(125);
}

/// Each strand in turn writes down its own call stack: only it can walk it.
void Scheduler::dump_all() {
  Strand* self = running_;
  dumper_ = self;
  surroundings_.dump(*self);
  for (Strand* s = all_; s; s = s->next_strand) {
    if (s == self || s->state == Strand::State::kEnded) continue;
    s->dump = true;
    switch_to(s);
  }
  running_ = self;
}

}  // namespace duress::sched
