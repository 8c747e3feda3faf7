// SPDX-License-Identifier: Apache-2.0
//
// Exploring by interleavings under rc11, as it is done where threads meet at more than atomics and mutexes:
// for random programs of tries, semaphores, reader-writer locks and conditions among atomics, exactly the
// executions that a judge finds who lets every thread go on at every step and read every legal store.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "action_runner.h"
#include "exhaustive/explorer.h"
#include "exhaustive/graph_fingerprint.h"
#include "exhaustive/step_log.h"
#include "memory/testing/rc11_random.h"

namespace duress::exhaustive {
namespace {

using memory::testing::AllDecisions;
using memory::testing::Instruction;
using testing::Action;
using testing::ActionRunner;
using testing::Actions;
using testing::atomic;
using testing::Decider;
using testing::sync;

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
  struct All final : Decider {
    AllDecisions decisions;
    u32 bit(u64 bits) {
      u32 n = decisions.choose(static_cast<u32>(__builtin_popcountll(bits)));
      while (n-- > 0) bits &= bits - 1;
      return static_cast<u32>(__builtin_ctzll(bits));
    }
    u32 thread(const std::vector<u32>& ready) override {
      return ready[decisions.choose(static_cast<u32>(ready.size()))];
    }
    u32 age(u64 legal) override { return bit(legal); }
    u32 woken(u64 waiting) override { return bit(waiting); }
  } all;
  Executions found;
  do {
    ActionRunner runner(program, all);
    runner.run();
    ++found.runs;
    found.all.insert(text_of(runner.steps));
    if (runner.stuck) found.stuck.insert(text_of(runner.steps));
  } while (all.decisions.advance());
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
  ScopedArena arena;
  Executions found;
  std::set<u64> fingerprints;
  Explorer explorer(arena);
  GraphFingerprint fingerprint(arena);
  Planned planned;
  while (explorer.next(&planned.plan)) {
    planned.at = 0;
    ActionRunner runner(program, planned);
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

void add_primitive(Prng& prng, std::vector<Action>& thread) {
  auto either = [&](OpKind first, OpKind second) { return prng.chance(1, 2) ? first : second; };
  switch (prng.below(6)) {
    case 0:
      thread.push_back(sync(either(OpKind::kTryLock, OpKind::kLock), 0));
      if (prng.chance(1, 3)) thread.push_back(sync(OpKind::kWait, 5, 0));
      break;
    case 1:
      thread.push_back(sync(either(OpKind::kSignal, OpKind::kBroadcast), 5));
      break;
    case 2:
      thread.push_back(sync(either(OpKind::kTryAcquire, OpKind::kAcquire), 2));
      break;
    case 3:
      thread.push_back(sync(OpKind::kPost, 2));
      break;
    case 4:
      thread.push_back(sync(either(OpKind::kTryReadLock, OpKind::kReadLock), 3));
      break;
    default:
      thread.push_back(sync(either(OpKind::kTryLock, OpKind::kLock), 3));
      break;
  }
}

Actions random_actions(Prng& prng) {
  u32 threads = 2 + static_cast<u32>(prng.below(2));
  memory::testing::Program atomics =
      memory::testing::random_program(prng, threads, 2 + static_cast<u32>(prng.below(2)), 2);
  Actions program;
  u32 budget = threads == 2 ? 4 : 3;  // primitives: the judge is slow
  for (const auto& thread : atomics.threads) {
    std::vector<Action> all;
    auto maybe_primitive = [&] {
      if (budget == 0 || prng.chance(1, 3)) return;
      --budget;
      add_primitive(prng, all);
    };
    for (const Instruction& i : thread) {
      maybe_primitive();
      all.push_back(atomic(i));
      if (prng.chance(1, 2)) all.push_back(sync(OpKind::kUnlock, prng.chance(1, 2) ? 0 : 3));
    }
    maybe_primitive();
    all.push_back(sync(OpKind::kUnlock, 0));
    all.push_back(sync(OpKind::kUnlock, 3));
    program.threads.push_back(all);
  }
  return program;
}

/// Mostly atomics, so that stores take places before older ones; a semaphore or a trylock beside them.
Actions random_atomics(Prng& prng) {
  u32 threads = 2 + static_cast<u32>(prng.below(2));
  u32 events = (threads == 2 ? 6 : 5) + static_cast<u32>(prng.below(2));
  memory::testing::Program atomics = memory::testing::random_program(prng, threads, events, 2);
  Actions program;
  u32 budget = 2;
  for (const auto& thread : atomics.threads) {
    std::vector<Action>& all = program.threads.emplace_back();
    for (Instruction i : thread) {
      if (i.what == Instruction::What::kLoad && prng.chance(1, 3))
        i = memory::testing::compare(i.location, prng.below(events), 50 + all.size(), i.order, i.order);
      all.push_back(atomic(i));
      if (budget == 0 || prng.chance(1, 2)) continue;
      --budget;
      constexpr OpKind kKinds[] = {OpKind::kPost, OpKind::kTryAcquire, OpKind::kAcquire, OpKind::kTryLock,
                                   OpKind::kUnlock};
      u64 kind = prng.below(5);
      all.push_back(sync(kKinds[kind], kind < 3 ? 2 : 0));
    }
  }
  return program;
}

struct Totals {
  u64 runs = 0, executions = 0, stuck = 0;
};
void expect_same_of(Actions (*random)(Prng&), u64 programs, Totals* totals) {
  for (u64 seed = 1; seed <= programs; ++seed) {
    Prng prng(seed);
    Actions program = random(prng);
    expect_same(program, "seed " + std::to_string(seed));
    if (::testing::Test::HasFatalFailure()) return;
    Executions explored = explore(program);
    totals->runs += explored.runs;
    totals->executions += explored.all.size();
    totals->stuck += explored.stuck.size();
  }
  printf("%lu executions, %lu of them stuck, by %lu runs\n", totals->executions, totals->stuck, totals->runs);
}

TEST(Interleavings, RandomPrograms) {
  Totals totals;
  expect_same_of(random_actions, 400, &totals);
  EXPECT_GT(totals.executions, 1000u);
  EXPECT_GT(totals.stuck, 50u);
  EXPECT_LT(totals.runs, totals.executions * 11 / 10);
}

TEST(Interleavings, RandomAtomics) {
  Totals totals;
  expect_same_of(random_atomics, 300, &totals);
  EXPECT_GT(totals.executions, 3000u);
  EXPECT_LT(totals.runs, totals.executions * 11 / 10);
}

}  // namespace
}  // namespace duress::exhaustive
