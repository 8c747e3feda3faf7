// SPDX-License-Identifier: Apache-2.0
//
// Whatever is open in an execution of a test machine, and every combination of answers.
#pragma once

#include <vector>

#include "base/check.h"
#include "base/types.h"

namespace duress::memory::testing {

/// Whatever is open in an execution: who runs, what is read, where a store goes.
class Decisions {
 public:
  virtual ~Decisions() = default;
  virtual u32 choose(u32 count) = 0;
};

/// Depth first: the answers so far, and how many there were to choose from.
class AllDecisions final : public Decisions {
 public:
  u32 choose(u32 count) override {
    if (at_ == path_.size()) path_.push_back({0, count});
    DURESS_CHECK(path_[at_].count == count);
    return path_[at_++].answer;
  }
  /// To the next execution. False: that was the last.
  bool advance() {
    at_ = 0;
    while (!path_.empty() && ++path_.back().answer == path_.back().count) path_.pop_back();
    return !path_.empty();
  }

 private:
  struct Decision {
    u32 answer, count;
  };
  std::vector<Decision> path_;
  std::size_t at_ = 0;
};

}  // namespace duress::memory::testing
