// SPDX-License-Identifier: Apache-2.0
//
// Call stacks as small numbers. A stack is a node: a return address and the stack of the caller; equal
// stacks are one node. Threads push return addresses on a shadow call stack; a node number is filled
// in beside an address when it is first needed, so a second look at the same frames is free.
#pragma once

#include "base/spin_lock.h"
#include "duress/hooks.h"

namespace duress {

/// Threads: any, without locks. Nodes are only ever added.
class StackDepot {
 public:
  StackDepot();

  /// The stack `caller` with one more frame.
  StackId push(StackId caller, u64 return_address);
  /// The stack of a shadow call stack [begin, end).
  StackId intern(DuressFrame* begin, DuressFrame* end) {
    if (end == begin) return StackId{0};
    if (u64 node = end[-1].node) return static_cast<StackId>(node);
    return intern_slow(begin, end);
  }

  u64 return_address(StackId stack) const { return nodes_[raw(stack)].return_address; }
  u32 count() const { return used_.load(std::memory_order_acquire); }
  StackId caller(StackId stack) const { return static_cast<StackId>(nodes_[raw(stack)].caller); }

 private:
  struct Node {
    u64 return_address;
    u32 caller;
    u32 next;  // in its bucket
  };
  static constexpr u32 kNodes = 1u << 26;
  static constexpr u32 kBuckets = 1u << 22;
  static constexpr u32 kNear = 1024;  // buckets of one caller: a page

  StackId intern_slow(DuressFrame* begin, DuressFrame* end);

  Node* nodes_;  // 1 GiB of address space
  std::atomic<u32>* buckets_;
  std::atomic<u32> used_{1};
};

}  // namespace duress
