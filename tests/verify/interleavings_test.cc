// SPDX-License-Identifier: Apache-2.0
//
// Exploring by interleavings under rc11, as it is done where threads meet at more than atomics and mutexes:
// for random programs of tries, semaphores, reader-writer locks and conditions among atomics, exactly the
// executions that a judge finds who lets every thread go on at every step and read every legal store.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "exhaustive/explorer.h"
#include "exhaustive/graph_fingerprint.h"
#include "exhaustive/step_log.h"
#include "memory/testing/rc11_machine.h"
#include "memory/testing/rc11_random.h"

namespace duress::exhaustive {
namespace {

using memory::Legal;
using memory::Rc11Model;
using memory::Rc11Picker;
using memory::testing::Instruction;
using What = Instruction::What;
using namespace memory::testing;

struct Emptied : Arena {
  ~Emptied() { release_all(); }
};

/// An atomic operation, or one of a primitive.
struct Action {
  OpKind kind;
  u32 object = 0;
  u32 mutex = 0;  // of a wait
  Instruction atomic = {What::kFence, 0, kRlx};
  std::string text() const {
    return std::string(word_of(kind)) + " " + std::to_string(is_access(kind) ? atomic.location : object);
  }
};
Action sync(OpKind kind, u32 object, u32 mutex = 0) {
  return {kind, object, mutex, {What::kFence, 0, kRlx}};
}
Action atomic(const Instruction& i) {
  OpKind kind = i.what == What::kLoad    ? OpKind::kAtomicRead
                : i.what == What::kStore ? OpKind::kAtomicWrite
                : i.what == What::kFence ? OpKind::kFence
                                         : OpKind::kAtomicRmw;
  return {kind, 0, 0, i};
}

struct Actions {
  std::vector<std::vector<Action>> threads;
  std::map<u32, u64> counts;  // semaphores that are not 0 at first
  std::string text() const {
    std::string all;
    for (const auto& thread : threads) {
      for (const Action& action : thread) all += action.text() + "; ";
      all += "\n";
    }
    return all;
  }
};

/// Decides who goes on, and everything else that could be otherwise.
struct Decider {
  virtual ~Decider() = default;
  virtual u32 thread(const std::vector<u32>& ready) = 0;
  virtual u32 age(u64 legal) = 0;      // bits
  virtual u32 woken(u64 waiting) = 0;  // bits
};

class Runner final : Rc11Picker {
 public:
  Runner(const Actions& program, Decider& decider)
      : program_(program),
        decider_(decider),
        threads_(arena_),
        model_(arena_, threads_, {.fair_after = 0, .buckets = 4}),
        memory_(4),
        released_(4),
        next_(program.threads.size()),
        relock_(program.threads.size(), kNone),
        waiting_(program.threads.size()),
        held_(program.threads.size()) {
    for (std::size_t i = 0; i < program.threads.size(); ++i) threads_.start();
    for (auto [object, count] : program.counts) states_[object] = count;
    for (u32 t = 0; t < next_.size(); ++t) go_on(t);
  }
  ~Runner() {
    for (ReleaseClock& clock : released_) clock.clear(arena_);
    for (auto& [object, clock] : clocks_) clock.clear(arena_);
  }

  void run() {
    for (;;) {
      std::vector<u32> ready;
      for (u32 t = 0; t < next_.size(); ++t) {
        if (can_go(t)) ready.push_back(t);
      }
      if (ready.empty()) break;
      u32 t = decider_.thread(ready);
      if (std::find(ready.begin(), ready.end(), t) == ready.end()) {
        limits |= StepLog::kIllegal;
        return;
      }
      step(t);
    }
    for (u32 t = 0; t < next_.size(); ++t) {
      if (over(t)) continue;
      stuck = true;
      if (waiting_[t]) continue;
      Step s = describe(t);
      s.flags |= Step::kPending;
      steps.push_back(s);
    }
  }

  std::vector<Step> steps;
  u32 limits = 0;
  bool stuck = false;

