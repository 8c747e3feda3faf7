// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory_guard.h"

#include <string.h>

#include "duress/hooks.h"
#include "runtime/control.h"
#include "runtime/gone_frames.h"
#include "runtime/object_errors.h"
#include "runtime/runtime.h"

extern "C" void __libc_free(void*);

namespace duress {

constinit MemoryGuard* g_memory_guard = nullptr;
constinit void (*g_memory_listener)(const MemoryError&) = nullptr;
constinit size_t g_redzone = 0;
constinit bool g_heap_seen = false, g_heap_headers = false;

void memory_guard_begin(Runtime& runtime) {
  alignas(MemoryGuard) static char memory[sizeof(MemoryGuard)];
  g_memory_guard = new (memory) MemoryGuard(runtime);
  g_redzone = kRedzone;
  if (!g_heap_seen) control_record()->memory_limits |= trail::kHeapNotSeen;
}

void memory_guard_begin(Runtime& runtime, void (*listener)(const MemoryError&)) {
  // One for all checks: threads that are not controlled may be about to ask it.
  static MemoryGuard* guard = nullptr;
  if (!guard) guard = new (runtime.arena.allocate(sizeof(MemoryGuard))) MemoryGuard(runtime);
  g_memory_listener = listener;
  g_memory_guard = guard;
  g_redzone = kRedzone;
}

void memory_guard_end() {
  if (!g_memory_listener) return;
  g_redzone = 0;
  g_memory_guard->forget_all();
  g_memory_guard = nullptr;
  g_memory_listener = nullptr;
}

bool is_guarded(Thread** t) {
  if (!controlled()) return false;
  *t = current_thread();
  return *t ? !(*t)->in_runtime : g_memory_listener != nullptr;
}

/// Where there is no Thread nobody asks for call stacks.
static StackId context_of(Runtime& runtime, Thread* t) {
  return t ? runtime.context(*t) : StackId{0};
}
static StackId context_of(Runtime& runtime, Thread* t, uptr pc) {
  return t ? runtime.context(*t, pc) : runtime.stacks.push(StackId{0}, pc);
}

size_t guarded_size(void* p) {
  return g_memory_guard ? g_memory_guard->size_of(p) : 0;
}

// ---- the heap

void MemoryGuard::allocated(const HeapBlock& block, u64 usable, HeapCall by) {
  SpinGuard guard(lock_);
  const bool fills = by != HeapCall::kCalloc && block.size <= kMostFilled;
  if (fills) memset(reinterpret_cast<void*>(block.start), kFill, block.size);
  shadow_.allocated({block.start, block.size, usable, g_heap_headers}, by, /*written=*/!fills);
}

u64 MemoryGuard::size_of(void* p) {
  SpinGuard guard(lock_);
  const uptr start = address_of(p);
  return shadow_.begins(start) && !shadow_.is_freed(start) ? shadow_.size_of(start) : 0;
}

void MemoryGuard::check_free(void* p, HeapCall by, uptr pc) {
  const uptr address = address_of(p);
  trail::Outcome outcome;
  if (!shadow_.is_known(address)) {
    // Allocated before anybody looked, or where nobody did: the allocator has to know.
    if (!is_variable_of_executable(p) && !is_on_stack(runtime_, address)) return;
    outcome = trail::Outcome::kInvalidFree;
  } else if (!shadow_.begins(address)) {
    outcome = trail::Outcome::kInvalidFree;
  } else if (shadow_.is_freed(address)) {
    outcome = trail::Outcome::kDoubleFree;
  } else if (!belong_together(shadow_.call_of(address), by)) {
    outcome = trail::Outcome::kMismatchedFree;
  } else {
    return;
  }
  Thread* t;
  if (!is_guarded(&t)) return;
  MemoryError error = {};
  error.outcome = outcome;
  error.kind = AccessKind::kFree;
  error.place = {kFreeSite, context_of(runtime_, t, pc)};
  error.address = address;
  fail(error);
}

bool MemoryGuard::freed(const HeapBlock& block, StackId stack, Tid thread) {
  SpinGuard guard(lock_);
  return shadow_.begins(block.start) && keep(block, stack, thread);
}

bool MemoryGuard::freed_unseen(void* p, StackId stack, Tid thread) {
  SpinGuard guard(lock_);
  const uptr start = address_of(p);
  if (shadow_.begins(start)) return keep({start, shadow_.size_of(start), StackId{0}, Tid{0}}, stack, thread);
  if (!g_heap_headers || start % 16 != 0 || shadow_.is_known(start)) return false;
  // As the C library describes a chunk of its heap in use, before the block and behind it. What does not look
  // like one is left to it.
  constexpr u64 kFlags = 7, kBehindIsInUse = 1, kMapped = 2, kOtherArena = 4, kHeader = 8;
  const u64 word = static_cast<const u64*>(p)[-1], size = word & ~kFlags;
  if ((word & (kMapped | kOtherArena)) || size < 32 || size % 16 != 0 || size > kMostKept / 4) return false;
  const u64 behind = *reinterpret_cast<const u64*>(start + size - kHeader);
  if (!(behind & kBehindIsInUse)) return false;
  shadow_.allocated({start, size - kHeader, size - kHeader, true}, HeapCall::kUnknown, /*written=*/true);
  return keep({start, size - kHeader, StackId{0}, Tid{0}}, stack, thread);
}

bool MemoryGuard::keep(const HeapBlock& block, StackId stack, Tid thread) {
  if (block.size > (g_memory_listener ? kMostNotMapped : kMostKept / 4)) {
    scheduler().record().memory_limits |= trail::kMemoryReused;
    return false;
  }
  shadow_.freed(block.start);
  auto* kept = runtime_.arena.make<Kept>(Kept{nullptr, block, stack, thread});
  (newest_ ? newest_->next : oldest_) = kept;
  newest_ = kept;
  constexpr u64 kOverhead = 64;  // of small blocks, which would otherwise count too little
  for (kept_ += block.size + kOverhead; kept_ > kMostKept;) {
    kept_ -= oldest_->block.size + kOverhead;
    give_back_oldest();
    scheduler().record().memory_limits |= trail::kMemoryReused;
  }
  return !g_memory_listener;
}

void MemoryGuard::give_back_oldest() {
  Kept* kept = oldest_;
  oldest_ = kept->next;
  if (!oldest_) newest_ = nullptr;
  const uptr start = kept->block.start;
  // In a check the allocator has it already, and another block may be there.
  if (shadow_.begins(start) && shadow_.is_freed(start)) shadow_.forget(start);
  if (!g_memory_listener) __libc_free(reinterpret_cast<void*>(start));
  runtime_.arena.free(kept, sizeof(Kept));
}

void MemoryGuard::execution_ends() {
  SpinGuard guard(lock_);
  while (oldest_) give_back_oldest();
  kept_ = 0;
}

void MemoryGuard::overwritten(uptr start, u64 size) {
  SpinGuard guard(lock_);
  shadow_.forget_range(start, size);
}

void MemoryGuard::forget_all() {
  execution_ends();
  SpinGuard guard(lock_);
  shadow_.clear();
}

void MemoryGuard::forget(void* p) {
  SpinGuard guard(lock_);
  const uptr start = address_of(p);
  if (shadow_.begins(start) && !shadow_.is_freed(start)) shadow_.forget(start);
}

// ---- accesses

bool MemoryGuard::holds_fill(uptr address, u64 size) const {
  for (u64 i = 0; i < size; ++i) {
    if (reinterpret_cast<const u8*>(address)[i] != kFill) return false;
  }
  return true;
}

/// Short values hold the fill by chance: then their neighbours must hold it, too.
bool MemoryGuard::decides_by_nothing(uptr address, u64 size, const DuressSite* site) const {
  constexpr u64 kSure = 4;
  if (!(site->flags & DURESS_SITE_DECIDES) || size > 16) return false;
  if (!shadow_.never_written(address, size) || !holds_fill(address, size)) return false;
  if (size >= kSure) return true;
  u64 untouched = 0;
  for (uptr at = address & ~uptr{7}; at < (address & ~uptr{7}) + 8; ++at)
    untouched += shadow_.never_written(at, 1) && holds_fill(at, 1);
  return untouched >= kSure;
}

void MemoryGuard::access(Thread* t, const void* p, u64 size, AccessKind kind, const DuressSite* site) {
  const uptr address = address_of(p);
  const uptr frame = take_hook_frame();
  MemoryError error = {};
  switch (shadow_.look(address, size)) {
    case HeapShadow::Found::kFreed:
      error.outcome = trail::Outcome::kUseAfterFree;
      break;
    case HeapShadow::Found::kOutside:
      error.outcome = trail::Outcome::kOutOfBounds;
      break;
    case HeapShadow::Found::kFine:
      if (is_write(kind)) {
        shadow_.wrote(address, size);
      } else if (kind == AccessKind::kRead && decides_by_nothing(address, size, site)) {
        error.outcome = trail::Outcome::kNeverWritten;
        break;
      }
      if (shadow_.is_known(address)) return;
      error.stack = is_gone(runtime_, t, address, frame, &error.owner);
      if (!error.stack) return;
      error.outcome = trail::Outcome::kFrameGone;
      break;
  }
  error.kind = kind;
  error.place = {runtime_.modules.site_id(site), context_of(runtime_, t)};
  error.address = address;
  error.size = size;
  fail(error);
}

void MemoryGuard::library_access(Thread* t, const void* p, u64 size, bool write, uptr pc) {
  const uptr address = address_of(p);
  const HeapShadow::Found found = shadow_.look(address, size);
  if (found == HeapShadow::Found::kFine) {
    if (write) shadow_.wrote(address, size);
    return;
  }
  MemoryError error = {};
  error.outcome =
      found == HeapShadow::Found::kFreed ? trail::Outcome::kUseAfterFree : trail::Outcome::kOutOfBounds;
  error.kind = write ? AccessKind::kWrite : AccessKind::kRead;
  error.place = {write ? kLibraryWriteSite : kLibraryReadSite, context_of(runtime_, t, pc)};
  error.address = address;
  error.size = size;
  fail(error);
}

/// Adds what is known of the block.
void MemoryGuard::fail(MemoryError error) {
  const uptr start = shadow_.begin_of(error.address);
  if (start && shadow_.is_freed(start)) {
    for (const Kept* kept = oldest_; kept; kept = kept->next) {
      if (kept->block.start != start) continue;
      error.block = kept->block;
      error.freed = true;
      error.freed_at = kept->freed_at;
      error.freed_by = kept->freed_by;
    }
  } else if (start) {
    error.block = runtime_.heap.find_containing(start);
  }
  memory_error(error);
}

void guard_plain(const void* p, u64 size, bool write, const DuressSite* site) {
  Thread* t;
  if (is_guarded(&t))
    g_memory_guard->access(t, p, size, write ? AccessKind::kWrite : AccessKind::kRead, site);
}

void guard_atomic(const void* p, u64 size, AccessKind kind, const DuressSite* site) {
  Thread* t;
  if (is_guarded(&t)) g_memory_guard->access(t, p, size, kind, site);
}

}  // namespace duress
