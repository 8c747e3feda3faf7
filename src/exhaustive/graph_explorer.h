// SPDX-License-Identifier: Apache-2.0
//
// All executions of a closed program under rc11: every graph of reads-from and modification order that the
// model allows, each once. (Explorer does the same for interleavings.)
//
// The algorithm is TruSt's (Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL 2022). Events are added one
// at a time, always of the lowest enabled strand. A load may read any store in the graph, a store may take
// any place in modification order: those are the *alternatives*, and the model says which are legal. A
// load that was added before a store may read it too: a *revisit* removes the events that were added after
// the load and are not in the store's causal prefix, and lets the load read the store. Many revisits could
// lead to the same graph; only the one is done in which every removed event had been added *maximally*: it
// read, or was, the newest store at the time. So only pending work has to be stored.
//
// learn() gets the same steps as Explorer's, with more in each atomic: `value` is the age of the store that
// was read or followed (0 is the newest), `choices` the legal ages, `expected` the ages that an update could
// have read if no store directly followed, `before` of the touch the oldest age that happens-before permits.
//
// A lock is an update that reads an unlock. A strand that lost its lock by a revisit blocks there, and gets
// it with the next unlock. Other operations at which threads meet (trylocks, conditions, semaphores,
// barriers) are not reordered: if threads meet there, the limit kNotExplored is set and Explorer has to be
// used instead.
//
// Runs inside the target too: memory comes from an Arena.
#pragma once

#include "exhaustive/execution_trace.h"
#include "exhaustive/step_log.h"
#include "exhaustive/tree_estimate.h"
#include "trail/execution.h"

namespace duress::exhaustive {

using trail::Pick;
using i32 = int;

class GraphExplorer {
 public:
  /// An event of the graph that the execution has to repeat.
  struct Planned {
    u8 strand;
    OpKind kind;
    u16 index;  // among the events of its strand
    u32 stamp;  // when it was added
    u32 write_stamp;
    i32 reads;  // the planned event; kInitial, kNothing
  };
  /// A lock event that a revisit took its lock from, in favour of event `on`. It has the lock again if it is
  /// among the planned events; if that one is removed, it blocks here.
  struct Block {
    u8 strand;
    u16 index;
    u32 stamp;
    i32 on;
  };
  /// Pending work: an execution that begins with a graph.
  struct Item {
    u64 serial;
    u32 count;   // events
    u32 blocks;  // the last one of an event counts
    u32 stamps;  // used so far
    i32 fresh;   // an update that may write for the first time here
    u64 first;   // strands that are scheduled first as soon as they are enabled
    Planned* planned;
    Pick* picks;
    Block* blocked;
  };
  struct Plan {
    const Pick* picks = nullptr;
    u32 count = 0;
    u64 first = 0;
    Item* ticket = nullptr;
  };
  struct Upcoming {
    u64 serial;
    const Item* leaf;
  };
  enum class Learned : u8 {
    kNew,
    kDuplicate,     // this graph was explored before
    kIllegal,       // the model forbids the planned graph
    kAwaitBlocked,  // an await loop is blocked although a newer store exists: explored elsewhere
    kDiverged,      // the program is not a function of its plan
  };

  explicit GraphExplorer(Arena& arena);
  ~GraphExplorer();

  bool next(Plan* plan);
  /// What the execution of that ticket did. `limits` are those of its log.
  Learned learn(Item* ticket, const Step* steps, u32 count, u32 limits);
  bool done() const { return items_.size() == 0; }
  template <typename Visit>
  void upcoming(u32 most, Visit visit) {
    for (u32 i = items_.size(); i-- > 0 && most > 0; --most) visit(Upcoming{items_[i]->serial, items_[i]});
  }
  Plan plan_of(const Item* item) const { return {item->picks, item->count, item->first, nullptr}; }
  /// As in Explorer: copies a pending item of another explorer. REQUIRES: next() has not been called.
  void begin_subtree(const GraphExplorer& other, const Item* item);
  bool in_subtree(const Item*) const { return true; }

