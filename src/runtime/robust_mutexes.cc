// SPDX-License-Identifier: Apache-2.0
#include "runtime/robust_mutexes.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/raw.h"

namespace duress {

static const robust_list* without_flag(const robust_list* entry) {
  return reinterpret_cast<const robust_list*>(reinterpret_cast<uptr>(entry) & ~uptr{1});
}

void visit_robust_mutexes(const sched::KernelThread& kernel, void (*visit)(std::atomic<u32>& word)) {
  auto* head = static_cast<const robust_list_head*>(kernel.robust_list);
  size_t bytes = 0;
  if (!head &&
      raw_syscall(SYS_get_robust_list, 0, reinterpret_cast<long>(&head), reinterpret_cast<long>(&bytes)) != 0)
    return;
  if (!head) return;
  auto look = [&](const robust_list* entry) {
    if (!without_flag(entry)) return;
    uptr at = reinterpret_cast<uptr>(without_flag(entry)) + static_cast<uptr>(head->futex_offset);
    auto& word = *reinterpret_cast<std::atomic<u32>*>(at);
    if ((word.load() & FUTEX_TID_MASK) == static_cast<u32>(kernel.os_id)) visit(word);
  };
  constexpr int kMost = 2048;  // ROBUST_LIST_LIMIT
  const robust_list *entry = head->list.next, *pending = head->list_op_pending;
  for (int i = 0; entry != &head->list && i < kMost; ++i) {
    const robust_list* next = without_flag(entry)->next;
    if (entry != pending) look(entry);
    entry = next;
  }
  look(pending);
}

void mark_abandoned(std::atomic<u32>& word) {
  word.store((word.load() & FUTEX_WAITERS) | FUTEX_OWNER_DIED);
}

}  // namespace duress
