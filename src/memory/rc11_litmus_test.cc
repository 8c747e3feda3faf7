// SPDX-License-Identifier: Apache-2.0
//
// The model against the axioms on programs that are small enough for all executions of both: the same
// outcomes, and the same graphs of reads-from and modification order. What each well-known shape allows is
// stated as well, so that a mistake that both make is found.
#include <gtest/gtest.h>

#include "memory/testing/rc11_machine.h"
#include "memory/testing/rc11_random.h"

namespace duress::memory::testing {
namespace {

constexpr u32 x = 0, y = 1, z = 2;

/// All executions of both. Returns them if they agree.
Results both(const Program& program) {
  Results machine = executed(program), axioms = declared(program);
  EXPECT_EQ(machine.outcomes, axioms.outcomes) << program.text();
  EXPECT_EQ(machine.graphs, axioms.graphs) << program.text();
  return machine;
}

struct Shape {
  Program program;
  u64 graphs;        // how many executions there are, up to the order of independent events
  std::string weak;  // the outcome that no interleaving has (or that the axioms forbid)
  bool allowed;
};

void check(const char* name, const Shape& shape) {
  SCOPED_TRACE(name);
  Results results = both(shape.program);
  EXPECT_EQ(results.graphs.size(), shape.graphs);
  EXPECT_EQ(results.outcomes.count(shape.weak) != 0, shape.allowed) << shape.weak;
}

// ---- two threads ---------------------------------------------------------------------------------

Program store_buffering(MemoryOrder w, MemoryOrder r) {
  return {2, {{store(x, 1, w), load(y, r)}, {store(y, 1, w), load(x, r)}}};
}

TEST(Rc11Litmus, StoreBuffering) {
  check("rlx", {store_buffering(kRlx, kRlx), 4, "0 | 0 ; 1 1", true});
  check("rel-acq", {store_buffering(kRel, kAcq), 4, "0 | 0 ; 1 1", true});
  check("sc", {store_buffering(kSc, kSc), 3, "0 | 0 ; 1 1", false});
  check("sc-rlx", {store_buffering(kSc, kRlx), 4, "0 | 0 ; 1 1", true});
  for (MemoryOrder order : {kAcq, kRel, kAcqRel, kSc}) {
    Program fenced = {
        2,
        {{store(x, 1, kRlx), fence(order), load(y, kRlx)}, {store(y, 1, kRlx), fence(order), load(x, kRlx)}}};
    check("fences", {fenced, order == kSc ? 3u : 4u, "0 | 0 ; 1 1", order != kSc});
  }
  // One fence is not enough, a fence and seq_cst accesses are.
  check("one fence",
        {{2, {{store(x, 1, kRlx), fence(kSc), load(y, kRlx)}, {store(y, 1, kRlx), load(x, kRlx)}}},
         4,
         "0 | 0 ; 1 1",
         true});
  check("fence and sc",
        {{2, {{store(x, 1, kRlx), fence(kSc), load(y, kRlx)}, {store(y, 1, kSc), load(x, kSc)}}},
         3,
         "0 | 0 ; 1 1",
         false});
  // An update reads the newest that is there: both cannot miss each other through it.
  check("exchange",
        {{2, {{exchange(x, 1, kAcqRel), load(y, kAcq)}, {exchange(y, 1, kAcqRel), load(x, kAcq)}}},
         4,
         "0 0 | 0 0 ; 1 1",
         true});
}

Program message_passing(MemoryOrder w, MemoryOrder r) {
  return {2, {{store(x, 1, kRlx), store(y, 1, w)}, {load(y, r), load(x, kRlx)}}};
}

TEST(Rc11Litmus, MessagePassing) {
  check("rlx", {message_passing(kRlx, kRlx), 4, "| 1 0 ; 1 1", true});
  check("rel-rlx", {message_passing(kRel, kRlx), 4, "| 1 0 ; 1 1", true});
  check("rlx-acq", {message_passing(kRlx, kAcq), 4, "| 1 0 ; 1 1", true});
  check("rel-acq", {message_passing(kRel, kAcq), 3, "| 1 0 ; 1 1", false});
  check("sc", {message_passing(kSc, kSc), 3, "| 1 0 ; 1 1", false});
  Program fences = {
      2, {{store(x, 1, kRlx), fence(kRel), store(y, 1, kRlx)}, {load(y, kRlx), fence(kAcq), load(x, kRlx)}}};
  check("fences", {fences, 3, "| 1 0 ; 1 1", false});
  fences.threads[1][1] = fence(kRel);
  check("wrong fence", {fences, 4, "| 1 0 ; 1 1", true});
  check("release fence, acquire load",
        {{2, {{store(x, 1, kRlx), fence(kRel), store(y, 1, kRlx)}, {load(y, kAcq), load(x, kRlx)}}},
         3,
         "| 1 0 ; 1 1",
         false});
  check("release store, acquire fence",
        {{2, {{store(x, 1, kRlx), store(y, 1, kRel)}, {load(y, kRlx), fence(kAcq), load(x, kRlx)}}},
         3,
         "| 1 0 ; 1 1",
         false});
}

TEST(Rc11Litmus, LoadBufferingIsExcluded) {
  check("rlx", {{2, {{load(x, kRlx), store(y, 1, kRlx)}, {load(y, kRlx), store(x, 1, kRlx)}}},
                3,
                "1 | 1 ; 1 1",
                false});
}

TEST(Rc11Litmus, TwoPlusTwoWrites) {
  auto program = [](MemoryOrder order) {
    return Program{2, {{store(x, 1, order), store(y, 2, order)}, {store(y, 1, order), store(x, 2, order)}}};
  };
  check("rlx", {program(kRlx), 4, "| ; 1 1", true});
  check("rel", {program(kRel), 4, "| ; 1 1", true});
  check("sc", {program(kSc), 3, "| ; 1 1", false});
  Program fenced = {2,
                    {{store(x, 1, kRlx), fence(kSc), store(y, 2, kRlx)},
                     {store(y, 1, kRlx), fence(kSc), store(x, 2, kRlx)}}};
  check("fences", {fenced, 3, "| ; 1 1", false});
}

TEST(Rc11Litmus, Coherence) {
  check("CoRR", {{1, {{store(x, 1, kRlx)}, {load(x, kRlx), load(x, kRlx)}}}, 3, "| 1 0 ; 1", false});
  check("CoRR of two writers", {{1,
                                 {{store(x, 1, kRlx)},
                                  {store(x, 2, kRlx)},
                                  {load(x, kRlx), load(x, kRlx)},
                                  {load(x, kRlx), load(x, kRlx)}}},
                                72,
                                "| | 1 2 | 2 1 ; 1",
                                false});
  check("CoWR", {{1, {{store(x, 1, kRlx), load(x, kRlx)}, {store(x, 2, kRlx)}}}, 3, "0 | ; 2", false});
  check("CoRW", {{1, {{load(x, kRlx), store(x, 2, kRlx)}, {store(x, 1, kRlx)}}}, 3, "1 | ; 1", false});
  check("CoWW", {{1, {{store(x, 1, kRlx), store(x, 2, kRlx)}}}, 1, "; 1", false});
}

TEST(Rc11Litmus, AStoreBehindWhatItFollowed) {
  // R: the second thread's store of y, executed last, comes before the first's in modification order.
  auto program = [](MemoryOrder order) {
    return Program{2, {{store(x, 1, order), store(y, 1, order)}, {store(y, 2, order), load(x, order)}}};
  };
  check("R rlx", {program(kRlx), 4, "| 0 ; 1 2", true});
  check("R sc", {program(kSc), 3, "| 0 ; 1 2", false});
  // S: it has seen x, and still.
  check("S rlx", {{2, {{store(x, 2, kRlx), store(y, 1, kRlx)}, {load(y, kRlx), store(x, 1, kRlx)}}},
                  4,
                  "| 1 ; 2 1",
                  true});
  check("S rel-acq", {{2, {{store(x, 2, kRlx), store(y, 1, kRel)}, {load(y, kAcq), store(x, 1, kRlx)}}},
                      3,
                      "| 1 ; 2 1",
                      false});
  // An update likewise: it comes before a store that was executed first.
  check("S update", {{2, {{store(x, 7, kRlx), store(y, 1, kRlx)}, {load(y, kRlx), add(x, 1, kRlx)}}},
                     4,
                     "| 1 0 ; 7 1",
                     true});
}

TEST(Rc11Litmus, SeqCstMayDisagreeWithTheOrderOfExecution) {
  // What reads z must be executed after it, and so after the store of x; in S it is before.
  check("relaxed message", {{2, {{store(x, 1, kSc), store(y, 1, kRlx)}, {load(y, kRlx), store(x, 2, kSc)}}},
                            4,
                            "| 1 ; 1 1",
                            true});
}

TEST(Rc11Litmus, ReleaseSequences) {
  auto chain = [](Instruction middle, std::vector<Instruction> same_thread) {
    std::vector<Instruction> first = {store(x, 1, kRlx), store(y, 1, kRel)};
    first.insert(first.end(), same_thread.begin(), same_thread.end());
    return Program{2, {first, {middle}, {load(y, kAcq), load(x, kRlx)}}};
  };
  auto outcomes = [](const Program& program) { return both(program).outcomes; };
  // Through an update of another thread, of whatever order.
  EXPECT_EQ(outcomes(chain(add(y, 1, kRlx), {})).count("| 1 | 2 0 ; 1 2"), 0u);
  // Not through a store of the same thread (that was C++17), nor of another.
  EXPECT_EQ(outcomes(chain(load(z - 2, kRlx), {store(y, 2, kRlx)})).count("| 0 | 2 0 ; 1 2"), 1u);
  EXPECT_EQ(outcomes(chain(store(y, 2, kRlx), {})).count("| | 2 0 ; 1 2"), 1u);
}

// ---- three and four threads ----------------------------------------------------------------------

TEST(Rc11Litmus, Chains) {
  auto isa2 = [](MemoryOrder w, MemoryOrder r) {
    return Program{
        3, {{store(x, 1, kRlx), store(y, 1, w)}, {load(y, r), store(z, 1, w)}, {load(z, r), load(x, kRlx)}}};
  };
  check("ISA2 rlx", {isa2(kRlx, kRlx), 8, "| 1 | 1 0 ; 1 1 1", true});
  check("ISA2 rel-acq", {isa2(kRel, kAcq), 7, "| 1 | 1 0 ; 1 1 1", false});
  auto wrc = [](MemoryOrder w, MemoryOrder r) {
    return Program{2, {{store(x, 1, kRlx)}, {load(x, r), store(y, 1, w)}, {load(y, r), load(x, kRlx)}}};
  };
  check("WRC rlx", {wrc(kRlx, kRlx), 8, "| 1 | 1 0 ; 1 1", true});
  check("WRC rel-acq", {wrc(kRel, kAcq), 7, "| 1 | 1 0 ; 1 1", false});
}

TEST(Rc11Litmus, IndependentReadsOfIndependentWrites) {
  auto iriw = [](MemoryOrder w, MemoryOrder r) {
    return Program{2,
                   {{store(x, 1, w)}, {store(y, 1, w)}, {load(x, r), load(y, r)}, {load(y, r), load(x, r)}}};
  };
  check("rlx", {iriw(kRlx, kRlx), 16, "| | 1 0 | 1 0 ; 1 1", true});
  check("rel-acq", {iriw(kRel, kAcq), 16, "| | 1 0 | 1 0 ; 1 1", true});
  check("sc", {iriw(kSc, kSc), 15, "| | 1 0 | 1 0 ; 1 1", false});
  check("acquire loads, seq_cst stores", {iriw(kSc, kAcq), 16, "| | 1 0 | 1 0 ; 1 1", true});
  Program fenced = iriw(kRlx, kRlx);
  for (u32 t : {2u, 3u}) fenced.threads[t].insert(fenced.threads[t].begin() + 1, fence(kSc));
  check("fences", {fenced, 15, "| | 1 0 | 1 0 ; 1 1", false});
}

// What C++11 forbade and processors do: happens-before between seq_cst operations is not always an order of
// S.
TEST(Rc11Litmus, WeakerThanHappensBefore) {
  check("IRIW with acquire first", {{2,
                                     {{store(x, 1, kSc)},
                                      {load(x, kAcq), load(y, kSc)},
                                      {load(y, kAcq), load(x, kSc)},
                                      {store(y, 1, kSc)}}},
                                    16,
                                    "| 1 0 | 1 0 | ; 1 1",
                                    true});
  check("Z6.U", {{2,
                  {{store(x, 1, kSc), store(y, 1, kRel)},
                   {add(y, 1, kSc), load(y, kRlx)},
                   {store(y, 3, kSc), load(x, kSc)}}},
                 24,
                 "| 1 3 | 0 ; 1 3",
                 true});
}

TEST(Rc11Litmus, WritesToReadsAndAFence) {
  // W+RWC: with a fence in the third thread and another in the first.
  auto rwc = [](std::vector<Instruction> last) {
    return Program{
        3, {{store(x, 1, kRlx), store(z, 1, kRel)}, {load(z, kAcq), fence(kSc), load(y, kRlx)}, last}};
  };
  check("W+RWC", {rwc({store(y, 1, kRlx), fence(kSc), load(x, kRlx)}), 7, "| 1 0 | 0 ; 1 1 1", false});
  check("without one", {rwc({store(y, 1, kRlx), load(x, kRlx)}), 8, "| 1 0 | 0 ; 1 1 1", true});
}

TEST(Rc11Litmus, Updates) {
  check("two additions", {{1, {{add(x, 1, kRlx)}, {add(x, 1, kRlx)}}}, 2, "0 | 0 ; 1", false});
  check("three additions", {{1, {{add(x, 1, kRlx)}, {add(x, 1, kRlx)}, {add(x, 1, kRlx)}}}, 6, "", false});
  Program locks = {1, {{compare(x, 0, 1, kAcq, kRlx)}, {compare(x, 0, 2, kAcq, kRlx)}}};
  check("two who lock", {locks, 2, "0 | 0 ; 1", false});
  check("failing while it is free",
        {{1, {{compare(x, 0, 1, kAcq, kRlx), store(x, 0, kRel)}, {compare(x, 0, 2, kAcq, kRlx)}}},
         3,
         "0 | 1 ; 0",
         true});
}

// ---- any -----------------------------------------------------------------------------------------

TEST(Rc11Litmus, RandomProgramsHaveTheSameExecutions) {
  u64 graphs = 0, weak = 0;
  for (u64 seed = 1; seed <= 1500; ++seed) {
    Prng prng(seed);
    u32 threads = 2 + static_cast<u32>(prng.below(2));
    Results results = both(random_program(prng, threads, 4 + static_cast<u32>(prng.below(2)), 2));
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    graphs += results.graphs.size();
    weak += results.graphs.size() > 4;
  }
  EXPECT_GT(graphs, 5000u);
  EXPECT_GT(weak, 400u);
}

}  // namespace
}  // namespace duress::memory::testing
