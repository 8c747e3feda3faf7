// SPDX-License-Identifier: Apache-2.0
#include "memory/testing/rc11_random.h"

namespace duress::memory::testing {
namespace {

MemoryOrder draw(Prng& prng, std::initializer_list<MemoryOrder> orders) {
  return orders.begin()[prng.below(orders.size())];
}

}  // namespace

Program random_program(Prng& prng, u32 threads, u32 events, u32 locations) {
  Program program = {1 + static_cast<u32>(prng.below(locations)), {}};
  program.threads.resize(threads);
  bool strong = prng.chance(1, 2);  // much seq_cst, which is where most of the rules are
  for (u32 i = 0; i < events; ++i) {
    auto& thread = program.threads[i < threads ? i : prng.below(threads)];
    auto where = static_cast<u32>(prng.below(program.locations));
    u64 value = i + 1;
    switch (prng.below(8)) {
      case 0:
      case 1:
      case 2:
        thread.push_back(load(where, strong ? draw(prng, {kRlx, kSc, kSc}) : draw(prng, {kRlx, kAcq, kSc})));
        break;
      case 3:
      case 4:
      case 5:
        thread.push_back(
            store(where, value, strong ? draw(prng, {kRlx, kSc, kSc}) : draw(prng, {kRlx, kRel, kSc})));
        break;
      case 6:
        thread.push_back(prng.chance(1, 2)
                             ? add(where, 100 * value, draw(prng, {kRlx, kAcq, kRel, kAcqRel, kSc}))
                             : compare(where, prng.below(value), value, draw(prng, {kRlx, kAcqRel, kSc}),
                                       draw(prng, {kRlx, kAcq, kSc})));
        break;
      default:
        thread.push_back(fence(strong ? kSc : draw(prng, {kAcq, kRel, kAcqRel, kSc})));
    }
  }
  return program;
}

Program with_locks(Prng& prng, Program program) {
  for (auto& thread : program.threads) {
    for (std::size_t i = 0; i < thread.size(); ++i) {
      if (!prng.chance(1, 6)) continue;
      auto what = prng.chance(1, 2) ? Instruction::What::kRelease : Instruction::What::kAcquire;
      thread[i] = {what, static_cast<u32>(prng.below(2)), kRlx};
    }
  }
  return program;
}

Sampled sample(u64 first_seed, u64 reads) {
  Sampled sampled;
  for (u64 seed = first_seed; sampled.reads < reads; ++seed) {
    Prng prng(seed);
    // Mostly short ones, in which all rules meet; some so long that stores and nodes of S must go.
    bool lengthy = prng.chance(1, 40);
    u32 threads = 2 + static_cast<u32>(prng.below(4));
    u32 events = lengthy ? 230 : 8 + static_cast<u32>(prng.below(32));
    Program program = random_program(prng, threads, events, lengthy ? 2 : 3);
    if (prng.chance(1, 2)) program = with_locks(prng, std::move(program));
    RandomDecisions decisions(seed);
    Machine machine(program, decisions, {.fair_after = prng.chance(1, 4) ? 3u : 0u, .buckets = 4});
    if (prng.chance(1, 4)) machine.disturb(seed, 20);
    machine.run();
    const Rc11Statistics& statistics = machine.model().statistics();
    ++sampled.executions;
    sampled.reads += machine.reads();
    sampled.open += statistics.open_reads;
    sampled.stale += statistics.stale_reads;
    sampled.early += statistics.early_writes;
    sampled.removed += statistics.remove_oldest;
    sampled.dropped += statistics.dropped;
    sampled.settled += machine.model().order().settled();
    sampled.seq_cst += !machine.model().order().empty();
    if (std::string axiom = machine.graph().violated(); !axiom.empty()) {
      sampled.problem =
          axiom + ", seed " + std::to_string(seed) + "\n" + program.text() + machine.graph().text();
      return sampled;
    }
  }
  return sampled;
}

}  // namespace duress::memory::testing
