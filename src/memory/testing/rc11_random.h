// SPDX-License-Identifier: Apache-2.0
//
// Random programs of atomic operations.
#pragma once

#include "base/prng.h"
#include "memory/testing/rc11_machine.h"

namespace duress::memory::testing {

/// `events` instructions on at most `locations`; every thread has some. Of values, a few come again.
Program random_program(Prng& prng, u32 threads, u32 events, u32 locations);

/// The same with releases and acquires of locks among them, which orders need not be a program's own.
Program with_locks(Prng& prng, Program program);

class RandomDecisions final : public Decisions {
 public:
  explicit RandomDecisions(u64 seed) : prng_(seed) {}
  u32 choose(u32 count) override { return static_cast<u32>(prng_.below(count)); }

 private:
  Prng prng_;
};

struct Sampled {
  u64 executions = 0, reads = 0, open = 0, stale = 0, early = 0, seq_cst = 0, settled = 0, removed = 0,
      dropped = 0;
  std::string problem;  // what was violated, and by which program
};

/// Executes random programs until so many values were read, and holds each execution to the axioms.
Sampled sample(u64 first_seed, u64 reads);

}  // namespace duress::memory::testing
