// SPDX-License-Identifier: Apache-2.0
//
// Small programs of atomic operations, and all their executions by the axioms alone.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "memory/testing/rc11_axioms.h"

namespace duress::memory::testing {

constexpr MemoryOrder kRlx = MemoryOrder::kRelaxed, kAcq = MemoryOrder::kAcquire,
                      kRel = MemoryOrder::kRelease, kAcqRel = MemoryOrder::kAcqRel,
                      kSc = MemoryOrder::kSeqCst;

struct Instruction {
  enum class What : u8 { kLoad, kStore, kAdd, kExchange, kCompare, kFence, kRelease, kAcquire };
  What what;
  u32 location;  // of kRelease and kAcquire: a lock that others may have
  MemoryOrder order;
  u64 value = 0;
  u64 expected = 0;  // kCompare
  MemoryOrder failure = MemoryOrder::kRelaxed;

  bool reads() const { return what <= What::kCompare && what != What::kStore; }
  /// What it stores if it reads `old`.
  std::optional<u64> stored(u64 old) const {
    switch (what) {
      case What::kStore:
      case What::kExchange:
        return value;
      case What::kAdd:
        return old + value;
      case What::kCompare:
        return old == expected ? std::optional<u64>(value) : std::nullopt;
      default:
        return std::nullopt;
    }
  }
  ExecutionGraph::Event event(u32 thread, std::optional<u64> old) const;
};

inline Instruction load(u32 location, MemoryOrder order) {
  return {Instruction::What::kLoad, location, order};
}
inline Instruction store(u32 location, u64 value, MemoryOrder order) {
  return {Instruction::What::kStore, location, order, value};
}
inline Instruction add(u32 location, u64 value, MemoryOrder order) {
  return {Instruction::What::kAdd, location, order, value};
}
inline Instruction exchange(u32 location, u64 value, MemoryOrder order) {
  return {Instruction::What::kExchange, location, order, value};
}
inline Instruction compare(u32 location, u64 expected, u64 value, MemoryOrder order, MemoryOrder failure) {
  return {Instruction::What::kCompare, location, order, value, expected, failure};
}
inline Instruction fence(MemoryOrder order) {
  return {Instruction::What::kFence, 0, order};
}

struct Program {
  u32 locations;
  std::vector<std::vector<Instruction>> threads;

  u32 events() const;
  /// The event of an instruction: its number in an ExecutionGraph.
  u32 event(u32 thread, u32 index) const;
  std::string text() const;
};

/// What an execution looks like from outside, and inside.
struct Results {
  std::set<std::string> outcomes;  // what each thread's reads returned, "0 1 | 1"; then "; " and memory
  std::set<std::string> graphs;
  u64 runs = 0;
};

/// The outcome of a graph whose values are known: by event.
std::string outcome_text(const Program& program, const ExecutionGraph& graph, const std::vector<u64>& read,
                         const std::vector<u64>& written);

/// Every choice of reads-from and modification order that the axioms allow. For at most about 10 events.
/// `counts`: of executions in which events have read these values, whether they are wanted; null: all are.
using Counts = std::function<bool(const std::vector<u64>& read)>;
Results declared(const Program& program, const Counts& counts = nullptr);

}  // namespace duress::memory::testing
