// SPDX-License-Identifier: Apache-2.0
//
// The axioms of docs/models/rc11.md, by brute force: an execution as a graph of events with reads-from and
// modification order, relations as matrices of bits. No clocks, no views, nothing is forgotten.
#pragma once

#include <bitset>
#include <string>
#include <vector>

#include "clock/thread_clock.h"

namespace duress::memory::testing {

class Relation {
 public:
  static constexpr u32 kMost = 256;
  using Row = std::bitset<kMost>;

  explicit Relation(u32 n) : rows_(n) {}
  u32 size() const { return static_cast<u32>(rows_.size()); }
  void set(u32 a, u32 b) { rows_[a].set(b); }
  bool has(u32 a, u32 b) const { return rows_[a].test(b); }

  Relation operator|(const Relation& other) const;
  Relation then(const Relation& other) const;
  Relation maybe() const;  // or nothing at all
  Relation inverse() const;
  Relation closure() const;
  Relation between(const Row& from, const Row& to) const;
  Relation irreflexive_part() const;
  bool irreflexive() const;
  bool acyclic() const { return closure().irreflexive(); }

 private:
  std::vector<Row> rows_;
};

class ExecutionGraph {
 public:
  enum class Kind : u8 { kNone, kRead, kWrite, kUpdate, kFence, kOther };
  struct Event {
    Kind kind = Kind::kNone;  // kNone: it has not happened
    u32 thread = 0;
    u32 location = 0;
    MemoryOrder order = MemoryOrder::kRelaxed;
    u32 reads = kNothing;  // the event whose value it got
  };
  static constexpr u32 kNothing = ~0u;

  /// Events 0 to locations - 1 are the initial writes; `events` more follow. Those of a thread are in
  /// ascending order.
  ExecutionGraph(u32 locations, u32 events);

  Event& operator[](u32 i) { return events_[i]; }
  const Event& operator[](u32 i) const { return events_[i]; }
  u32 size() const { return static_cast<u32>(events_.size()); }
  /// Writes of a location in modification order.
  std::vector<u32>& modifications(u32 location) { return modifications_[location]; }
  const std::vector<u32>& modifications(u32 location) const { return modifications_[location]; }
  void insert_after(u32 write, u32 after);
  /// Synchronisation of another kind: `a` happens before `b`.
  void order(u32 a, u32 b) { synchronised_.emplace_back(a, b); }

  /// "" if all axioms hold, else the name of one that does not.
  std::string violated() const;
  /// Reads-from and modification order as text; the same for the same graph.
  std::string text() const;

 private:
  bool is(u32 i, Kind kind) const { return events_[i].kind == kind; }
  Relation synchronises_with(const Relation& sb) const;

  u32 locations_;
  std::vector<Event> events_;
  std::vector<std::vector<u32>> modifications_;
  std::vector<std::pair<u32, u32>> synchronised_;
};

}  // namespace duress::memory::testing
