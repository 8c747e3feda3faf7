// SPDX-License-Identifier: Apache-2.0
#include "runtime/stack_depot.h"

#include "base/check.h"
#include "base/prng.h"

namespace duress {

StackDepot::StackDepot() {
  nodes_ = static_cast<Node*>(map_memory(kNodes * sizeof(Node)));
  buckets_ = static_cast<std::atomic<u32>*>(map_memory(kBuckets * sizeof(u32)));
  if (!nodes_ || !buckets_) fatal("out of memory for call stacks: 1 GiB of address space");
}

StackId StackDepot::push(StackId caller, u64 return_address) {
  // The buckets of a caller are within a page, those of callers with near numbers in near pages: a forked
  // execution of a small program touches 3 pages of the table instead of 84 (each fault costs about a
  // microsecond).
  std::atomic<u32>& bucket = buckets_[(raw(caller) * 4 + mix(return_address) % kNear) % kBuckets];
  u32 head = bucket.load(std::memory_order_acquire);
  u32 made = 0;
  for (u32 searched = 0;;) {
    for (u32 i = head; i != searched; i = nodes_[i].next) {
      // A node that lost a race to be added is left unused: 16 bytes, rarely.
      if (nodes_[i].return_address == return_address && nodes_[i].caller == raw(caller))
        return static_cast<StackId>(i);
    }
    searched = head;
    if (!made) {
      made = used_.fetch_add(1, std::memory_order_relaxed);
      if (made >= kNodes) {
        used_.store(kNodes, std::memory_order_relaxed);
        return caller;  // 67 million different stacks: reports name the caller instead
      }
      nodes_[made].return_address = return_address;
      nodes_[made].caller = raw(caller);
    }
    nodes_[made].next = head;
    if (bucket.compare_exchange_strong(head, made, std::memory_order_release, std::memory_order_acquire)) {
      return static_cast<StackId>(made);
    }
  }
}

StackId StackDepot::intern_slow(DuressFrame* begin, DuressFrame* end) {
  DuressFrame* known = end;
  while (known > begin && !known[-1].node) --known;
  auto stack = known > begin ? static_cast<StackId>(known[-1].node) : StackId{0};
  for (; known < end; ++known) {
    stack = push(stack, known->return_address);
    known->node = raw(stack);
  }
  return stack;
}

}  // namespace duress
