// SPDX-License-Identifier: Apache-2.0
//
// Exploring by graphs against brute force: for every program as many executions as there are graphs that the
// axioms allow (memory/testing/rc11_program.h, which knows neither the model nor the explorer), none twice.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "graph_runner.h"
#include "memory/testing/rc11_random.h"

namespace duress::exhaustive {
namespace {

using testing::GraphRunner;
using What = memory::testing::Instruction::What;
using namespace memory::testing;

/// The graph of an execution as text: what each event read, and the orders of stores and of locks.
std::string graph_of(const std::vector<Step>& steps) {
  std::map<u64, std::vector<std::string>> orders;
  std::map<u32, std::string> threads;
  std::map<u32, u32> counts;
  for (const Step& s : steps) {
    if (s.is(Step::kPending)) continue;
    std::string name = std::to_string(s.strand) + "." + std::to_string(counts[s.strand]++);
    std::vector<std::string>& order = orders[s.touch[0].object];
    if (order.empty()) order.push_back("initial");
    u32 age = is_access(s.kind) ? s.value : 0;
    auto at = order.end() - age;
    if (s.kind != OpKind::kAtomicWrite && s.kind != OpKind::kUnlock) threads[s.strand] += *(at - 1) + " ";
    if (s.touch[0].mode == Mode::kWrite) order.insert(at, name);
  }
  std::string text;
  for (auto& [thread, reads] : threads) text += reads + "|";
  for (auto& [object, order] : orders) {
    for (std::string& name : order) text += name + " ";
    text += ";";
  }
  return text;
}

/// The reference where there are locks: every thread at every step, every legal value; slow and simple.
struct BruteForce {
  std::set<std::string> graphs, stuck;
};
BruteForce brute_force(const Program& program) {
  BruteForce all;
  AllDecisions decisions;
  do {
    GraphRunner runner(program);
    runner.run(decisions);
    all.graphs.insert(graph_of(runner.steps));
    if (runner.stuck) all.stuck.insert(graph_of(runner.steps));
  } while (decisions.advance());
  return all;
}

struct Counts {
  u64 graphs = 0, again = 0, illegal = 0, diverged = 0, stuck = 0;
};

/// Whether it got stuck.
bool run_next(GraphExplorer& graphs, const GraphExplorer::Plan& plan, const Program& program,
              GraphExplorer::Learned* learned) {
  GraphRunner runner(program);
  runner.run(plan);
  *learned =
      graphs.learn(plan.ticket, runner.steps.data(), static_cast<u32>(runner.steps.size()), runner.limits);
  return runner.stuck;
}

/// How many graphs come of each piece of work that waits after the first execution, each explored by itself.
u64 explore_apart(const Program& program) {
  ScopedArena arena;
  u64 count = 0;
  GraphExplorer graphs(arena);
  GraphExplorer::Plan plan;
  GraphExplorer::Learned learned = GraphExplorer::Learned::kDuplicate;
  if (graphs.next(&plan)) run_next(graphs, plan, program, &learned);
  count += learned == GraphExplorer::Learned::kNew;
  graphs.upcoming(~0u, [&](const GraphExplorer::Upcoming& one) {
    GraphExplorer speculative(arena);
    speculative.begin_subtree(graphs, one.leaf);
    for (GraphExplorer::Plan guess; speculative.next(&guess) && speculative.in_subtree(guess.ticket);) {
      run_next(speculative, guess, program, &learned);
      count += learned == GraphExplorer::Learned::kNew;
    }
  });
  return count;
}

Counts explore(const Program& program) {
  ScopedArena arena;
  Counts counts;
  GraphExplorer graphs(arena);
  GraphExplorer::Plan plan;
  while (graphs.next(&plan)) {
    GraphExplorer::Learned learned;
    bool stuck = run_next(graphs, plan, program, &learned);
    counts.graphs += learned == GraphExplorer::Learned::kNew;
    counts.stuck += learned == GraphExplorer::Learned::kNew && stuck;
    if (graphs.redundant() + graphs.illegal() > 100000) break;
  }
  counts.again = graphs.redundant();
  counts.illegal = graphs.illegal();
  counts.diverged = graphs.diverged();
  return counts;
}

constexpr u32 x = 0, y = 1;

TEST(GraphExplorer, WellKnownShapes) {
  auto check = [](const Program& program, u64 graphs) {
    Counts counts = explore(program);
    EXPECT_EQ(counts.graphs, graphs) << program.text();
    EXPECT_EQ(counts.graphs, declared(program).graphs.size()) << program.text();
    EXPECT_EQ(counts.again, 0u) << program.text();
    EXPECT_EQ(counts.diverged, 0u) << program.text();
  };
  check({2, {{store(x, 1, kRlx), load(y, kRlx)}, {store(y, 1, kRlx), load(x, kRlx)}}}, 4);
  check({2, {{store(x, 1, kSc), load(y, kSc)}, {store(y, 1, kSc), load(x, kSc)}}}, 3);
  check({2, {{store(x, 1, kRlx), store(y, 1, kRel)}, {load(y, kAcq), load(x, kRlx)}}}, 3);
  check({2, {{load(y, kAcq), load(x, kRlx)}, {store(x, 1, kRlx), store(y, 1, kRel)}}}, 3);
  check({2, {{store(x, 1, kRlx), store(y, 2, kRlx)}, {store(y, 1, kRlx), store(x, 2, kRlx)}}}, 4);
  check({2, {{load(x, kRlx), store(y, 1, kRlx)}, {load(y, kRlx), store(x, 1, kRlx)}}}, 3);
  check({1, {{add(x, 1, kRlx)}, {add(x, 1, kRlx)}, {add(x, 1, kRlx)}}}, 6);
  check({1, {{load(x, kRlx), load(x, kRlx)}, {store(x, 1, kRlx)}, {store(x, 2, kRlx)}}}, 12);
}

TEST(GraphExplorer, RandomProgramsHaveTheGraphsOfTheAxioms) {
  u64 graphs = 0, again = 0, illegal = 0;
  for (u64 seed = 1; seed <= 1500; ++seed) {
    Prng prng(seed);
    u32 threads = 2 + static_cast<u32>(prng.below(2));
    Program program = random_program(prng, threads, 4 + static_cast<u32>(prng.below(2)), 2);
    Counts counts = explore(program);
    ASSERT_EQ(counts.graphs, declared(program).graphs.size()) << "seed " << seed << "\n" << program.text();
    ASSERT_EQ(counts.diverged, 0u) << "seed " << seed << "\n" << program.text();
    ASSERT_EQ(counts.graphs, explore_apart(program)) << "seed " << seed << "\n" << program.text();
    graphs += counts.graphs;
    again += counts.again;
    illegal += counts.illegal;
  }
  EXPECT_GT(graphs, 5000u);
  EXPECT_EQ(again, 0u);
  printf("%lu graphs, %lu again, %lu illegal\n", graphs, again, illegal);
}

TEST(GraphExplorer, LargerRandomPrograms) {
  for (u64 seed = 1; seed <= 150; ++seed) {
    Prng prng(seed * 7919);
    u32 threads = 2 + static_cast<u32>(prng.below(3));
    Program program = random_program(prng, threads, 6 + static_cast<u32>(prng.below(2)), 1 + seed % 3);
    Counts counts = explore(program);
    ASSERT_EQ(counts.graphs, declared(program).graphs.size()) << "seed " << seed << "\n" << program.text();
    ASSERT_EQ(counts.again, 0u) << "seed " << seed << "\n" << program.text();
    ASSERT_EQ(counts.diverged, 0u) << "seed " << seed << "\n" << program.text();
  }
}

Instruction lock(u32 which) {
  return {What::kAcquire, which, kSc};
}
Instruction unlock(u32 which) {
  return {What::kRelease, which, kSc};
}

TEST(GraphExplorer, LocksAreTakenInAllOrders) {
  auto check = [](const Program& program, u64 graphs, u64 stuck) {
    Counts counts = explore(program);
    BruteForce all = brute_force(program);
    EXPECT_EQ(counts.graphs, graphs) << program.text();
    EXPECT_EQ(counts.stuck, stuck) << program.text();
    EXPECT_EQ(all.graphs.size(), graphs) << program.text();
    EXPECT_EQ(all.stuck.size(), stuck) << program.text();
    EXPECT_EQ(counts.again + counts.illegal + counts.diverged, 0u) << program.text();
  };
  check({1, {{lock(0), unlock(0)}, {lock(0), unlock(0)}}}, 2, 0);
  check({1, {{lock(0), unlock(0)}, {lock(0), unlock(0)}, {lock(0), unlock(0)}}}, 6, 0);
  check({1, {{lock(0), unlock(0), lock(0), unlock(0)}, {lock(0), unlock(0)}, {lock(0), unlock(0)}}}, 12, 0);
  check({2, {{lock(0), lock(1), unlock(1), unlock(0)}, {lock(1), lock(0), unlock(0), unlock(1)}}}, 3, 1);
  check({2,
         {{lock(0), store(x, 1, kRlx), unlock(0), load(y, kRlx)},
          {store(y, 1, kRlx), lock(0), load(x, kRlx), unlock(0)}}},
        3, 0);
}

TEST(GraphExplorer, RandomProgramsWithLocks) {
  u64 graphs = 0, stuck = 0, again = 0;
  for (u64 seed = 1; seed <= 400; ++seed) {
    Prng prng(seed);
    Program program = random_program(prng, 2 + static_cast<u32>(prng.below(2)), 3, 2);
    // Around some instructions a lock, sometimes two.
    for (auto& thread : program.threads) {
      std::vector<Instruction> all;
      for (const Instruction& i : thread) {
        u32 first = static_cast<u32>(prng.below(2));
        u64 depth = prng.below(3);
        if (depth > 0) all.push_back(lock(first));
        if (depth > 1) all.push_back(lock(1 - first));
        all.push_back(i);
        if (depth > 1) all.push_back(unlock(1 - first));
        if (depth > 0) all.push_back(unlock(first));
      }
      thread = all;
    }
    Counts counts = explore(program);
    BruteForce all = brute_force(program);
    ASSERT_EQ(counts.graphs, all.graphs.size()) << "seed " << seed << "\n" << program.text();
    ASSERT_EQ(counts.stuck, all.stuck.size()) << "seed " << seed << "\n" << program.text();
    ASSERT_EQ(counts.diverged, 0u) << "seed " << seed << "\n" << program.text();
    ASSERT_EQ(counts.graphs, explore_apart(program)) << "seed " << seed << "\n" << program.text();
    graphs += counts.graphs;
    stuck += counts.stuck;
    again += counts.again;
  }
  EXPECT_GT(graphs, 1000u);
  EXPECT_GT(stuck, 20u);
  EXPECT_EQ(again, 0u);
}

}  // namespace
}  // namespace duress::exhaustive
