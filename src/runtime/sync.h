// SPDX-License-Identifier: Apache-2.0
//
// What interceptors call: synchronisation events of the calling thread. Each function updates clocks,
// the set of held locks, and informs the analysis chain. They do nothing when the runtime is asleep,
// when the thread is unknown, or inside a signal handler that interrupted the runtime; so an
// interceptor is always: real call, and one of these before (releases) or after (acquires) it.
//
// All keep errno. `pc` is the return address of the intercepted call, for reports.
#pragma once

#include "base/types.h"
#include "event/access.h"
#include "runtime/heap_call.h"

struct DuressSite;

namespace duress {

struct Runtime;
/// Null while asleep.
extern Runtime* g_runtime;

/// True once the runtime is awake. When false, an interceptor goes straight to the real function.
inline bool awake() {
  return g_runtime != nullptr;
}

// Locks. `shared`: for reading. After a successful lock; before the unlock.
void sync_locked(const void* lock, bool shared, uptr pc);
void sync_unlocking(const void* lock, bool shared, uptr pc);
/// Unlocks and locks for a wait on a condition: the mutex is given up, and taken again afterwards.
/// At the end `condition` is null if no signal ended the wait (timeout, cancellation, error); the lock is
/// held again in any case. A signal or broadcast is a sync_release_join of the condition before it.
void sync_wait_begin(const void* condition, const void* lock, uptr pc);
void sync_wait_end(const void* condition, const void* lock, uptr pc);

// One-way edges through an object: what happens before a release happens before a later acquire.
/// Replaces what was released before (a store).
void sync_release(const void* object, uptr pc);
/// Adds to it (a semaphore's post, a pipe's write, a barrier's arrival).
void sync_release_join(const void* object, uptr pc);
void sync_acquire(const void* object, uptr pc);
/// A library function that is not instrumented stores to an atomic with release, or loads it with acquire,
/// where instrumented code also accesses it through the atomic hooks (the guard byte of a function's static).
/// Call the first before the real store, the second after the real load.
void sync_atomic_store(const void* address, u8 size, uptr pc);
void sync_atomic_load(const void* address, u8 size, uptr pc);
/// A strand waits on a futex, or wakes others (null). It orders nothing; but the kernel sees the newest
/// value.
void sync_futex(const void* waits_on);
/// The object ends (destroy) or begins anew (init): what it carried is forgotten.
void sync_forget(const void* object);

/// What follows, or ends here, is meant to be atomic.
void sync_block(const void* name, bool begin, uptr pc);

/// The end of a strand, by its path (trail/strand_path.h), for what-if joins.
void sync_release_end(u64 path);
void sync_acquire_end(u64 path);

// File descriptors as objects: write → read. `number` is the descriptor. One that was never made part of a
// channel is a file, a channel by itself, whatever its numbers, or carries nothing (a terminal).
void sync_release_fd(int number, uptr pc);
/// The same for what stdio may keep back: of a file it matters only when it is flushed.
void sync_release_stream(int number, uptr pc);
void sync_acquire_fd(int number, uptr pc);
void sync_forget_fd(int number);
/// A channel from one descriptor to another (a pipe; each way of a socketpair; from itself to itself for
/// eventfd and epoll). A descriptor may be the read end of one channel and the write end of another.
void sync_pair_fds(int read_end, int write_end);
/// A socket whose other end may be a descriptor of this process that cannot be told: all of these are one
/// channel.
void sync_network_fd(int number);
/// `copy` is a new number for what `number` names (dup).
void sync_duplicate_fd(int number, int copy);

// Threads. See interceptors/thread.cc for the protocol.
struct Thread;
/// In the creator, before the real create: makes the new thread known. Null when asleep.
Thread* thread_created(const uptr* caller);  // where the return address of the call lies
/// Who it is in systematic executions (trail/strand_path.h).
void thread_path(Thread* t, u64 path);
/// The calling thread; null if it is not known.
Thread* running_thread();
/// In the new thread, first of all. The stack is [stack_begin, stack_end).
void thread_started(Thread* t);
/// In the thread, last of all (after TLS destructors).
void thread_ended();
/// The thread was detached: nobody will join it.
void thread_unreferenced(Thread* t);
/// The creation failed: the thread will never run, and nobody will join it. Instead of thread_unreferenced.
void thread_not_created(Thread* t);
/// In the joiner, before the real join, and with null after it.
void thread_joining(Thread* t);
/// In the joiner, after the real join.
void thread_joined(Thread* t, uptr pc);
/// Null: the calling thread.
void thread_named(Thread* t, const char* name);

/// Around a call that makes, joins or detaches a thread. The C library frees there what threads that have
/// ended had for themselves (dynamic TLS with the stacks that it reuses), also those that nobody has joined:
/// no race with their accesses.
class ThreadUpkeep {
 public:
  ThreadUpkeep() { set(true); }
  ~ThreadUpkeep() { set(false); }
  ThreadUpkeep(const ThreadUpkeep&) = delete;
  ThreadUpkeep& operator=(const ThreadUpkeep&) = delete;

