// SPDX-License-Identifier: Apache-2.0
//
// Sampling in one process: which instructions get a breakpoint and when, and what happens when one fires.
//
// The algorithm is DataCollider's: a thread that reaches a breakpoint is held just before its access; every
// other thread gets a hardware watchpoint on the memory that it is about to touch; after a short while the
// value is compared and the thread continues. An access by another thread in that time happens while this one
// is about to do its own, so nothing orders the two, whatever locks the program has.
#pragma once

#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/prng.h"
#include "collide/budget.h"
#include "collide/recorder.h"
#include "collide/space.h"
#include "collide/watch.h"

namespace duress::collide {

inline constexpr int kWatches = 4;  // debug registers of a processor

struct SampleOptions {
  Limits limits;
  Duration delay = std::chrono::milliseconds(1);
  std::uint64_t seed = 1;
};

/// What the machine gives, found out by the first attempt and shared by all processes.
struct Hardware {
  int watches = kWatches;  // 0: values are compared and nothing else
  std::string problem;     // why there are none
};

struct Counts {
  std::uint64_t samples = 0;  // threads held
  std::uint64_t fired = 0;    // breakpoints that were reached
  std::uint64_t armed = 0;    // breakpoints that were set
  std::uint64_t hits = 0;     // samples that met another thread
};

class Sampler {
 public:
  Sampler(pid_t pid, std::shared_ptr<Space> space, const SampleOptions& options, Hardware& hardware,
          Time now);

  void thread_started(pid_t tid, int number, int parent);
  void thread_ended(pid_t tid);
  std::size_t threads() const { return threads_.size(); }

  /// Thread `tid` has reached the breakpoint at `address`, which is gone now; `registers` point at it again.
  /// True: keep the thread stopped until due() names it.
  bool reached(pid_t tid, Address address, const Registers& registers, Time now);
  /// Threads whose delay is over, or whose memory another thread accessed: they can continue.
  std::vector<pid_t> due(Time now);
  /// Sets and removes breakpoints.
  void pace(Time now);
  /// When due() or pace() have something to do.
  Time wake(Time now);
  bool holds_any() const { return !holds_.empty(); }

  /// Ends all sampling: every byte is back, every held thread is named.
  std::vector<pid_t> stop(Time now);

  /// Processor time of the tracer that the target could not use.
  void spend(Duration cost) { budget_.spend(cost); }
  const Budget& budget() const { return budget_; }
  const Counts& counts() const { return counts_; }
  const Recorder& recorder() const { return recorder_; }
  Space& space() { return *space_; }
  std::shared_ptr<Space> shared_space() { return space_; }
  /// Descriptors of watchpoints that were opened since the last call.
  std::vector<int> new_descriptors() { return std::exchange(new_descriptors_, {}); }

 private:
  struct Thread {
    int number = 0;
    bool held = false;
    std::array<std::unique_ptr<Watch>, kWatches> watch;
  };
  struct Hold {
    Collision collision;
    Address watched = 0;
    unsigned watched_size = 0;
    int slot = -1;
    Time since, until;
  };

  bool can_hold() const;
  int free_slot() const;
  void watch_thread(const Hold& hold, pid_t tid, Thread& thread);
  static bool met(Hold& hold, pid_t tid, Thread& thread);
  bool met(Hold& hold);
  void clear_watches(const Hold& hold);
  void finish(Hold& hold, Time now);
  void rearm_missed(std::size_t wanted);
  void set_batch();

  std::shared_ptr<Space> space_;
  SampleOptions options_;
  Hardware& hardware_;
  Budget budget_;
  Prng prng_;
  Recorder recorder_;
  Counts counts_;
  std::map<pid_t, Thread> threads_;
  std::list<Hold> holds_;
  std::vector<int> new_descriptors_;

  Duration expected_cost_;      // of a sample, learned
  std::deque<Address> missed_;  // fired when no sample could be paid for; to be tried again
  std::size_t batch_ = 1;
  std::uint64_t fired_at_last_batch_ = 0;
  Time next_batch_, next_refresh_;
  Duration refresh_interval_;
};

}  // namespace duress::collide
