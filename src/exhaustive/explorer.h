// SPDX-License-Identifier: Apache-2.0
//
// All executions of a closed program up to equivalence, each class exactly once: optimal dynamic
// partial-order reduction with wake-up trees (Abdulla, Aronsson, Jonsson, Sagonas, POPL 2014 and JACM 2017).
//
// What has been begun is a tree of steps. An execution follows a path of it and runs on by itself; what it
// did is told to learn(), which adds the new steps to the tree, finds every two steps that could be the other
// way round, and adds a branch before the first of them: what did not depend on it, then the second. A branch
// is not added if another one, finished or not, leads to the same class. What is finished is forgotten, so
// the tree holds about as much as the longest path and the branches that wait beside it.
//
// One execution at a time is given out and learned: what is learned decides what is still wanted.
//
// Runs inside the target (duress::check) and in the host (duress verify): memory comes from an Arena.
#ifndef DURESS_EXHAUSTIVE_EXPLORER_H_
#define DURESS_EXHAUSTIVE_EXPLORER_H_

#include "exhaustive/execution_trace.h"
#include "trail/execution.h"

namespace duress::exhaustive {

using trail::Pick;

class Explorer {
 public:
  struct Node;
  /// An execution to perform: the picks in this order, then whatever comes.
  struct Plan {
    const Pick* picks = nullptr;
    u32 count = 0;
    Node* ticket = nullptr;
  };

  explicit Explorer(Arena& arena);

  /// False: every class has been seen. The picks live until the next call. What is given must be learned
  /// before the next one.
  bool next(Plan* plan);
  /// What the execution of that ticket did: its steps, who went on after whom, and at the end what was
  /// pending. False: it did not follow its plan, so the program is not a function of its schedule.
  bool learn(Node* ticket, const Step* steps, u32 count);
  bool done() const;

  /// What will be given out, the next ones first, unless more is learned that comes before it. Whatever is
  /// here will be given out exactly so.
  struct Upcoming {
    u64 serial;  // of the ticket
    const Node* leaf;
  };
  template <typename Tell>
  void upcoming(u32 most, Tell tell) {
    const Node* n = path_.last();
    const Node* before = nullptr;  // the part below is told
    for (; n && most; before = n, n = n->parent) tell_below(n, before, most, tell);
  }
  /// What will be given out for that leaf, but for the ticket. The picks live until the next call.
  Plan plan_of(const Node* leaf);

  /// Begins with a leaf that waits in another explorer, and what sleeps on the way there: what is given out
  /// then, up to where in_subtree() is false, is what the other one will give out when that leaf has its
  /// turn. Unless it learns otherwise before: this is for guesses. REQUIRES: nothing was given out.
  void begin_subtree(const Explorer& other, const Node* leaf);
  bool in_subtree(const Node* ticket) const;

  /// Asked before a branch is added: whether executions that begin with these steps are wanted. What is not
  /// is counted.
  using Admit = bool (*)(void* context, const Step* const* steps, u32 count);
  void admit_only(Admit admit, void* context) {
    admit_ = admit;
    admit_context_ = context;
  }
  u64 skipped() const { return skipped_; }

  u64 learned() const { return learned_; }
  /// Executions that turned out to be equal to others. 0 unless the program does not follow its plans.
  u64 redundant() const { return redundant_; }
  u64 diverged() const { return diverged_; }
  u64 nodes() const { return nodes_; }

  struct Node {
    enum class State : u8 { kPending, kActive, kDone };
    Step step;  // leads here
    Node* parent;
    Node* first;
    Node* last;
    Node* next;
    u64 serial;
    u32 depth;
    u32 open;  // leaves below, or this one, that nobody has been given
    State state;
    /// Of an atomic under a memory model (Step::kHasStoreAge): every choice that it has here is a branch, or
    /// will be.
    bool whole;
    bool to_offer;  // they are made branches when it is done
  };

 private:
  /// A branch beside the path, begun before it: what it starts with need not be tried again, until a step
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
  const Step& wanted_step(u32 k) const;

  template <typename Tell>
  void tell_below(const Node* n, const Node* before, u32& most, Tell& tell) {
    if (!n->open || !most) return;
    if (!n->first) {
      --most;
      tell(Upcoming{n->serial, n});
      return;
    }
    for (const Node* c = n->first; c; c = c->next) {
      if (c != before) tell_below(c, nullptr, most, tell);
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
  List<u32> wanted_;  // the branch that is to be added: entries of trace_; kReversed: the reversed step
  const Reversal* reversal_ = nullptr;
  List<Pick> picks_, planned_;
  Node* root_;
  Node* spare_ = nullptr;
  u64 top_ = 0;  // begin_subtree(): serial and depth of the copied leaf
  u32 top_depth_ = 0;
  Admit admit_ = nullptr;
  void* admit_context_ = nullptr;
  u64 skipped_ = 0;
  u64 serials_ = 0;
  u64 learned_ = 0, redundant_ = 0, diverged_ = 0, nodes_ = 0;
};

}  // namespace duress::exhaustive

#endif  // DURESS_EXHAUSTIVE_EXPLORER_H_