 private:
  static constexpr u32 kNone = ~0u;
  bool over(u32 t) const { return next_[t] == program_.threads[t].size() && relock_[t] == kNone; }
  Action mine(u32 t) const {
    return relock_[t] != kNone ? sync(OpKind::kLock, relock_[t]) : program_.threads[t][next_[t]];
  }
  bool can_go(u32 t) {
    if (over(t) || waiting_[t]) return false;
    Action now = mine(t);
    return !may_wait(now.kind) || enabled(now.kind, states_[now.object]);
  }
  /// Fences, and unlocks of what was not got, are no steps.
  void go_on(u32 t) {
    while (relock_[t] == kNone && next_[t] < program_.threads[t].size()) {
      const Action& now = program_.threads[t][next_[t]];
      if (now.kind == OpKind::kFence) {
        model_.fence(threads_[t], now.atomic.order);
      } else if ((now.kind != OpKind::kUnlock && now.kind != OpKind::kWait) ||
                 held_[t].count(now.kind == OpKind::kWait ? now.mutex : now.object)) {
        return;
      }
      ++next_[t];
    }
  }
  static u64 address(u32 object) { return 0x9000 + 16 * object; }
  u32 read(const Legal& legal) override {
    u64 bits = 0;
    for (u32 i = 0; i < legal.count; ++i) bits |= u64{1} << legal.values[i].age;
    u32 age = decider_.age(bits);
    for (u32 i = 0; i < legal.count; ++i) {
      if (legal.values[i].age == age) return i;
    }
    limits |= StepLog::kIllegal;
    return 0;
  }
  u32 place(u32, u32) override {
    u32 i = 0, age = decider_.age(model_.open().legal);
    for (u64 rest = model_.open().legal; rest; rest &= rest - 1, ++i) {
      if (static_cast<u32>(__builtin_ctzll(rest)) == age) return i;
    }
    limits |= StepLog::kIllegal;
    return 0;
  }

  Step describe(u32 t) {
    Action now = mine(t);
    Step s;
    s.kind = now.kind;
    s.strand = static_cast<u8>(t);
    if (is_access(now.kind)) {
      s.flags = Step::kHasStoreAge;
      s.add(0x1000 + 16 * now.atomic.location, 8, Mode::kWrite, 0);
      if (now.kind == OpKind::kAtomicRead) s.touch[0].mode = Mode::kRead;
      return s;
    }
    s.add(address(now.object), 1, Mode::kWrite, states_[now.object]);
    if (now.kind == OpKind::kWait) s.add(address(now.mutex), 1, Mode::kWrite, kWriter);
    if (now.kind == OpKind::kSignal) s.choices = states_[now.object];
    s.touch[0].mode = mode_of(s, s.touch[0]);
    return s;
  }

  void step(u32 t) {
    Action now = mine(t);
    Step s = describe(t);
    ThreadClock& who = threads_[t];
    if (is_access(now.kind)) {
      access(who, now.atomic, s);
    } else {
      bool wrote = s.touch[0].mode == Mode::kWrite;
      u64& state = states_[now.object];
      if (now.kind == OpKind::kSignal && state) {
        u32 woken = decider_.woken(state);
        s.value = static_cast<u8>(1 + woken);
        steps.push_back(s);
        wake(woken, t, state);
      } else {
        steps.push_back(s);
        if (wrote) primitive(t, who, now, state);
      }
    }
    if (is_access(now.kind)) steps.push_back(s);
    if (relock_[t] != kNone && now.kind == OpKind::kLock) {
      relock_[t] = kNone;
    } else {
      ++next_[t];
    }
    go_on(t);
  }

  void wake(u32 woken, u32 by, u64& state) {
    state &= ~(u64{1} << woken);
    waiting_[woken] = false;
    Step after;
    after.flags = Step::kAfter;
    after.strand = static_cast<u8>(woken);
    after.other = static_cast<u8>(by);
    steps.push_back(after);
  }

