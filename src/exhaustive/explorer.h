// SPDX-License-Identifier: Apache-2.0
//
// All executions of a closed program up to equivalence, each class exactly once: optimal dynamic
// partial-order reduction with wake-up trees (Abdulla, Aronsson, Jonsson, Sagonas, POPL 2014 and JACM 2017).
//
// The wakeup tree holds the steps of the current path and the pending branches beside it. An execution
// follows a path to a leaf and then continues freely. learn() adds its steps to the tree and finds every
// reversible race of two steps; for each it adds a branch before the first step: the steps that do not depend
// on it, then the second. A branch is omitted if another one, explored or pending, leads to the same class
// (sleep sets). Explored subtrees are freed, so the tree holds about the longest path and its pending
// branches.
//
// Executions are handed out and learned one at a time: each decides which further ones are needed.
//
// Runs inside the target (duress::check) and in the host (duress verify): memory comes from an Arena.
#pragma once

#include "exhaustive/execution_trace.h"
#include "exhaustive/tree_estimate.h"
#include "trail/execution.h"

namespace duress::exhaustive {

using trail::Pick;

class Explorer {
 public:
  struct Node;
  /// An execution to run: these picks in this order, then any.
  struct Plan {
    const Pick* picks = nullptr;
    u32 count = 0;
    Node* ticket = nullptr;
  };

  explicit Explorer(Arena& arena);

  /// The next execution. False: every class has been explored. The picks live until the next call.
  /// REQUIRES: the previous one has been learned.
  bool next(Plan* plan);
  /// What the execution of that ticket did: its steps, its kAfter entries, and at the end its pending steps.
  /// False: it did not follow its plan, so the program is not a function of its schedule.
  bool learn(Node* ticket, const Step* steps, u32 count);
  bool done() const;

  /// Pending executions in the order in which next() will return them. Others may come in between, but each
  /// of these will be returned exactly as it is now.
  struct Upcoming {
    u64 serial;  // of the ticket
    const Node* leaf;
  };
  template <typename Visit>
  void upcoming(u32 most, Visit visit) {
    const Node* n = path_.last();
    const Node* before = nullptr;  // this subtree has been visited
    for (; n && most; before = n, n = n->parent) visit_leaves(n, before, most, visit);
  }
  /// The plan of that leaf, without a ticket. The picks live until the next call.
  Plan plan_of(const Node* leaf);

  /// Copies a pending leaf of another explorer and the sleep sets on the path to it. Then next(), as long as
  /// in_subtree() holds, returns what the other explorer will return once it reaches that leaf, unless it
  /// learns something else before: this is for speculation. REQUIRES: next() has not been called.
  void begin_subtree(const Explorer& other, const Node* leaf);
  bool in_subtree(const Node* ticket) const;

  /// Called before a branch is added: whether executions with this prefix are wanted. Others are counted in
  /// skipped().
  using Admit = bool (*)(void* context, const Step* const* steps, u32 count);
  void admit_only(Admit admit, void* context) {
    admit_ = admit;
    admit_context_ = context;
  }
  u64 skipped() const { return skipped_; }

  /// Strands that are alike (symmetry.cc): by strand, a number that they share; 0: there is none like it.
  /// Executions that differ only in which of them does what are explored once. `kinds` has kMostStrands
  /// entries and may get more; it outlives the explorer.
  void exchange_alike(const u8* kinds) { alike_ = kinds; }

  u64 learned() const { return learned_; }
  /// Executions equivalent to earlier ones. 0 unless the program does not follow its plans.
  u64 redundant() const { return redundant_; }
  u64 diverged() const { return diverged_; }
  u64 nodes() const { return nodes_; }
  /// Of all executions, as far as it can be told now.
  Estimate estimate() const;

  struct Node {
    enum class State : u8 { kPending, kActive, kDone };
    // What looking for a branch reads of each sibling is in one line of the cache, the beginning of the step
    // included: an execution of the target leaves nothing there.
    Node* parent;
    Node* first;
    Node* last;
    Node* next;
    u64 serial;
    u32 depth;
    u32 open;         // leaves of this subtree that next() has not returned
    Step step;        // leads here
    double explored;  // executions of this subtree that are over
    State state;
    /// Of an atomic under rc11 (Step::kHasStoreAge): each of its alternatives here is a branch, or will be.
    bool whole;
    bool to_offer;  // its alternatives become branches when it has been executed
  };

 private:
  /// An explored branch beside the path: its first step need not be tried again until a step of the path
  /// conflicts with it.
  struct SleepSetEntry {
    const Node* node;
    u32 from, until;  // depths at which it sleeps: from <= depth < until
  };

  Node* make_node(Node* parent, const Step& step);
  void free_children(Node* node);
  void go_to(Node* leaf);
  void extend(Node* node);
  void cut(u32 depth);
  void finish(Node* leaf);
  void reverse(const Reversal& reversal);
  void insert(Node* at, const Reversal* reversal);
  void add_branch(Node* at);
  void offer_choices(Node* node);
  bool weakly_initial(const Node& node, u32* consumed);
  bool has_predecessor(u32 k);
  bool weakly_initial_of_image(const Step& step, u32 other);
  bool covers_image(const Node& node, const Node* at);
  const Step& wanted_step(u32 k) const;

  template <typename Visit>
  void visit_leaves(const Node* n, const Node* before, u32& most, Visit& visit) {
    if (!n->open || !most) return;
    if (!n->first) {
      --most;
      visit(Upcoming{n->serial, n});
      return;
    }
    for (const Node* c = n->first; c; c = c->next) {
      if (c != before) visit_leaves(c, nullptr, most, visit);
    }
  }
  bool admits(const Node* at);

  static constexpr u32 kReversed = ~0u;

  Arena& arena_;
  ExecutionTrace trace_;
  List<u64> trace_serials_;  // of the nodes whose steps trace_ holds
  List<Node*> path_;         // from the root
  List<SleepSetEntry> sleep_set_;
  List<Reversal> reversals_;
  List<u32> wanted_;  // the branch to insert: entries of trace_; kReversed: the reversed step
  const Reversal* reversal_ = nullptr;
  List<Pick> picks_, planned_;
  Node* root_;
  Node* spare_ = nullptr;
  u64 top_ = 0;  // begin_subtree(): serial and depth of the copied leaf
  u32 top_depth_ = 0;
  Admit admit_ = nullptr;
  void* admit_context_ = nullptr;
  const u8* alike_ = nullptr;
  u64 skipped_ = 0;
  u64 serials_ = 0;
  u64 learned_ = 0, redundant_ = 0, diverged_ = 0, nodes_ = 0;
};

}  // namespace duress::exhaustive
