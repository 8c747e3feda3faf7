// SPDX-License-Identifier: Apache-2.0
//
// One execution, step by step, with what happened before what: program order, the order of steps that
// conflict, and who went on because of whom. Each new step is compared with those before it; the pairs that
// could have been the other way round are its *reversals*, and each leads to another class of executions.
//
// Steps that wait need care. A lock never races with the unlock before it, because it could not have come
// first; it races with the lock before that. So for steps that wait the search goes on past steps
// without which they could not have gone on, to the first one before which they could.
//
// Runs inside the target too: memory comes from an Arena, nothing throws.
#ifndef DURESS_EXHAUSTIVE_EXECUTION_TRACE_H_
#define DURESS_EXHAUSTIVE_EXECUTION_TRACE_H_

#include "base/arena.h"
#include "exhaustive/step.h"

namespace duress::exhaustive {

/// An array that grows; for plain data.
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
  T& last() { return data_[size_ - 1]; }
  void clear() { size_ = 0; }
  void cut(u32 size) { size_ = size; }
  void push(const T& value) {
    if (DURESS_UNLIKELY(size_ == capacity_)) grow(size_ + 1);
    data_[size_++] = value;
  }
  /// Room for one more, not set.
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

/// Two steps that could be the other way round.
struct Reversal {
  u32 earlier;  // entry
  u32 later;    // entry; past.size() if it is a pending step
  i64 last;     // the entry that the later one's strand had come to; -1: none
  Step step;    // the later one as it would be first
};

class ExecutionTrace {
 public:
  struct Entry {
    Step step;
    u32 index;                     // among the entries of its strand, from 1
    u32 depth;                     // steps up to and with this one
    i64 last;                      // the entry before it of its strand, or what that goes on after; -1: none
    i64 link[Step::kMostTouches];  // the touch before it of the same memory, as entry * 4 + touch; -1: none
  };

  explicit ExecutionTrace(Arena& arena);

  void clear();
  /// Forgets everything after the first `depth` steps.
  void cut(u32 depth);
  u32 depth() const { return positions_.size(); }
  u32 size() const { return entries_.size(); }
  const Entry& entry(u32 i) const { return entries_[i]; }
  /// The entry of the step that made the depth `depth`, from 1.
  u32 position(u32 depth) const { return positions_[depth - 1]; }

  /// Adds an entry. If it is a step, its reversals are added to `reversals`.
  void add(const Step& step, List<Reversal>& reversals);
  /// The reversals of a step that was not done.
  void pending(const Step& step, List<Reversal>& reversals);

  /// Whether entry a came before entry b by what happened, not only by the order in this execution.
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
  u32 width_ = 16;
  i64 last_[kMostStrands];  // by strand: its last entry, or the one it goes on after
  // The last touch of each 16 bytes of memory.
  struct Head {
    u64 granule;
    i64 touch;
  };
  List<Head> heads_;
  u32 heads_used_ = 0;
};

}  // namespace duress::exhaustive

#endif  // DURESS_EXHAUSTIVE_EXECUTION_TRACE_H_
