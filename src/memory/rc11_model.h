// SPDX-License-Identifier: Apache-2.0
//
// Atomics as C++20 has them: a load may return an older store, a store may come before others in modification
// order, as long as coherence, happens-before and the order S of seq_cst operations allow it. What is allowed
// is RC11 (Lahav and others, PLDI 2017) with C++20's release sequences; docs/models/rc11.md has the axioms.
//
// Every execution that the axioms allow has an order of its events in which each load comes after the store
// it reads. So a machine that runs one event at a time, and lets each choose among what keeps the axioms
// true of all that happened so far, makes all of them and no others. What an event must respect is found
// with the clocks of happens-before that exist anyway: a store is hidden once a later one in modification
// order is known to the thread, by itself or by a read of it. Only S needs a structure of its own (ScOrder).
//
// The model makes happens-before too: an acquire learns from the store that was really read.
#pragma once

#include "clock/thread_clock.h"
#include "memory/atomic_location.h"
#include "memory/choices.h"
#include "memory/location_table.h"

namespace duress::memory {

/// Decides what the model leaves open. REQUIRES: lets no other thread of the target run.
class Rc11Picker {
 public:
  /// Which store is read: an index of legal.values, 0 is the newest. Only asked when there are several.
  virtual u32 read(const Legal& legal) = 0;
  /// Where a store comes in modification order: in [0, places), 0 is the end. The first `forward` places are
  /// not reversed (see LegalValue). REQUIRES: places > 1.
  virtual u32 place(u32 places, u32 forward) = 0;

 protected:
  ~Rc11Picker() = default;
};

/// A read-modify-write as a function of what it reads.
class Update {
 public:
  struct Change {
    u128 value;
    bool writes;  // false: a compare-and-exchange that found something else; a load then
  };
  virtual Change apply(u128 old) const = 0;
  /// It has acquired and not released yet: the moment at which a detector looks at the access.
  virtual void performed(bool wrote) {}

 protected:
  ~Update() = default;
};

struct Rc11Statistics {
  u64 reads = 0;          // loads and updates
  u64 open_reads = 0;     // with more than one store to read
  u64 stale_reads = 0;    // that did not read the newest
  u64 fair_reads = 0;     // open reads that had to read the newest, for fairness
  u64 writes = 0;         // stores and updates
  u64 early_writes = 0;   // that are not the newest in modification order
  u64 remove_oldest = 0;  // stores removed or not offered because there were too many. Behaviours were lost
  u64 unseen = 0;         // histories dropped: memory held what no store that we saw wrote
  u64 dropped = 0;        // histories dropped: accesses of other sizes, or no room for more of them
};

/// Threads: one at a time. Runs inside the target: memory comes from the arena.
class Rc11Model {
 public:
  struct Options {
    u32 fair_after = 16;           // as StaleModel's; 0 is unfair
    u32 most_stores = 32;          // of a location; ~0u: as many as memory holds
    u32 most_locations = 1 << 16;  // 40 MB at about 600 bytes for one with two stores
    u32 buckets = 1 << 14;
  };

  /// The object that an operation accesses. REQUIRES: aligned to its size.
  struct Object {
    uptr address;
    u32 size;                // 1, 2, 4, 8 or 16
    SiteId site;             // of the operation
    ReleaseClock& released;  // by the newest store: kept for code that does not use the model
  };
  struct Read {
    u128 value;
    u64 store;    // its id
    SiteId site;  // of the store; 0: the initial value
    bool stale;   // it is not the newest
  };
  struct Written {
    u64 store;
    u64 after;    // the store before it in modification order
    bool newest;  // memory is to hold it
  };
  struct Updated {
    Read read;
    bool wrote;
    u128 value;  // if it wrote
    Written written;
  };

  Rc11Model(Arena& arena, ClockSource& threads, Options options);
  ~Rc11Model();
  Rc11Model(const Rc11Model&) = delete;
  Rc11Model& operator=(const Rc11Model&) = delete;

  /// `memory` is what memory holds there. The clock learns and releases what the operation says.
  Read load(ThreadClock& who, const Object& object, MemoryOrder order, u128 memory, Rc11Picker& picker);
  Written store(ThreadClock& who, const Object& object, MemoryOrder order, u128 memory, u128 value,
                Rc11Picker& picker);
  Updated update(ThreadClock& who, const Object& object, MemoryOrder success, MemoryOrder failure,
                 u128 memory, Update& update, Rc11Picker& picker);
  void fence(ThreadClock& who, MemoryOrder order);

  /// These bytes are accessed in a way that the model does not cover: what is known of them is dropped, and
  /// all later operations follow in S.
  void drop(Extent extent);
  /// The bytes were freed: what comes to lie there is another object.
  void forget(Extent extent);

  /// What the last operation could have done: which stores, by their age (bit 0: the newest), it could read
  /// or follow; of an update, also which it could read if nothing came right after them; the oldest that
  /// happens-before leaves; and what it did.
  struct Open {
    u64 legal = 1, readable = 1;
    u32 floor = 0, picked = 0;
  };
  const Open& open() const { return open_; }

  const Rc11Statistics& statistics() const { return statistics_; }
  const ScOrder& order() const { return order_; }

 private:
  struct Event;

  AtomicLocation* find(const Object& object, u128 memory);
  AtomicLocation*& bucket(uptr address) { return buckets_[(address >> 4) % options_.buckets]; }
  u32 remove(Extent extent);
  void make_space(AtomicLocation& location);
  void remove_oldest(AtomicLocation& location, u32 count);

  bool allowed(const Event& event, u32 i, MemoryOrder order, bool writes) const;
  u32 choose_read(const Event& event, MemoryOrder order, const Update* update, MemoryOrder failure,
                  Rc11Picker& picker);
  u32 choose_place(const Event& event, MemoryOrder order, Rc11Picker& picker);
  void enter_order(Event& event, u32 i, MemoryOrder order, bool writes);
  Read read(Event& event, u32 i, MemoryOrder order);
  AtomicStore& write(Event& event, u32 after, MemoryOrder order, u128 value, const Object& object);
  Read seen(const Event& event, u32 i);

  Arena& arena_;
  ClockSource& threads_;
  Options options_;
  ScOrder order_;
  Rc11Statistics statistics_;
  Open open_;
  u64 next_id_ = 1;
  u32 locations_ = 0;
  AtomicLocation** buckets_;
};

}  // namespace duress::memory
