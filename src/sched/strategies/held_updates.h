// SPDX-License-Identifier: Apache-2.0
//
// Holds strands back right before a compare-and-swap, until others have changed the location at least twice
// and it has the expected value again: the swap then succeeds although everything may be different (ABA). By
// chance that takes a long delay at exactly one place. Of a model of a stack of three nodes that two threads
// pop twice and push (bench/search, stack_aba_2) 6 % of such executions fail, against 0.3 % with the best
// depth of pct.
#pragma once

#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/raw.h"
#include "sched/strategy.h"

namespace duress::sched {

/// A strand's mark names the operation that its mark2 is about, as a count from 1: 0 says that it may go on,
/// else it is held, and mark2 is 1 + the changes that were seen.
class HeldUpdates {
 public:
  void start() { last_ = {}; }

  /// `turn`: the number of the strand that ran last. It goes on for long, unless it is held.
  StrandView* choose(const Situation& situation, u32 turn, Prng& prng) {
    u32 free = 0, ripe = 0;
    StrandView* same = nullptr;
    for (u32 i = 0; i < situation.count; ++i) {
      StrandView& strand = *situation.runnable[i];
      look_at(strand, prng);
      if (strand.mark2 == 0) {
        ++free;
        if (strand.number == turn) same = &strand;
      } else if (is_ripe(strand)) {
        ++ripe;
      }
    }
    StrandView* next = nullptr;
    if (ripe != 0 && prng.chance(1, 2)) {
      next = nth(situation, prng.below(ripe), [](const StrandView& s) { return s.mark2 != 0 && is_ripe(s); });
    } else if (free == 0) {
      next = situation.runnable[prng.below(situation.count)];
    } else if (same != nullptr && !prng.chance(1, kTurn)) {
      next = same;
    } else {
      next = nth(situation, prng.below(free), [](const StrandView& s) { return s.mark2 == 0; });
    }
    last_ = next->next;
    last_strand_ = next->number;
    next->mark2 = 0;
    return next;
  }

 private:
  static constexpr u32 kHeldOneIn = 4, kTurn = 16;
  static constexpr u64 kChanges = 2;  // there and back

  /// Decides about an operation that is new, and counts what was done to the location of one that is held.
  void look_at(StrandView& strand, Prng& prng) {
    const u64 operation = strand.operations + 1;
    if (strand.mark != operation) {
      strand.mark = operation;
      strand.mark2 = strand.next.compares == 1 && prng.chance(1, kHeldOneIn) ? 1 : 0;
    } else if (strand.mark2 != 0 && strand.number != last_strand_ && writes(last_.kind) &&
               last_.object == strand.next.object) {
      ++strand.mark2;
    }
  }

  static bool is_ripe(const StrandView& strand) {
    return strand.mark2 > kChanges && is_expected(strand.next);
  }

  /// Whether the swap would succeed. The memory may be gone meanwhile, so the kernel is asked; if it does not
  /// tell, perhaps.
  static bool is_expected(const Operation& swap) {
    u64 value = 0;
    if (swap.size > sizeof value) return true;
    iovec here = {&value, swap.size}, there = {reinterpret_cast<void*>(swap.object), swap.size};
    const long pid = raw_syscall(SYS_getpid);
    const long got = raw_syscall(SYS_process_vm_readv, pid, reinterpret_cast<long>(&here), 1,
                                 reinterpret_cast<long>(&there), 1, 0);
    return got != static_cast<long>(swap.size) || value == swap.detail;
  }

  template <typename Condition>
  static StrandView* nth(const Situation& situation, u64 n, Condition condition) {
    u32 i = 0;
    while (!condition(*situation.runnable[i]) || n-- > 0) ++i;
    return situation.runnable[i];
  }

  Operation last_;
  u32 last_strand_ = 0;
};

}  // namespace duress::sched
