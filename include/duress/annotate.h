// SPDX-License-Identifier: Apache-2.0
//
// What a program can tell Duress about itself. All of it does nothing in a program that was not built with
// duress-cc or duress-c++, or that runs by itself; the header needs no library. C and C++.
//
//   DURESS_HAPPENS_BEFORE(p) ... DURESS_HAPPENS_AFTER(p)
//       an order that Duress cannot see (shared memory with another language, a device): what one thread did
//       before the first happens before what another does after the second, for the same address p.
//   DURESS_INTENDED_RACE_BEGIN() ... DURESS_INTENDED_RACE_END()
//       this thread's accesses between the two are not looked at: a race that is meant, and known to be
//       harmless.
//   DURESS_ASSERT_EXCLUSIVE_WRITER(v), DURESS_ASSERT_EXCLUSIVE_ACCESS(v)
//       no other thread writes (accesses) v at this time, not even atomically; reported as a race if one
//       does.
//   DURESS_ATOMIC_BEGIN(name) ... DURESS_ATOMIC_END(name)
//       what this thread does between the two is meant to be atomic: as if nothing of another thread came
//       between. Looked at by Atomizer, Velodrome and SideTrack (duress run -t). `name` is a string literal.
//   duress_assume(condition), duress::assume(condition)
//       executions in which it does not hold are of no interest: a controlled execution ends there, is no
//       failure and does not count in `duress verify`. Threads that can go on without this one do so first.
//   duress_nondet(n), duress::nondet(n)
//       any number from 0 to n - 1: `duress verify` explores all of them, `duress explore` draws one. 0 in a
//       program that is not under control.
#ifndef DURESS_ANNOTATE_H_
#define DURESS_ANNOTATE_H_

#ifdef __cplusplus
#include <cstddef>
extern "C" {
#else
#include <stddef.h>
#endif

void __duress_annotate_release(const volatile void* p) __attribute__((weak));
void __duress_annotate_acquire(const volatile void* p) __attribute__((weak));
void __duress_annotate_ignore(int begin) __attribute__((weak));
void __duress_annotate_access(const volatile void* p, size_t size, int write) __attribute__((weak));
void __duress_annotate_block(const char* name, int begin) __attribute__((weak));
void __duress_annotate_assume(int holds) __attribute__((weak));
unsigned __duress_annotate_nondet(unsigned count) __attribute__((weak));

static inline void duress_assume(int condition) {
  if (__duress_annotate_assume) __duress_annotate_assume(condition);
}
static inline unsigned duress_nondet(unsigned count) {
  return __duress_annotate_nondet ? __duress_annotate_nondet(count) : 0;
}

#ifdef __cplusplus
}

namespace duress {
inline void assume(bool condition) {
  duress_assume(condition);
}
inline unsigned nondet(unsigned count) {
  return duress_nondet(count);
}
}  // namespace duress
#endif

#define DURESS_HAPPENS_BEFORE(p) (__duress_annotate_release ? __duress_annotate_release(p) : (void)0)
#define DURESS_HAPPENS_AFTER(p) (__duress_annotate_acquire ? __duress_annotate_acquire(p) : (void)0)
#define DURESS_INTENDED_RACE_BEGIN() (__duress_annotate_ignore ? __duress_annotate_ignore(1) : (void)0)
#define DURESS_INTENDED_RACE_END() (__duress_annotate_ignore ? __duress_annotate_ignore(0) : (void)0)
#define DURESS_ASSERT_EXCLUSIVE_WRITER(v) \
  (__duress_annotate_access ? __duress_annotate_access(&(v), sizeof(v), 0) : (void)0)
#define DURESS_ASSERT_EXCLUSIVE_ACCESS(v) \
  (__duress_annotate_access ? __duress_annotate_access(&(v), sizeof(v), 1) : (void)0)

#define DURESS_ATOMIC_BEGIN(name) (__duress_annotate_block ? __duress_annotate_block(name, 1) : (void)0)
#define DURESS_ATOMIC_END(name) (__duress_annotate_block ? __duress_annotate_block(name, 0) : (void)0)

#endif  // DURESS_ANNOTATE_H_
