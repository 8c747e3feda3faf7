// SPDX-License-Identifier: Apache-2.0
//
// All executions of a closed program under sequential consistency, one of each reads-from class: which write
// each load, update and lock reads (Abdulla, Atig, Jonsson, Lang, Ngo, Sagonas, OOPSLA 2019, for the
// equivalence and for witnesses; the tree below is another one).
//
// A tree of *decisions*. A decision belongs to a prefix, a set of steps with what they read, and to the step
// e that comes next in an execution with this prefix. Its branches divide the classes with that prefix:
//  - e reads: by the write w that it reads, and by what w follows from and is not in the prefix;
//  - e writes to an ordered object, after its newest write u: by the next write f to it, and by what f
//  follows
//    from. (So a lock that comes first is a branch, and the one that then has to wait is not part of it.)
//  - e chooses a number: by that number.
// A branch is run by a witness of its steps. It has at least one execution, and no two branches share a
// class, so each execution is of a new one. docs/design/reads_from.md shows that every branch is found.
#pragma once

#include <memory>
#include <unordered_set>

#include "exhaustive/tree_estimate.h"
#include "reads_from/witness.h"

namespace duress::reads_from {

using exhaustive::Estimate;
using trail::Pick;

class ReadsFromExplorer {
 public:
  struct Branch;
  struct Plan {
    const Pick* picks = nullptr;
    u32 count = 0;
    Branch* ticket = nullptr;
  };
  enum class Learned {
    kNew,
    kKnown,         // an execution of a class that is explored already: it does not count
    kRefuted,       // the plan was a guess, and there is no such execution
    kDiverged,      // it did not follow its plan: what steps do does not follow from what they read
    kNewOrdered,    // start over: there are more ordered objects
    kNotSupported,  // see why()
  };

  explicit ReadsFromExplorer(Arena&);
  ~ReadsFromExplorer();

  /// Memory that is ordered objects; kept when an exploration starts over.
  void use_ordered(Ordered* ordered) { ordered_ = ordered; }

  bool next(Plan* plan);
  Learned learn(Branch* ticket, const Step* steps, u32 count);
  bool done() const { return done_; }
  const std::string& why() const { return why_; }

  // As in exhaustive::Explorer.
  struct Upcoming {
    u64 serial;
    const Branch* leaf;
  };
  template <typename Visit>
  void upcoming(u32 most, Visit visit) {
    for (auto node = path_.rbegin(); node != path_.rend(); ++node) {
      for (const std::unique_ptr<Branch>& branch : (*node)->pending) {
        if (most-- == 0) return;
        visit(Upcoming{branch->serial, branch.get()});
      }
    }
  }
  Plan plan_of(const Branch* leaf) const;
  void begin_subtree(const ReadsFromExplorer& other, const Branch* leaf);
  bool in_subtree(const Branch*) const { return true; }

  u64 learned() const { return learned_; }
  u64 redundant() const { return known_ + refuted_; }
  u64 skipped() const { return 0; }
  u64 nodes() const { return branches_; }
  Estimate estimate() const;

  struct Branch {
    u64 serial = 0;
    Counts counts;  // its steps: the prefix of its decision, and what was added
    Hash hash;      // of these
    std::vector<Pick> picks;
    bool guess = false;  // whether its last step writes was not known, and it was taken not to

    u32 planned() const { return static_cast<u32>(picks.size()); }
  };

 private:
  enum class Kind { kReads, kWrites, kChooses };
  struct Decision {
    Kind kind = Kind::kReads;
    Counts prefix;
    EventId step = 0;
    bool in_first = true;  // its first branch is being explored
    std::unordered_set<Hash, HashOfHash> tried;
    std::vector<std::unique_ptr<Branch>> pending;  // in order
    Estimate::Branches size;
    double explored_below = 0;  // executions of the branch that is being explored
  };

  bool follows(const Branch& branch, Counts* counts) const;
  void decide(const Event& event, const Counts& prefix);
  void leave_finished();
  // ---- branches.cc
  void find_branches(Decision& decision);
  void find_sources(Decision& decision, const Event& event);
  void choose_sources(Decision& decision, Event& event, u32 at, Counts& counts);
  void find_updates(Decision& decision, const Event& event);
  void try_update(Decision& decision, const Event& event, const Event& update);
  void find_successors(Decision& decision, const Event& event);
  void try_successor(Decision& decision, const Event& event, const Event& successor);
  void offer_source(Decision& decision, Event event, Cut cut);
  bool is_untried(Decision& decision, const Cut& cut);
  bool is_woken(const Event& event, u32 access) const;
  bool is_woken(const Event& event) const;
  void add(Decision& decision, const Cut& cut, bool guess);

  Trace trace_;
  Ordered* ordered_;
  Ordered own_ordered_;
  std::vector<std::unique_ptr<Decision>> path_;
  std::unique_ptr<Branch> active_;
  std::unordered_set<Hash, HashOfHash> classes_;  // if atomics are ordered objects: those that were counted
  std::string why_;
  bool begun_ = false, done_ = false;
  u64 serials_ = 0, learned_ = 0, known_ = 0, refuted_ = 0, branches_ = 0;
};

}  // namespace duress::reads_from
