// SPDX-License-Identifier: Apache-2.0
//
// A random walk: any strand that can run, each with the same probability. Reaches every interleaving sooner
// or later; one that needs m particular choices in a row between two strands comes with probability 2^-m.
#include "sched/strategies/common.h"
#include "sched/strategy.h"

namespace duress::sched {
namespace {

class RandomWalk final : public Strategy {
 public:
  void start(const trail::Request& request) override { prng_ = Prng(request.seed); }
  StrandView* choose_thread(const Situation& situation) override {
    return situation.runnable[prng_.below(situation.count)];
  }
  u32 choose_value(ValueKind kind, u32 count) override { return random_value(prng_, kind, count); }

 private:
  Prng prng_{0};
};

constinit RandomWalk g_random;

}  // namespace

DURESS_DEFINE_STRATEGY(Random, g_random);

}  // namespace duress::sched
