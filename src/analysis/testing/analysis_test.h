// SPDX-License-Identifier: Apache-2.0
//
// For the tests of single analyses: a trace in a few words, and what a chain says of it.
#pragma once

#include <gtest/gtest.h>

#include "analysis/testing/play.h"

namespace duress::testing {

inline Event fork(int thread, int other) {
  return {.op = Op::kFork, .thread = thread, .other = other};
}
inline Event join(int thread, int other) {
  return {.op = Op::kJoin, .thread = thread, .other = other};
}
inline Event read(int thread, u32 address) {
  return {.op = Op::kRead, .thread = thread, .address = address, .size = 4};
}
inline Event write(int thread, u32 address) {
  return {.op = Op::kWrite, .thread = thread, .address = address, .size = 4};
}
inline Event lock(int thread, int object) {
  return {.op = Op::kLock, .thread = thread, .object = object};
}
inline Event unlock(int thread, int object) {
  return {.op = Op::kUnlock, .thread = thread, .object = object};
}
inline Event begin(int thread) {
  return {.op = Op::kBlockBegin, .thread = thread};
}
inline Event end(int thread) {
  return {.op = Op::kBlockEnd, .thread = thread};
}

class AnalysisTest : public ::testing::Test {
 protected:
  using Pairs = std::set<std::pair<size_t, size_t>>;

  void SetUp() override { ASSERT_TRUE(shadow_.open(0)); }
  void TearDown() override { shadow_.close(); }
  Played play(const Trace& trace, const char* chain) { return testing::play(trace, chain, shadow_); }

 private:
  ShadowMap shadow_;
};

}  // namespace duress::testing