 private:
  static void set(bool in_upkeep);
};

// Memory. After an allocation; before a free.
/// `usable` bytes belong to the block, of which the program asked for `size`.
void memory_allocated(void* p, size_t size, size_t usable, HeapCall by, uptr pc);
/// True: the block must not be given back to the allocator; the runtime keeps it (memory_guard.h).
bool memory_freeing(void* p, HeapCall by, uptr pc);
/// Memory for a call of the C library that the runtime makes for itself, in controlled mode: what it
/// allocates there must not change the addresses that the program gets. Blocks live as long as this does.
class PrivateHeap {
 public:
  PrivateHeap();
  ~PrivateHeap();
  PrivateHeap(const PrivateHeap&) = delete;
  PrivateHeap& operator=(const PrivateHeap&) = delete;
  /// Null: there is no more.
  void* allocate(size_t size);
  bool has(const void* p) const { return p >= bytes_ && p < bytes_ + sizeof bytes_; }

 private:
  size_t used_ = 0;
  alignas(16) char bytes_[4096] = {};  // zeros, as calloc() promises
};
/// Of the calling thread; null: none.
extern constinit thread_local PrivateHeap* t_private_heap __attribute__((tls_model("initial-exec")));

/// How many bytes more than the program asks for a block must have. Nothing is allowed there.
extern constinit size_t g_redzone;
inline constexpr size_t kRedzone = 32;
/// Blocks are announced here; and the eight bytes in front of each are the allocator's alone.
extern constinit bool g_heap_seen, g_heap_headers;
/// What the program asked for, if it may be copied from there by realloc(); 0: not known.
size_t guarded_size(void* p);
/// Pages appear or vanish (mmap, munmap, a new stack).
void memory_mapped(void* p, size_t size);
/// A library function reads or writes the program's memory on its behalf (read(2), memcpy in a library, ...).
void memory_accessed(const void* p, size_t size, bool write, uptr pc);
/// A lock, a condition, ... is used (read), made or destroyed (written): interceptors/object.h.
void object_accessed(const void* object, bool write, uptr pc);
/// Another one begins in the same 8 bytes: earlier uses and ends are forgotten.
void object_begins(const void* object);
/// A library function that instrumented code calls: the call has a site
/// (include/duress/library_calls.def).
void library_accessed(const void* p, size_t size, bool write, const DuressSite* site);

/// Something was done that the runtime does not understand: named once, the run is marked incomplete.
void incomplete(const char* what);

/// For fork: called before, and after in parent and child.
void before_fork();
void after_fork(bool child);
/// Before exec: the log says so.
void before_exec(const char* path);
/// Before the process ends with `code` (exit, _exit): analyses finish, the log gets its last line.
void process_ending(int code);

/// Defined by the interceptors, called by the runtime when it wakes: looks up all real functions and makes
/// what threads need, so that nothing is looked up later in a signal handler or a forked child.
void interceptors_ready();

/// Where an interceptor was called from.
#define DURESS_CALLER_PC (reinterpret_cast<::duress::uptr>(__builtin_return_address(0)))
/// The stack pointer of the caller after the return.
#define DURESS_CALLER_FRAME \
  (reinterpret_cast<::duress::uptr>(__builtin_frame_address(0)) + 2 * sizeof(::duress::uptr))
/// Where it lies.
#define DURESS_CALLER_SLOT (static_cast<const ::duress::uptr*>(__builtin_frame_address(0)) + 1)

}  // namespace duress