  u64 redundant() const { return duplicates_; }
  u64 illegal() const { return illegal_; }
  u64 await_blocked() const { return await_blocked_; }
  u64 diverged() const { return diverged_; }
  u64 skipped() const { return 0; }
  u64 nodes() const { return nodes_; }
  /// Of all executions that count, as far as it can be told now.
  Estimate estimate() const { return tree_.estimate(); }
  u32 limits() const { return limits_; }

  static constexpr i32 kInitial = -1, kNothing = -2;

 private:
  using Clock = u16;
  struct Event {
    Planned plan;
    u64 object;
    u64 legal, readable;
    u32 size;
    u32 rank;    // in modification order, from 1
    i32 before;  // in modification order: an event or kInitial
    i32 floor;   // the oldest store that it could read or follow
    u8 age;
    bool reads, writes, lock, atomic;
  };
  struct Object {
    u64 address;
    i32 newest;
    i32 last;  // event that touched it last
    u32 size;
  };

  /// The event whose read changes, or the last block of a strand that is blocked.
  struct Reader {
    i32 event = kNothing, block = kNothing;
    u32 stamp = 0;
    u8 strand = 0;
    u16 index = 0;
    bool none() const { return event == kNothing && block == kNothing; }
  };

  bool build(const Item& item, const Step* steps, u32 count);
  void add_event(const Item& item, const Step& step);
  Object& object(u64 address, u32 size);
  bool note_waiting(const Step* steps, u32 count);
  u64 hash_of_load(u32 n, i32 source) const;
  void process(u32 n);
  void process_lock(u32 a, u32 time);
  void process_pending(const Step* steps, u32 count);
  void revisits(u32 a, i32 source, u32 time, i32 consumer);
  void revisit(u32 a, i32 source, u32 time, const Reader& reader, const Clock* prefix);
  bool maximal(u32 e, const Clock* prefix, u32 time) const;
  bool maximal(const Block& block, const Clock* prefix, u32 time) const;
  bool closed(const Reader& reader) const;
  void make_item(u32 a, i32 source, u32 time, const Reader& reader);
  void write_item(u32 a, i32 after, u32 time, const Reader& reader);
  bool waits(u32 block, u32 time) const;
  /// Operations that are reordered.
  static bool explores(OpKind kind) {
    return is_access(kind) || kind == OpKind::kLock || kind == OpKind::kUnlock;
  }
  bool meets(OpKind kind, u64 object, u32 size, const Clock* own, u32 time) const;
  i32 store_of_age(u32 n, u32 age) const;
  u32 rank_of(i32 store) const { return store >= 0 ? events_[static_cast<u32>(store)].rank : 0; }
  bool known(const Clock* prefix, u32 e) const {
    return prefix[events_[e].plan.strand] > events_[e].plan.index;
  }
  Clock* base(u32 e) { return &base_[e * kMostStrands]; }
  Clock* clock(u32 e) { return &clocks_[e * kMostStrands]; }
  static void join(Clock* into, const Clock* from);
  u64 name_of(i32 e) const;
  bool is_known(u64 hash) const;
  void remember(u64 hash);
  bool seen_before();
  void free_item(Item* item);
  void free_items();

  Arena& arena_;
  List<Item*> items_;  // the last is next
  List<Event> events_;
  List<Clock> base_, clocks_;  // by event: its causal prefix without and with the store it read
  List<Object> objects_;
  List<Block> blocks_;
  List<bool> kept_, kept_blocks_;
  List<i32> place_;  // index of kept events in the new item
  Clock strands_[kMostStrands][kMostStrands];
  u16 counts_[kMostStrands];
  u32 stamps_ = 0;
  List<u64> seen_;  // hashes (graph_hashes.cc), open addressing; 0 is free
  u64 seen_count_ = 0;
  TreeEstimate tree_;
  u64 serials_ = 0, duplicates_ = 0, illegal_ = 0, await_blocked_ = 0, diverged_ = 0, nodes_ = 0;
  u32 limits_ = 0;
};

}  // namespace duress::exhaustive
