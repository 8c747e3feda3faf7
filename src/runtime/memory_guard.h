// SPDX-License-Identifier: Apache-2.0
//
// Memory errors of controlled executions (Request::memory): uses of freed memory, of memory outside of a heap
// block and of frames that are gone, frees that are wrong, decisions by memory that nobody has written.
//
// Only what is certain is an error. So what the runtime has not seen being allocated is never judged; an
// access counts if a faithful body makes it, or a library function on the program's behalf that has a row in
// library_calls.def or an interceptor. Memory counts as never written only while it also still holds the
// bytes that a new block is filled with: then nobody else, seen or not, has written it either. And a load of
// it is an error only where the program computes, compares or addresses with the value
// (DURESS_SITE_DECIDES): copies of padding and of members that have no value yet are legal in practice.
//
// Freed blocks are kept for a while instead of being given back: a use of one is seen for what it is, and
// does not meet another block in its place.
#pragma once

#include "base/spin_lock.h"
#include "event/access.h"
#include "runtime/heap_shadow.h"
#include "runtime/heap_table.h"
#include "trail/outcome.h"

struct DuressSite;

namespace duress {

struct Runtime;
struct Thread;

/// What was done wrong, for the log.
struct MemoryError {
  trail::Outcome outcome;
  AccessKind kind;
  Place place;
  uptr address;
  u64 size;
  HeapBlock block;  // start 0: none
  bool freed;       // the block was freed, or the object destroyed, there:
  StackId freed_at;
  Tid freed_by;
  bool stack;  // the address is in a stack, that of the thread `owner`
  Tid owner;
};

class MemoryGuard {
 public:
  explicit MemoryGuard(Runtime& runtime) : runtime_(runtime) {}

  // ---- the heap (sync.cc)
  /// A block is handed to the program; it is filled. REQUIRES: at least `size` + kRedzone bytes are usable.
  void allocated(const HeapBlock& block, u64 usable, HeapCall by);
  /// Ends the execution if `p` may not be freed so.
  void check_free(void* p, HeapCall by, uptr pc);
  /// The block ends. True: it is kept, and must not be given back to the allocator.
  bool freed(const HeapBlock& block, StackId stack, Tid thread);
  /// The same of a block that was allocated before anybody looked, as by a constructor of a global, or where
  /// nobody noted by whom (duress::check without clocks).
  bool freed_unseen(void* p, StackId stack, Tid thread);
  /// The block is given back without having been kept: a thread that is not controlled frees it.
  void forget(void* p);
  /// Of a block that begins at `p`; 0: not known.
  u64 size_of(void* p);

  // ---- accesses; each ends the execution if it is an error
  void access(Thread* t, const void* p, u64 size, AccessKind kind, const DuressSite* site);
  /// By a library function that returns to `pc`.
  void library_access(Thread* t, const void* p, u64 size, bool write, uptr pc);

  // ---- duress::check, where many executions share the heap
  /// Addresses must not depend on the guard there, or explorations would meet other objects at an address
  /// than they have planned for. So freed blocks are given back at once, and count as freed until somebody
  /// gets their memory. Frees of earlier executions are forgotten.
  void execution_ends();
  /// Somebody who is not controlled gets this memory.
  void overwritten(uptr start, u64 size);
  /// Nothing is known of any memory any more.
  void forget_all();

 private:
  static constexpr u64 kMostKept = u64{4} << 20;         // bytes; more would end executions' rollback
  static constexpr u64 kMostNotMapped = u64{100} << 10;  // larger ones go back to the kernel
  static constexpr u64 kMostFilled = u64{16} << 10;
  static constexpr u8 kFill = 0xfb;  // in no text, and as an address of nothing

  /// A freed block that is kept.
  struct Kept {
    Kept* next;  // freed later
    HeapBlock block;
    StackId freed_at;
    Tid freed_by;
  };

  bool keep(const HeapBlock& block, StackId stack, Tid thread);
  bool holds_fill(uptr address, u64 size) const;
  bool decides_by_nothing(uptr address, u64 size, const DuressSite* site) const;
  void give_back_oldest();
  [[noreturn]] void fail(MemoryError error);

  Runtime& runtime_;
  SpinLock lock_;  // of all below; threads that are not controlled free, too
  HeapShadow shadow_;
  Kept* oldest_ = nullptr;
  Kept* newest_ = nullptr;
  u64 kept_ = 0;  // bytes
};

/// Null: memory errors are not looked for.
extern constinit MemoryGuard* g_memory_guard;
void memory_guard_begin(Runtime& runtime);
/// The same for duress::check, until memory_guard_end(). `listener` is told of an error before it ends the
/// execution.
void memory_guard_begin(Runtime& runtime, void (*listener)(const MemoryError&));
void memory_guard_end();
/// duress::check; null: the error is logged.
extern constinit void (*g_memory_listener)(const MemoryError&);

/// Whether errors of the calling strand are looked for. `*t` is null in those executions of duress::check
/// that have no clocks, and so no Threads: their errors have no call stacks, and are executed again.
bool is_guarded(Thread** t);

/// A plain access where there may be no Thread.
void guard_plain(const void* p, u64 size, bool write, const DuressSite* site);
/// An atomic operation, after its schedule point.
void guard_atomic(const void* p, u64 size, AccessKind kind, const DuressSite* site);

/// Ends the execution: the error is logged, the outcome is recorded.
[[noreturn]] void memory_error(const MemoryError& error);

}  // namespace duress
