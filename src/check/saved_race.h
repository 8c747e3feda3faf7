// SPDX-License-Identifier: Apache-2.0
//
// The first execution that has a race and passes otherwise: duress::check goes on, and reports it if nothing
// worse is found.
#pragma once

#include "check/execution.h"

namespace duress {

class SavedRace {
 public:
  /// The execution that just ran, unless there is one already. `found_in`: its number.
  void save(u64 found_in);
  bool any() const { return any_; }
  const char* what() const { return any_ ? what_ : nullptr; }
  /// Minimises and reports it. False: there is none.
  bool report(DuressCheck& c) const;

 private:
  void restore() const;

  bool any_ = false;
  u64 found_in_ = 0;
  trail::Request request_;
  trail::Deviation* trail_ = nullptr;
  const u32* points_ = nullptr;  // keys
  u32 point_count_ = 0;
  char what_[sizeof check.what];
};

}  // namespace duress
