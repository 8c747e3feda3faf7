// SPDX-License-Identifier: Apache-2.0
//
// The agreements of the detectors, with happens-before by definition as the judge: on random traces
// FastTrack, DJIT+, HappensBefore, Goldilocks and MultiRace find the same first racy access of each byte, and
// JRF the same first one that races with an earlier write; every pair that one of them names is a race.
// LockSet does what its definition says, computed naively.
#include <gtest/gtest.h>

#include "analysis/testing/play.h"
#include "analysis/testing/reference.h"

namespace duress {
namespace {

using testing::Event;
using testing::Op;
using testing::Reference;
using testing::Trace;
using testing::TraceShape;

constexpr const char* kPrecise[] = {"FastTrack", "DJIT+", "HappensBefore", "Goldilocks", "MultiRace"};

/// The first access of each byte that races with an earlier plain write, both plain.
std::map<u32, size_t> first_after_write(const Trace& trace, const Reference& reference) {
  std::map<u32, size_t> first;
  for (size_t b = 0; b < trace.size(); ++b) {
    for (size_t a = 0; a < b; ++a) {
      if (trace[a].op != Op::kWrite || testing::is_atomic(trace[b].op) || !reference.races(a, b)) continue;
      for (u32 byte = trace[b].address; byte < trace[b].address + trace[b].size; ++byte) {
        if (byte >= trace[a].address && byte < trace[a].address + trace[a].size) first.emplace(byte, b);
      }
    }
  }
  return first;
}

/// Eraser, byte by byte, with sets of locks as sets.
std::map<u32, size_t> naive_lock_set(const Trace& trace) {
  struct Byte {
    enum { kVirgin, kExclusive, kShared, kModified } stage = kVirgin;
    int thread = -1;
    std::set<int> candidates;
  };
  std::map<u32, Byte> bytes;
  std::map<int, std::set<int>> exclusive, any;  // held, by thread
  std::map<u32, size_t> first;
  for (size_t i = 0; i < trace.size(); ++i) {
    const Event& e = trace[i];
    if (e.op == Op::kLock) exclusive[e.thread].insert(e.object), any[e.thread].insert(e.object);
    if (e.op == Op::kUnlock) exclusive[e.thread].erase(e.object), any[e.thread].erase(e.object);
    if (e.op == Op::kReadLock) any[e.thread].insert(e.object);
    if (e.op == Op::kReadUnlock) any[e.thread].erase(e.object);
    if (e.op != Op::kRead && e.op != Op::kWrite) continue;
    bool write = e.op == Op::kWrite;
    const std::set<int>& held = (write ? exclusive : any)[e.thread];
    for (u32 at = e.address; at < e.address + e.size; ++at) {
      Byte& byte = bytes[at];
      if (byte.stage == Byte::kVirgin) {
        byte.stage = Byte::kExclusive;
        byte.thread = e.thread;
        continue;
      }
      if (byte.stage == Byte::kExclusive) {
        if (byte.thread == e.thread) continue;
        byte.candidates = held;
        byte.stage = write ? Byte::kModified : Byte::kShared;
      } else {
        if (write) byte.stage = Byte::kModified;
        std::erase_if(byte.candidates, [&](int lock) { return held.count(lock) == 0; });
      }
      if (byte.stage == Byte::kModified && byte.candidates.empty()) first.emplace(at, i);
    }
  }
  return first;
}

class Agreement : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(shadow_.open(0)); }
  void TearDown() override { shadow_.close(); }

  /// Compares `count` traces of one shape.
  void compare(u64 seed, int count, const TraceShape& shape) {
    testing::Stage stage("[FastTrack,DJIT+,HappensBefore,Goldilocks,MultiRace,JRF,LockSet]", shadow_);
    size_t findings = 0, lock_set_findings = 0;
    for (int i = 0; i < count && !HasFailure(); ++i) {
      Trace trace = testing::random_trace(seed + static_cast<u64>(i), shape);
      Reference reference(trace);
      auto expected = reference.first_races();
      const testing::Played& played = stage.play(trace);
      auto where = [&](const char* tool) {
        return std::string(tool) + ", seed " + std::to_string(seed + static_cast<u64>(i)) + "\n" +
               testing::to_string(trace);
      };
      for (const char* tool : kPrecise) {
        EXPECT_EQ(played.of(tool).first, expected) << where(tool);
        for (auto [a, b] : played.of(tool).pairs) {
          EXPECT_TRUE(reference.races(a, b)) << a << "," << b << " " << where(tool);
        }
      }
      EXPECT_EQ(played.of("JRF").first, first_after_write(trace, reference)) << where("JRF");
      for (auto [a, b] : played.of("JRF").pairs) EXPECT_TRUE(reference.races(a, b)) << where("JRF");
      EXPECT_EQ(played.of("LockSet").first, naive_lock_set(trace)) << where("LockSet");
      findings += expected.size();
      lock_set_findings += played.of("LockSet").first.size();
    }
    EXPECT_GT(findings, static_cast<size_t>(count) / 20);
    EXPECT_GT(lock_set_findings, static_cast<size_t>(count) / 20);
  }

  ShadowMap shadow_;
};

TEST_F(Agreement, PlainAccessesOfOneSize) {
  compare(1, 26000, {.threads = 3, .events = 30, .atomics = false, .mixed_sizes = false});
}
TEST_F(Agreement, MixedSizesNeighboursAndOverlaps) {
  compare(1000000, 26000, {.threads = 4, .events = 40, .atomics = false});
}
TEST_F(Agreement, AtomicsAndFences) {
  compare(2000000, 30000, {.threads = 4, .events = 40});
}
TEST_F(Agreement, ManyThreadsOnFewBytes) {
  compare(3000000, 12000, {.threads = 9, .events = 50, .plain_bytes = 8});
}
TEST_F(Agreement, LongTracesOfFewRaces) {
  compare(4000000, 4000, {.threads = 3, .events = 100, .plain_bytes = 16});
}
TEST_F(Agreement, Ranges) {
  compare(6000000, 6000, {.threads = 4, .events = 40, .plain_bytes = 64, .ranges = true});
}

}  // namespace
}  // namespace duress
