// SPDX-License-Identifier: Apache-2.0
//
// Tiny programs of atomics among locks, semaphores, reader-writer locks and conditions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rc11_memory.h"

namespace duress::exhaustive::testing {

/// An atomic operation, or one of a primitive.
struct Action {
  OpKind kind;
  u32 object = 0;
  u32 mutex = 0;  // of a wait
  Instruction atomic = {Instruction::What::kFence, 0, memory::testing::kRlx};
  std::string text() const {
    return std::string(word_of(kind)) + " " + std::to_string(is_access(kind) ? atomic.location : object);
  }
};

inline Action sync(OpKind kind, u32 object, u32 mutex = 0) {
  return {kind, object, mutex};
}
inline Action atomic(const Instruction& i) {
  return {kind_of(i), 0, 0, i};
}

struct Actions {
  std::vector<std::vector<Action>> threads;
  std::map<u32, u64> counts;  // semaphores that are not 0 at first
  std::string text() const {
    std::string all;
    for (const auto& thread : threads) {
      for (const Action& action : thread) all += action.text() + "; ";
      all += "\n";
    }
    return all;
  }
};

}  // namespace duress::exhaustive::testing
