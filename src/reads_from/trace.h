// SPDX-License-Identifier: Apache-2.0
//
// One execution as its reads-from relation: the steps of each strand, and for each step that reads which
// write it read. The order of two writes is no part of it unless something tells them apart.
//
// Objects are of two kinds. *Free* ones are atomics: only what loads and updates read counts. All others are
// *ordered*: locks, semaphores, barriers; memory with racing plain accesses, which plain accesses that are no
// steps may read later; and what await loops wait for, because whether they may go on depends on the order of
// writes. At an ordered object each step that writes also reads what the one before it wrote, so its writes
// are a chain, and the same relation says which order they have.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "exhaustive/step.h"
#include "reads_from/hash.h"

namespace duress::reads_from {

using exhaustive::Mode;
using exhaustive::Step;

/// A step by its strand and its number there, from 1: the same in every execution. 0: none; as what is read,
/// memory as it was before.
using EventId = u32;
constexpr u32 kIndexBits = 20;
constexpr EventId id_of(u32 strand, u32 index) {
  return strand << kIndexBits | index;
}
constexpr u32 strand_of(EventId id) {
  return id >> kIndexBits;
}
constexpr u32 index_of(EventId id) {
  return id & ((1u << kIndexBits) - 1);
}

/// How many steps of each strand: a set of steps that has all predecessors in their strands.
using Counts = std::vector<u32>;

/// Memory that is an ordered object.
struct Ordered {
  std::set<u64> plain;    // racing plain accesses touch it
  std::set<u64> awaited;  // atomics that await loops look at
  bool has(u64 object) const { return plain.count(object) != 0 || awaited.count(object) != 0; }
};

struct Access {
  u64 object = 0;
  EventId source = 0;  // what it reads
  bool reads = false, writes = false;
};

struct Event {
  Step step;
  EventId id = 0;
  u32 position = 0;  // among all steps
  u32 count = 0;     // accesses
  Access access[Step::kMostTouches];
  u32 first_after = 0, last_after = 0;  // Trace::afters()
  bool value_known = false;             // what touch[0].object holds after it
  u64 value = 0;

  bool reads() const;
  bool writes() const;
};

/// A step comes after the first `count` steps of another strand.
struct After {
  u32 strand, count;
};

/// Whether it writes depends on what it reads.
bool depends_on_value(const Step& step);

/// What distinguishes a step in an execution: what it is, and what it reads.
Hash hash_of(const Event& event);

class Trace {
 public:
  enum class Status {
    kRead,
    kNewOrdered,   // `ordered` has more objects now: the exploration starts over
    kNotSupported  // there are steps that reads-from classes are not known for: `why`
  };
  Status read(const Step* steps, u32 count, Ordered& ordered);
  const std::string& why() const { return why_; }

  u32 strands() const { return static_cast<u32>(by_strand_.size()); }
  const std::vector<Event>& events() const { return events_; }
  /// Steps that were not executed.
  const std::vector<Event>& pending() const { return pending_; }
  const std::vector<After>& afters() const { return afters_; }
  const Event& event(EventId id) const { return events_[by_strand_[strand_of(id)][index_of(id) - 1]]; }
  u32 steps_of(u32 strand) const { return static_cast<u32>(by_strand_[strand].size()); }
  bool contains(EventId id) const {
    return strand_of(id) < strands() && index_of(id) <= steps_of(strand_of(id));
  }
  /// The steps that touch an object, in the order of the execution.
  const std::vector<EventId>& touching(u64 object) const;
  bool is_ordered(u64 object) const;

  /// Everything that `id` follows from, itself included. 0: nothing.
  void join_causes(EventId id, Counts& into) const;
  /// The same without what it reads, and without itself.
  void join_past(const Event& event, Counts& into) const;
  bool causes(EventId a, EventId b) const { return causes_[event(b).position][strand_of(a)] >= index_of(a); }
  /// What an object holds after that write; false: not known. 0: at the beginning.
  bool value_after(EventId write, u64 object, u64* value) const;

  /// A hash of the steps in `all` that are not in `without`.
  Hash hash_between(const Counts& without, const Counts& all) const;
  /// The same of all steps, with the order of writes to atomics left out: the class that is counted.
  Hash hash_of_class() const;

 private:
  bool fits(const Step& step);
  void add(const Step& step, std::vector<std::vector<After>>& waiting);
  void attach(Event& event, std::vector<After>& waiting);
  bool objects_overlap();

  std::vector<Event> events_, pending_;
  std::vector<After> afters_;
  std::vector<std::vector<u32>> by_strand_;  // positions
  std::vector<Counts> causes_;               // by position
  std::vector<std::vector<Hash>> sums_;      // by strand: of its first steps
  struct Object {
    EventId last = 0;  // write
    bool ordered = false;
    bool counted = true;  // it is ordered, and the order of its writes is part of the class
    bool known = false;   // what it holds at the beginning
    u32 size = 0;
    u64 value = 0;
    std::vector<EventId> touching;
  };
  std::unordered_map<u64, Object> objects_;
  std::string why_;
};

}  // namespace duress::reads_from
