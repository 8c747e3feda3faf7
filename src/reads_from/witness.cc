// SPDX-License-Identifier: Apache-2.0
#include "reads_from/witness.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace duress::reads_from {
namespace {

constexpr u32 kNone = ~u32{0};

/// A set of steps, a bit each.
class Bits {
 public:
  explicit Bits(u32 size) : words_((size + 63) / 64) {}
  bool has(u32 i) const { return words_[i / 64] >> (i % 64) & 1; }
  void add(u32 i) { words_[i / 64] |= u64{1} << (i % 64); }
  void remove(u32 i) { words_[i / 64] &= ~(u64{1} << (i % 64)); }
  void add(const Bits& other) {
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
  }
  bool within(const Bits& other) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      if (words_[w] & ~other.words_[w]) return false;
    }
    return true;
  }

 private:
  std::vector<u64> words_;
};

class Search {
 public:
  Search(const Trace& trace, const Cut& cut) : trace_(trace) {
    for (const Event& event : trace.events()) {
      if (index_of(event.id) <= cut.counts[strand_of(event.id)]) steps_.push_back(&event);
    }
    for (const Event& event : cut.changed) steps_.push_back(&event);
  }

  std::optional<std::vector<trail::Pick>> run() {
    link();
    if (!saturate()) return std::nullopt;
    if (!search()) return std::nullopt;
    std::vector<trail::Pick> picks;
    for (u32 i : order_) picks.push_back({steps_[i]->step.strand, steps_[i]->step.value});
    return picks;
  }

 private:
  struct Read {
    u32 reader, source;  // kNone: memory as it was before
  };
  struct Object {
    std::vector<Read> reads;
    std::vector<u32> writes;
  };

  u32 size() const { return static_cast<u32>(steps_.size()); }
  u32 number_of(EventId id) const {
    auto it = numbers_.find(id);
    return it == numbers_.end() ? kNone : it->second;
  }

  /// The orders that are given: of strands, of strands that continue after others, of what is read.
  void link() {
    by_strand_.resize(trace_.strands());
    for (u32 i = 0; i < size(); ++i) {
      const Event& event = *steps_[i];
      numbers_[event.id] = i;
      before_.emplace_back(size());
      auto follows = [&](EventId id) {
        const u32 other = number_of(id);
        if (other == kNone) return;
        before_[i].add(before_[other]);
        before_[i].add(other);
      };
      if (index_of(event.id) > 1) follows(event.id - 1);
      for (u32 k = event.first_after; k < event.last_after; ++k)
        follows(id_of(trace_.afters()[k].strand, trace_.afters()[k].count));
      for (u32 k = 0; k < event.count; ++k) {
        const Access& access = event.access[k];
        Object& object = objects_[access.object];
        if (access.reads) {
          if (access.source != 0) follows(access.source);
          object.reads.push_back({i, access.source == 0 ? kNone : number_of(access.source)});
        }
        if (access.writes) object.writes.push_back(i);
      }
      by_strand_[event.step.strand].push_back(i);
    }
  }

  /// False: there is a cycle.
  bool order(u32 first, u32 second) {
    if (first == second || before_[first].has(second)) return false;
    if (before_[second].has(first)) return true;
    changed_ = true;
    for (u32 i = 0; i < size(); ++i) {
      if (i != second && !before_[i].has(second)) continue;
      before_[i].add(before_[first]);
      before_[i].add(first);
    }
    return true;
  }

  /// No write comes between another write and its reader.
  bool saturate(const Object& object) {
    for (const Read& read : object.reads) {
      for (u32 write : object.writes) {
        if (write == read.reader || write == read.source) continue;
        if (before_[read.reader].has(write) && (read.source == kNone || !order(write, read.source)))
          return false;
        if ((read.source == kNone || before_[write].has(read.source)) && !order(read.reader, write))
          return false;
      }
    }
    return true;
  }

  bool saturate() {
    do {
      changed_ = false;
      for (const auto& [address, object] : objects_) {
        if (!saturate(object)) return false;
      }
    } while (changed_);
    return true;
  }

  struct State {
    u32 last = kNone;  // write
    u32 readers = 0;   // of it, that have not been executed
  };

  bool can_go(u32 i, const Bits& executed) {
    if (!before_[i].within(executed)) return false;
    const Event& event = *steps_[i];
    for (u32 k = 0; k < event.count; ++k) {
      const Access& access = event.access[k];
      const State& state = states_[access.object];
      if (access.reads && state.last != (access.source == 0 ? kNone : number_of(access.source))) return false;
      if (access.writes && state.readers != (access.reads ? 1 : 0)) return false;
    }
    return true;
  }

  u32 readers_of(u32 write, u64 object) {
    u32 count = 0;
    for (const Read& read : objects_[object].reads) count += read.source == write;
    return count;
  }

  /// The states before it, to be restored.
  void perform(u32 i, State* saved) {
    const Event& event = *steps_[i];
    for (u32 k = 0; k < event.count; ++k) {
      const Access& access = event.access[k];
      State& state = states_[access.object];
      saved[k] = state;
      if (access.reads) --state.readers;
      if (access.writes) state = {i, readers_of(i, access.object)};
    }
  }
  void undo(u32 i, const State* saved) {
    const Event& event = *steps_[i];
    for (u32 k = event.count; k-- > 0;) states_[event.access[k].object] = saved[k];
  }

  struct Frame {
    u32 strand = 0;  // the next to try
    u32 step = kNone;
    State saved[Step::kMostTouches];
  };

  /// How far each strand has come decides what may follow: of each object only the last write has readers
  /// that have not been executed.
  std::string key(const std::vector<u32>& next) const {
    return {reinterpret_cast<const char*>(next.data()), next.size() * sizeof(u32)};
  }

  bool search() {
    for (auto& [address, object] : objects_) states_[address] = {kNone, readers_of(kNone, address)};
    const auto strands = static_cast<u32>(by_strand_.size());
    std::vector<u32> next(strands, 0);
    Bits executed(size());
    std::unordered_set<std::string> visited;
    std::vector<Frame> stack(1);
    while (order_.size() < size()) {
      Frame& frame = stack.back();
      u32 found = kNone;
      for (; frame.strand < strands && found == kNone; ++frame.strand) {
        const u32 s = frame.strand;
        if (next[s] == by_strand_[s].size()) continue;
        const u32 i = by_strand_[s][next[s]];
        if (!can_go(i, executed)) continue;
        ++next[s];
        if (visited.insert(key(next)).second)
          found = i;
        else
          --next[s];
      }
      if (found != kNone) {
        frame.step = found;
        perform(found, frame.saved);
        executed.add(found);
        order_.push_back(found);
        stack.emplace_back();
        continue;
      }
      stack.pop_back();
      if (stack.empty()) return false;
      Frame& above = stack.back();
      undo(above.step, above.saved);
      executed.remove(above.step);
      --next[steps_[above.step]->step.strand];
      order_.pop_back();
    }
    return true;
  }

  const Trace& trace_;
  std::vector<const Event*> steps_;  // each after what it follows from
  std::unordered_map<EventId, u32> numbers_;
  std::vector<std::vector<u32>> by_strand_;
  std::vector<Bits> before_;  // by step: all that comes before it
  std::unordered_map<u64, Object> objects_;
  std::unordered_map<u64, State> states_;
  std::vector<u32> order_;
  bool changed_ = false;
};

}  // namespace

std::optional<std::vector<trail::Pick>> find_witness(const Trace& trace, const Cut& cut) {
  return Search(trace, cut).run();
}

}  // namespace duress::reads_from