  void primitive(u32 t, ThreadClock& who, const Action& now, u64& state) {
    ReleaseClock& clock = clocks_[now.object];
    switch (now.kind) {
      case OpKind::kLock:
      case OpKind::kTryLock:
        state = kWriter;
        held_[t].insert(now.object);
        who.acquire(clock);
        break;
      case OpKind::kReadLock:
      case OpKind::kTryReadLock:
        ++state;
        held_[t].insert(now.object);
        who.acquire(clock);
        break;
      case OpKind::kUnlock:
        state = state == kWriter ? 0 : state - 1;
        held_[t].erase(now.object);
        who.release_to(clock);
        break;
      case OpKind::kPost:
        ++state;
        who.release_to(clock);
        break;
      case OpKind::kAcquire:
      case OpKind::kTryAcquire:
        --state;
        who.acquire(clock);
        break;
      case OpKind::kWait:
        state |= u64{1} << t;
        waiting_[t] = true;
        relock_[t] = now.mutex;
        states_[now.mutex] = 0;
        held_[t].erase(now.mutex);
        who.release_to(clocks_[now.mutex]);
        break;
      case OpKind::kBroadcast:
        for (u64 rest = state; rest; rest &= rest - 1)
          wake(static_cast<u32>(__builtin_ctzll(rest)), t, state);
        break;
      default:
        break;
    }
  }

  void access(ThreadClock& who, const Instruction& now, Step& s) {
    u32 where = now.location;
    Rc11Model::Object object = {0x1000 + 16 * where, 8, SiteId{1}, released_[where]};
    bool wrote = false;
    if (now.what == What::kLoad) {
      model_.load(who, object, now.order, memory_[where], *this);
    } else if (now.what == What::kStore) {
      wrote = true;
      if (model_.store(who, object, now.order, memory_[where], now.value, *this).newest)
        memory_[where] = now.value;
    } else {
      InstructionUpdate change(now);
      Rc11Model::Updated updated =
          model_.update(who, object, now.order, now.failure, memory_[where], change, *this);
      wrote = updated.wrote;
      if (wrote && updated.written.newest) memory_[where] = static_cast<u64>(updated.value);
    }
    s.touch[0].mode = wrote ? Mode::kWrite : Mode::kRead;
    s.value = static_cast<u8>(model_.open().picked);
    s.choices = model_.open().legal;
  }

