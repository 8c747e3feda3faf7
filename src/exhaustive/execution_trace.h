// SPDX-License-Identifier: Apache-2.0
//
// One execution with its happens-before relation: program order, the order of conflicting steps, and which
// strand continued because of which (vector clocks). Each new step is compared with the earlier ones; a pair
// that could have happened in the other order is a *reversal* (a reversible race in DPOR), and leads to
// another class of executions.
//
// Blocking steps need care. A lock never races with the unlock before it, because it was not enabled before
// it; it races with the lock before that. So for blocking steps the search skips earlier steps before which
// they were not enabled.
//
// Runs inside the target too: memory comes from an Arena, nothing throws.
#pragma once

#include "base/arena.h"
#include "exhaustive/step.h"

namespace duress::exhaustive {

/// A growing array of trivially copyable values.
template <typename T>
class List {
 public:
  explicit List(Arena& arena) : arena_(arena) {}
  ~List() {
    if (data_) arena_.free(data_, capacity_ * sizeof(T));
  }
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  T* data() { return data_; }
  u32 size() const { return size_; }
  T& operator[](u32 i) { return data_[i]; }
  const T& operator[](u32 i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& last() { return data_[size_ - 1]; }
  void clear() { size_ = 0; }
  void cut(u32 size) { size_ = size; }
  void push(const T& value) {
    if (DURESS_UNLIKELY(size_ == capacity_)) grow(size_ + 1);
    data_[size_++] = value;
  }
  /// Adds an uninitialised element.
  T& push() {
    if (DURESS_UNLIKELY(size_ == capacity_)) grow(size_ + 1);
    return data_[size_++];
  }
  void resize(u32 size) {
    if (size > capacity_) grow(size);
    size_ = size;
  }

 private:
  void grow(u32 least) {
    u32 wider = capacity_ ? capacity_ * 2 : 64;
    while (wider < least) wider *= 2;
    auto* data = static_cast<T*>(arena_.allocate(wider * sizeof(T)));
    if (size_) __builtin_memcpy(static_cast<void*>(data), data_, size_ * sizeof(T));
    if (data_) arena_.free(data_, capacity_ * sizeof(T));
    data_ = data;
    capacity_ = wider;
  }

  Arena& arena_;
  T* data_ = nullptr;
  u32 size_ = 0, capacity_ = 0;
};

/// Two steps that could happen in the other order.
struct Reversal {
  u32 earlier;  // entry
  u32 later;    // entry; trace.size() if it is a pending step
  i64 last;     // last entry of the later step's strand; -1: none
  Step step;    // the later step as it would be if it came first
};

class ExecutionTrace {
 public:
  struct Entry {
    Step step;
    u32 index;                     // among the entries of its strand, from 1
    u32 depth;                     // steps up to and with this one
    i64 last;                      // previous entry of its strand; -1: none
    i64 link[Step::kMostTouches];  // previous touch of the same granule, as entry * 4 + touch; -1: none
  };

  explicit ExecutionTrace(Arena& arena);

  void clear();
  /// Removes everything after the first `depth` steps.
  void cut(u32 depth);
  u32 depth() const { return positions_.size(); }
  u32 size() const { return entries_.size(); }
  const Entry& entry(u32 i) const { return entries_[i]; }
  /// The entry of step number `depth`, from 1.
  u32 position(u32 depth) const { return positions_[depth - 1]; }

  /// Adds an entry. If it is a step, its reversals are added to `reversals`.
  void add(const Step& step, List<Reversal>& reversals);
  /// Adds the reversals of a step that was not executed.
  void pending(const Step& step, List<Reversal>& reversals);

  /// Of the alternatives of an atomic under rc11 that comes next (Step::kHasStoreAge): those in which it
  /// could not come before the newer stores. The others are the same execution graphs as if it did, and that
  /// is explored: docs/design/exhaustive.md, "Interleavings under rc11".
  u64 alternatives(const Step& step);

  /// Whether entry a happens before entry b.
  bool before(u32 a, u32 b) const { return covers(clock(b), a); }

 private:
  using Clock = u16;

  const Clock* clock(u32 entry) const { return &clocks_[entry * width_]; }
  bool covers(const Clock* clock, u32 entry) const {
    const Entry& e = entries_[entry];
    return clock[e.step.strand] >= e.index;
  }
  void join(Clock* into, const Clock* from) const {
    for (u32 i = 0; i < width_; ++i) into[i] = into[i] < from[i] ? from[i] : into[i];
  }
  void widen(u32 strand);
  i64& head(u64 granule);
  void make_room();
  void pop();
  void scan(const Step& step, i64 last, Clock* all, List<Reversal>& reversals);
  bool could_precede(const Step& step, u32 earlier) const;
  bool written_without(const Step& step, u32 earlier) const;

  List<Entry> entries_;
  List<Clock> clocks_;
  List<u32> positions_;
  List<u32> touched_, stores_;  // of alternatives()
  u32 width_ = 16;
  i64 last_[kMostStrands];  // by strand: its last entry
  // Hash table: the last touch of each 16-byte granule of memory.
  struct Head {
    u64 granule;
    i64 touch;
  };
  List<Head> heads_;
  u32 heads_used_ = 0;
};

}  // namespace duress::exhaustive
