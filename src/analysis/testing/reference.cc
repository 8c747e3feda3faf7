// SPDX-License-Identifier: Apache-2.0
#include "analysis/testing/reference.h"

#include "base/check.h"

namespace duress::testing {

Reference::Reference(const Trace& trace) : trace_(trace), reach_(trace.size()) {
  DURESS_CHECK(trace.size() <= kMostEvents);
  program_order();
  locks_and_threads();
  atomics();
  close();
}

void Reference::program_order() {
  for (size_t a = 0; a < trace_.size(); ++a) {
    for (size_t b = a + 1; b < trace_.size(); ++b) {
      if (trace_[a].thread == trace_[b].thread) edge(a, b);
    }
  }
}

void Reference::locks_and_threads() {
  for (size_t a = 0; a < trace_.size(); ++a) {
    const Event& x = trace_[a];
    for (size_t b = a + 1; b < trace_.size(); ++b) {
      const Event& y = trace_[b];
      bool same_object = x.object == y.object;
      if (x.op == Op::kUnlock && same_object && (y.op == Op::kLock || y.op == Op::kReadLock)) edge(a, b);
      if (x.op == Op::kReadUnlock && same_object && y.op == Op::kLock) edge(a, b);
      if (x.op == Op::kPost && same_object && y.op == Op::kWait) edge(a, b);
      if (x.op == Op::kFork && y.thread == x.other) edge(a, b);
      if (y.op == Op::kJoin && x.thread == y.other) edge(a, b);
      if (x.op == Op::kFork && y.op == Op::kJoin && x.other == y.other)
        edge(a, b);  // it may have done nothing
    }
  }
}

/// [atomics.order] and [atomics.fences]. The trace is in modification order: a load reads the last
/// store before it. A release sequence is its head and the read-modify-writes that directly follow.
void Reference::atomics() {
  for (size_t load = 0; load < trace_.size(); ++load) {
    if (!reads_atomic(trace_[load].op)) continue;
    // Where does what it reads take effect? At the load itself, and at later acquire fences of its thread.
    std::vector<size_t> targets;
    if (acquires(trace_[load].order)) targets.push_back(load);
    for (size_t f = load + 1; f < trace_.size(); ++f) {
      if (trace_[f].op == Op::kFence && trace_[f].thread == trace_[load].thread &&
          acquires(trace_[f].order)) {
        targets.push_back(f);
      }
    }
    // All heads of release sequences, real or hypothetical, that it reads from.
    for (size_t at = load; at-- > 0;) {
      const Event& head = trace_[at];
      if (!(head.op == Op::kAtomicStore || head.op == Op::kAtomicRmw) || head.address != trace_[load].address)
        continue;
      std::vector<size_t> sources;
      if (releases(head.order)) sources.push_back(at);
      for (size_t f = 0; f < at; ++f) {
        if (trace_[f].op == Op::kFence && trace_[f].thread == head.thread && releases(trace_[f].order))
          sources.push_back(f);
      }
      for (size_t from : sources) {
        for (size_t to : targets) edge(from, to);
      }
      if (head.op == Op::kAtomicStore) break;  // the sequence cannot go through a store
    }
  }
}

void Reference::close() {
  // Edges only go forward, so one backward sweep is enough.
  for (size_t a = trace_.size(); a-- > 0;) {
    for (size_t b = a + 1; b < trace_.size(); ++b) {
      if (reach_[a][b]) reach_[a] |= reach_[b];
    }
  }
}

bool Reference::races(size_t a, size_t b) const {
  const Event &x = trace_[a], &y = trace_[b];
  return is_access(x.op) && is_access(y.op) && (writes(x.op) || writes(y.op)) &&
         !(is_atomic(x.op) && is_atomic(y.op)) && x.address < y.address + y.size &&
         y.address < x.address + x.size && !before(a, b);
}

std::map<u32, size_t> Reference::first_races() const {
  std::map<u32, size_t> first;
  for (size_t b = 0; b < trace_.size(); ++b) {
    for (size_t a = 0; a < b; ++a) {
      if (!races(a, b)) continue;
      for (u32 byte = trace_[b].address; byte < trace_[b].address + trace_[b].size; ++byte) {
        if (byte >= trace_[a].address && byte < trace_[a].address + trace_[a].size) first.emplace(byte, b);
      }
    }
  }
  return first;
}

}  // namespace duress::testing
