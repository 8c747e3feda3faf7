// SPDX-License-Identifier: Apache-2.0
//
// Synchronisation as a flow of knowledge between *elements*. Every primitive of C++ does one of two things to
// what is known: an element learns all that another knows (learn), or knows exactly that from now on
// (become). Threads are elements, so is what an unlock, a post or a store leaves behind, and so is what a
// thread keeps for its next acquire fence. HappensBefore, Goldilocks and JRF are then three readings of the
// same few operations: clocks, sets of elements per location, sets of locations per element.
#pragma once

#include "analysis/analysis.h"
#include "analysis/growing_array.h"
#include "clock/thread_clock.h"

namespace duress {

/// Number of an element. kNobody knows nothing.
enum class Element : u32 { kNobody = 0 };

enum class ElementRole : u8 {
  kThread,
  kPending,   // what a thread's relaxed loads read, for its next acquire fence
  kFence,     // what a thread knew at its last release fence
  kReleased,  // by the last unlock, post or store of an object
  kReaders,   // by read-unlocks since the last unlock
};

class FlowSink {
 public:
  virtual void learn(Element who, Element from) = 0;
  virtual void become(Element who, Element from) = 0;

 protected:
  ~FlowSink() = default;
};

/// Threads: callers lock.
class SyncFlow {
 public:
  explicit SyncFlow(Arena& arena) : arena_(arena), names_(arena), table_(arena), threads_(arena) {
    names_.push();  // kNobody
  }
  ~SyncFlow();

  Element thread(Tid tid);
  /// Tells `sink` what a synchronisation event does.
  void apply(const AnalysisThread& thread, const Sync& sync, FlowSink& sink);

  struct Name {
    ElementRole role;
    u8 size;       // bytes of an atomic; 0: a primitive
    uptr address;  // of the object, or the Tid
  };
  const Name& name(Element e) const { return names_.at(raw(e)); }
  u32 count() const { return static_cast<u32>(names_.size()); }

 private:
  struct Entry {
    Entry* next;
    Element element;
  };

  Element get(ElementRole role, uptr address, u8 size);
  /// Calls visit(element, address, size) for each atomic that overlaps another, itself aside.
  template <typename Visit>
  void each_overlapping(uptr address, u8 size, Visit visit);

  Arena& arena_;
  GrowingArray<Name> names_;       // by element
  GrowingArray<Entry*> table_;     // hash table
  GrowingArray<Element> threads_;  // by tid
};

}  // namespace duress
