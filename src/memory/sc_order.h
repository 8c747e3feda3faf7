// SPDX-License-Identifier: Apache-2.0
//
// The order S of seq_cst operations and fences, as far as an execution has decided it.
//
// C++20 wants one total order of them; an execution fixes only parts of it, and every value that a load
// returns may fix more. What is fixed is kept as a partial order with its closure, so "may this still come
// before that?" is one test of bits, and any partial order without a cycle can be completed. Its members are
// *nodes*: at most 64, the last ones. Older ones are *settled*: they precede all that are not, and no choice
// can put anything before them any more. Settling loses behaviours and invents none.
#pragma once

#include "clock/vector_clock.h"

namespace duress::memory {

/// Threads: one at a time. Runs inside the target: memory comes from the arena.
class ScOrder {
 public:
  static constexpr u32 kMost = 64;
  using Nodes = u64;  // a set of them

  /// A set that is kept. Nodes leave it when they are settled; their numbers are used again.
  struct Kept {
    Nodes nodes = 0;
    u64 time = 0;          // when it was last used
    bool settled = false;  // some node that was in it is settled
  };

  /// Nodes that something would have to precede.
  struct After {
    Nodes nodes = 0;
    bool settled = false;  // and settled ones
    bool none() const { return nodes == 0 && !settled; }
  };

  explicit ScOrder(Arena& arena);
  ~ScOrder();
  ScOrder(const ScOrder&) = delete;
  ScOrder& operator=(const ScOrder&) = delete;

  bool empty() const { return live_ == 0 && time_ == 0; }
  /// How many nodes were settled for lack of room, or because something unseen happened.
  u64 settled() const { return time_; }

  Nodes look(Kept& kept) const {
    if (kept.time != time_) refresh(kept);
    return kept.nodes;
  }
  void add(Kept& kept, Nodes nodes) const {
    look(kept);
    kept.nodes |= nodes;
  }

  /// Fences that happen before a thread with this clock.
  Nodes fences_known_to(const VectorClock& clock) const;
  bool settled_fence_known_to(const VectorClock& clock) const;
  /// Operations with something after them in their own thread that happens before a thread with this clock.
  Nodes operations_before(const VectorClock& clock) const;
  /// Nodes that precede, by what they stored or overtook, a fence of a thread with this clock: see met().
  Nodes met_before(const VectorClock& clock) const;
  /// Fences that happen after an event. REQUIRES: epoch > 0.
  void add_fences_after(Slot slot, Clock epoch, After& into) const;

  /// Whether all of `from` may precede all of `to`. `settled`: and settled ones too.
  bool allows(Nodes from, bool settled, const After& to) const;
  /// They do. REQUIRES: allows().
  void connect(Nodes from, Nodes to);

  /// Makes room for a node, so that sets which are then asked for stay valid until add_*.
  void make_room();
  /// The node of an operation or of a fence. REQUIRES: make_room(); the thread opens a new epoch after it.
  Nodes add_operation(Slot slot, Clock epoch, Nodes before, Nodes after);
  Nodes add_fence(Slot slot, Clock epoch, const VectorClock& clock, Nodes before);
  /// An event of a thread at that time is coherence-ordered after what these nodes stand for: they precede
  /// any fence that happens after it.
  void met(Nodes nodes, Slot slot, Clock epoch);

  /// Nothing that comes may precede what was.
  void settle_all();

 private:
  struct Node {
    Slot slot;
    Clock epoch;
    u64 number;           // in order of execution
    Nodes before, after;  // closed
    VectorClock* known;   // fences: what happens before it
    VectorClock* met;     // by slot, the first event that met it; 0: none
    u64 settled_at;       // when the last node of this number was
  };

  void refresh(Kept& kept) const;
  u32 add(Slot slot, Clock epoch, Nodes before, Nodes after);
  void settle(u32 index);
  u32 first_minimal() const;

  Arena& arena_;
  Nodes live_ = 0, fences_ = 0;
  u64 time_ = 0;                      // grows with each node that is settled
  u64 number_ = 0;                    // of the next node
  VectorClock settled_known_;         // what happens before settled fences
  VectorClock first_settled_fences_;  // by slot, the epoch of the first one; 0: none
  Node nodes_[kMost] = {};
};

}  // namespace duress::memory
