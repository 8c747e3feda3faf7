// SPDX-License-Identifier: Apache-2.0
//
// A machine that runs programs of testing/program.h one step at a time. Independent of the explorer.
#pragma once

#include <map>
#include <vector>

#include "exhaustive/step.h"
#include "exhaustive/testing/program.h"

namespace duress::exhaustive::testing {

/// A state of a program. Copies are cheap enough for brute force.
class Machine {
 public:
  explicit Machine(const Program& program);

  /// The threads that can do a step.
  std::vector<u32> enabled_threads() const;
  /// Whom thread t's next step could wake, a bit each.
  u64 choices(u32 t) const;
  /// False: it ended with somebody waiting who chose not to time out. In time it would.
  bool counts() const;
  /// One step; then everything that is no step.
  void run(u32 t, u32 value);
  /// The steps, and then those that could not be done.
  std::vector<Step> history() const;

 private:
  struct Thread {
    bool started = false;
    bool waiting = false;  // on a condition or a barrier, until it is woken
    bool relocks = false;  // was woken: takes the mutex again
    bool again = false;    // an await that has looked before
    bool second = false;   // kAwaitEither: looks at the second variable
    size_t pc = 0;
    u64 read = 0;
    std::map<u64, u64> seen;  // versions of what an await has looked at
    bool chosen = false;      // how the wait ends
    bool could_time_out = false;
    WaitEnd end = WaitEnd::kWoken;
    std::map<size_t, int> in_a_row[3];  // by the wait's place: ends of that kind
  };

  const Instruction& next(u32 t) const { return program_->threads[t][threads_[t].pc]; }
  bool has_next(u32 t) const {
    const Thread& h = threads_[t];
    return h.started && !h.waiting && h.pc < program_->threads[t].size();
  }
  bool at_step(u32 t) const { return has_next(t) && next(t).op != Op::kJoin; }
  bool ended(u32 t) const {
    const Thread& h = threads_[t];
    return h.started && !h.waiting && h.pc >= program_->threads[t].size();
  }
  bool can_go(u32 t) const;
  /// How the wait that comes next may end, a bit for each WaitEnd.
  u64 ends(u32 t) const;
  /// The next step is to choose between several ends.
  bool chooses(u32 t) const;
  Step describe(u32 t) const;

  u64 state(u64 object) const;
  u64 version(u64 object) const;
  void set(u64 object, u64 value);

  void perform(u32 t, const Step& step);
  void relock(u32 t);
  // These return by how many instructions the thread goes on.
  size_t execute(u32 t, const Step& step);
  size_t access(Thread& h, const Instruction& i, u64 value);
  size_t lock_or_count(const Instruction& i, u64 value);
  size_t wait(u32 t, const Instruction& i, u64 waiting);
  size_t arrive(u32 t, const Instruction& i, u64 arrived);
  size_t await(Thread& h, const Instruction& i, u64 value);

  void after(u32 t, u32 other);
  void wake(u32 waker, u32 t);
  void wake_all(u32 waker, u64 waiting);
  void settle();

  const Program* program_;
  std::vector<Thread> threads_;
  std::map<u64, u64> memory_, versions_;
  std::vector<Step> steps_;
};

}  // namespace duress::exhaustive::testing