  const Actions& program_;
  Decider& decider_;
  Emptied arena_;
  Threads threads_;
  Rc11Model model_;
  std::vector<u64> memory_;
  std::vector<ReleaseClock> released_;
  std::map<u32, ReleaseClock> clocks_;
  std::map<u32, u64> states_;
  std::vector<std::size_t> next_;
  std::vector<u32> relock_;
  std::vector<bool> waiting_;
  std::vector<std::set<u32>> held_;
};

/// The execution as text, in the plainest way.
std::string text_of(const std::vector<Step>& steps) {
  std::map<u64, std::vector<std::string>> orders;  // of stores, or of whoever wrote
  std::map<std::string, std::string> events;       // what each came after
  std::map<u64, std::set<std::string>> readers;
  std::map<u32, u32> counts;
  for (const Step& s : steps) {
    if (s.is(Step::kPending) || s.is(Step::kAfter)) continue;
    std::string name = std::to_string(s.strand) + "." + std::to_string(counts[s.strand]++);
    std::string& event = events[name];
    event = word_of(s.kind);
    for (u32 t = 0; t < s.touches; ++t) {
      std::vector<std::string>& order = orders[s.touch[t].object];
      if (order.empty()) order.push_back("initial");
      u32 age = s.is(Step::kHasStoreAge) ? s.value : 0;
      auto at = order.end() - age;
      if (s.kind != OpKind::kAtomicWrite) event += " after " + *(at - 1);
      if (s.touch[t].mode == Mode::kWrite) order.insert(at, name);
    }
    if (!s.is(Step::kHasStoreAge) && s.value) event += " wakes " + std::to_string(s.value);
  }
  std::string text;
  for (auto& [name, event] : events) text += name + " " + event + "|";
  for (auto& [object, order] : orders) {
    for (std::string& name : order) text += name + " ";
    text += ";";
  }
  return text;
}

struct Executions {
  std::set<std::string> all, stuck;
  u64 runs = 0, diverged = 0, illegal = 0, fingerprints = 0;
};

/// Slow and simple.
Executions judge(const Actions& program) {
  struct Decision {
    u32 answer, count;
  };
  struct All final : Decider {
    std::vector<Decision> path;
    std::size_t at = 0;
    u32 decide(u32 count) {
      if (at == path.size()) path.push_back({0, count});
      return path[at++].answer;
    }
    u32 bit(u64 bits) {
      u32 n = decide(static_cast<u32>(__builtin_popcountll(bits)));
      while (n-- > 0) bits &= bits - 1;
      return static_cast<u32>(__builtin_ctzll(bits));
    }
    u32 thread(const std::vector<u32>& ready) override {
      return ready[decide(static_cast<u32>(ready.size()))];
    }
    u32 age(u64 legal) override { return bit(legal); }
    u32 woken(u64 waiting) override { return bit(waiting); }
  } all;
  Executions found;
  do {
    all.at = 0;
    Runner runner(program, all);
    runner.run();
    ++found.runs;
    found.all.insert(text_of(runner.steps));
    if (runner.stuck) found.stuck.insert(text_of(runner.steps));
    while (!all.path.empty() && ++all.path.back().answer == all.path.back().count) all.path.pop_back();
  } while (!all.path.empty());
  return found;
}

Executions explore(const Actions& program) {
  struct Planned final : Decider {
    Explorer::Plan plan;
    u32 at = 0;  // the step
    u32 running = 0;
    u32 value() const { return at <= plan.count ? plan.picks[at - 1].value : 0; }
    u32 thread(const std::vector<u32>& ready) override {
      ++at;
      if (at <= plan.count) return running = plan.picks[at - 1].strand;
      for (u32 t : ready) {
        if (t == running) return t;
      }
      return running = ready[0];
    }
    u32 age(u64) override { return value(); }
    u32 woken(u64 waiting) override {
      return value() ? value() - 1 : static_cast<u32>(__builtin_ctzll(waiting));
    }
  };
  Emptied arena;
  Executions found;
  std::set<u64> fingerprints;
  {
    Explorer explorer(arena);
    GraphFingerprint fingerprint(arena);
    Planned planned;
    while (explorer.next(&planned.plan)) {
      planned.at = 0;
      Runner runner(program, planned);
      runner.run();
      ++found.runs;
      found.illegal += (runner.limits & StepLog::kIllegal) != 0;
      auto count = static_cast<u32>(runner.steps.size());
      found.diverged += !explorer.learn(planned.plan.ticket, runner.steps.data(), count);
      found.all.insert(text_of(runner.steps));
      if (runner.stuck) found.stuck.insert(text_of(runner.steps));
      fingerprints.insert(fingerprint.of(runner.steps.data(), count));
      if (found.runs > 200000) break;
    }
  }
  found.fingerprints = fingerprints.size();
  return found;
}

void expect_same(const Actions& program, const std::string& what) {
  Executions judged = judge(program), explored = explore(program);
  ASSERT_EQ(explored.all.size(), judged.all.size()) << what << "\n" << program.text();
  ASSERT_EQ(explored.all, judged.all) << what << "\n" << program.text();
  ASSERT_EQ(explored.stuck, judged.stuck) << what << "\n" << program.text();
  ASSERT_EQ(explored.fingerprints, judged.all.size()) << what << "\n" << program.text();
  ASSERT_EQ(explored.diverged + explored.illegal, 0u) << what << "\n" << program.text();
}

TEST(Interleavings, PrimitivesInAllOrders) {
  auto lock = [](u32 m) { return sync(OpKind::kLock, m); };
  auto try_lock = [](u32 m) { return sync(OpKind::kTryLock, m); };
  auto unlock = [](u32 m) { return sync(OpKind::kUnlock, m); };
  auto read_lock = [](u32 m) { return sync(OpKind::kReadLock, m); };
  auto acquire = [](u32 m) { return sync(OpKind::kAcquire, m); };
  auto check = [](const Actions& program, u64 executions, u64 stuck, const char* what) {
    Executions explored = explore(program);
    EXPECT_EQ(explored.all.size(), executions) << what;
    EXPECT_EQ(explored.stuck.size(), stuck) << what;
    EXPECT_EQ(explored.runs, executions) << what;  // no atomics: none twice
    expect_same(program, what);
  };
  check({{{lock(0), unlock(0)}, {try_lock(0), unlock(0)}}, {}}, 3, 0, "before, while it is held, after");
  check({{{read_lock(0), unlock(0)}, {read_lock(0), unlock(0)}}, {}}, 6, 0, "readers in every order");
  check({{{lock(0), unlock(0)}, {read_lock(0), unlock(0)}}, {}}, 2, 0, "reader and writer");
  check({{{acquire(0)}, {acquire(0)}, {sync(OpKind::kPost, 0)}}, {{0, 1}}}, 4, 0, "enough for both");
  check({{{acquire(0)}, {acquire(0)}}, {{0, 1}}}, 2, 2, "enough for one");
  check(
      {{{lock(0), sync(OpKind::kWait, 1, 0), unlock(0)}, {lock(0), sync(OpKind::kSignal, 1), unlock(0)}}, {}},
      2, 1, "the signal is lost if it comes first");
}

TEST(Interleavings, RandomPrograms) {
  u64 runs = 0, executions = 0, stuck = 0;
  for (u64 seed = 1; seed <= 400; ++seed) {
    Prng prng(seed);
    u32 threads = 2 + static_cast<u32>(prng.below(2));
    Program base = random_program(prng, threads, 2 + static_cast<u32>(prng.below(2)), 2);
    Actions program;
    u32 budget = threads == 2 ? 4 : 3;  // primitives: the judge is slow
    for (auto& thread : base.threads) {
      std::vector<Action> all;
      auto primitive = [&] {
        if (budget == 0 || prng.chance(1, 3)) return;
        --budget;
        switch (prng.below(6)) {
          case 0:
            all.push_back(sync(prng.chance(1, 2) ? OpKind::kTryLock : OpKind::kLock, 0));
            if (prng.chance(1, 3)) all.push_back(sync(OpKind::kWait, 5, 0));
            break;
          case 1:
            all.push_back(sync(prng.chance(1, 2) ? OpKind::kSignal : OpKind::kBroadcast, 5));
            break;
          case 2:
            all.push_back(sync(prng.chance(1, 2) ? OpKind::kTryAcquire : OpKind::kAcquire, 2));
            break;
          case 3:
            all.push_back(sync(OpKind::kPost, 2));
            break;
          case 4:
            all.push_back(sync(prng.chance(1, 2) ? OpKind::kTryReadLock : OpKind::kReadLock, 3));
            break;
          default:
            all.push_back(sync(prng.chance(1, 2) ? OpKind::kTryLock : OpKind::kLock, 3));
            break;
        }
      };
      for (const Instruction& i : thread) {
        primitive();
        all.push_back(atomic(i));
        if (prng.chance(1, 2)) all.push_back(sync(OpKind::kUnlock, prng.chance(1, 2) ? 0 : 3));
      }
      primitive();
      all.push_back(sync(OpKind::kUnlock, 0));
      all.push_back(sync(OpKind::kUnlock, 3));
      program.threads.push_back(all);
    }
    expect_same(program, "seed " + std::to_string(seed));
    if (HasFatalFailure()) return;
    Executions explored = explore(program);
    runs += explored.runs;
    executions += explored.all.size();
    stuck += explored.stuck.size();
  }
  EXPECT_GT(executions, 1000u);
  EXPECT_GT(stuck, 50u);
  printf("%lu executions, %lu of them stuck, by %lu runs\n", executions, stuck, runs);
}

}  // namespace
}  // namespace duress::exhaustive
