// SPDX-License-Identifier: Apache-2.0
#include "runtime/gone_frames.h"

#include "base/raw.h"
#include "runtime/control.h"
#include "runtime/runtime.h"

namespace duress {

constinit thread_local uptr t_hook_frame __attribute__((tls_model("initial-exec"))) = 0;

namespace {

using sched::Strand;

// The C library keeps the stacks of ended threads up to this size (40 MiB); what is beyond goes back to the
// kernel, and anything may come to lie there.
constexpr u64 kKeptStacks = u64{32} << 20;

// Where Linux maps stacks of threads and libraries.
constexpr int kMappedShift = 40;
constexpr uptr kMapped = 0x7f;

struct Range {
  uptr begin, end;
  bool has(uptr address) const { return address >= begin && address < end; }
};

/// Of a thread whose stack the C library has allocated: below its thread-local variables.
Range stack_of(const Strand& s) {
  if (!s.kernel.stack_begin) return {0, 0};
  return {s.kernel.stack_begin, s.kernel.thread_pointer & ~(uptr{kPageSize} - 1)};
}

/// Of a strand that has not ended. The first one's stack is the kernel's.
Range live_stack_of(Runtime& runtime, const Strand& s) {
  if (s.number != 0 || s.pool.thread) return stack_of(s);
  const ThreadInfo& main = runtime.threads[Tid{0}];
  return {main.stack_begin, main.stack_end};
}

}  // namespace

bool is_on_stack(Runtime& runtime, uptr address) {
  for (const Strand* s = scheduler().strands(); s; s = s->next_strand) {
    if (s->state != Strand::State::kEnded && live_stack_of(runtime, *s).has(address)) return true;
  }
  return false;
}

bool is_gone(Runtime& runtime, const Thread* t, uptr address, uptr frame, Tid* owner) {
  const Range own = t ? Range{t->stack_begin, t->stack_end} : stack_of(*controlled());
  if (own.has(address)) {
    *owner = t ? t->tid : static_cast<Tid>(controlled()->number);
    return own.has(frame) && address < frame;
  }
  if (address >> kMappedShift != kMapped) return false;  // most globals and the heap: spares the search
  u64 ended = 0;
  const Strand* found = nullptr;
  for (const Strand* s = scheduler().strands(); s; s = s->next_strand) {
    const bool gone = s->state == Strand::State::kEnded;
    const Range range = gone ? stack_of(*s) : live_stack_of(runtime, *s);
    if (gone) ended += range.end - range.begin;
    if (!range.has(address)) continue;
    found = s;
    if (gone) continue;
    const uptr top = s->caller_frame;
    *owner = static_cast<Tid>(s->number);
    return range.has(top) && address < top;
  }
  if (!found || ended > kKeptStacks) return false;
  *owner = static_cast<Tid>(found->number);
  return true;
}

}  // namespace duress
