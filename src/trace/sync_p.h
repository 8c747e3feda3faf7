// SPDX-License-Identifier: Apache-2.0
//
// SyncP (Mathur, Pavlogiannis and Viswanathan): races that a trace does not show but that follow from it. Two
// conflicting accesses race if the events that must come before them, in the same thread, because of what
// they read, and because critical sections of a lock keep their order, include neither of the two. Then they
// can be performed up to there, and stand side by side. What it reports can happen; happens-before would see
// only those pairs that no lock happened to order.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "event/event.h"
#include "finding/race.h"

namespace duress::trace {

/// Needs the events' order in memory: 24 bytes an access that may be part of a pair, 4 for the others.
class SyncP {
 public:
  static constexpr std::uint64_t kMostEvents = 50'000'000;
  static constexpr std::uint64_t kMostPairs = 2'000'000;  // that are looked at
  static constexpr std::size_t kSame = 8;  // accesses of one thread at one site to one location

  explicit SyncP(RaceSink& findings) : findings_(findings) {}

  void play(const Event& event);
  /// Looks at the pairs and reports them.
  void finish();
  /// Something was left out because the trace is too long.
  bool complete() const { return complete_; }
  std::uint64_t pairs() const { return tested_; }

 private:
  using Prefix = std::vector<u32>;  // how many events of each thread
  struct Moment {
    u32 thread = 0;
    u32 index = 0;  // of its events, from 1; 0: none
  };
  struct Change {  // from this event on a thread depends on this much
    u32 index;
    Prefix prefix;
  };
  struct Section {
    u32 acquired, released;  // indices; released 0: never
    std::uint64_t position;  // of the acquire in the trace
  };
  struct ThreadState {
    u32 events = 0;
    std::vector<Change> changes;
    std::map<uptr, u32> open;  // lock → section that is not closed
  };
  struct Seen {
    Access access;
    Moment at;
  };
  struct Granule {
    Moment last_write[8];  // of each byte
    Moment allocated, freed;
    std::vector<Seen> seen;  // of this generation
  };

  ThreadState& thread(u32 tid);
  Prefix prefix_of(Moment moment) const;
  void depend(u32 tid, Moment on);
  void depend(u32 tid, const Prefix& on);
  void access(u32 tid, const Access& access);
  void look_at(Granule& granule);
  bool race(const Seen& a, const Seen& b, Moment allocated) const;
  static bool join(Prefix& into, const Prefix& from);

  RaceSink& findings_;
  std::vector<ThreadState> threads_;
  std::unordered_map<uptr, Granule> granules_;
  std::map<uptr, std::map<u32, std::vector<Section>>> locks_;  // lock → thread → its sections
  std::map<uptr, Prefix> posted_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> reported_;
  std::uint64_t position_ = 0, tested_ = 0;
  bool complete_ = true;
};

}  // namespace duress::trace
