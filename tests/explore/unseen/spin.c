// SPDX-License-Identifier: Apache-2.0
//
// Locks of a library that is built by another compiler: nobody sees them.
void spin_lock(volatile int* lock);
void spin_unlock(volatile int* lock);
void exchange_lock(volatile int* lock);
void unused_lock(volatile int* lock);

void spin_lock(volatile int* lock) {
  while (__sync_lock_test_and_set(lock, 1)) {
  }
}

void spin_unlock(volatile int* lock) {
  __sync_lock_release(lock);
}

// Nobody calls it: it orders nothing.
void unused_lock(volatile int* lock) {
  while (__sync_lock_test_and_set(lock, 1)) {
  }
}

void exchange_lock(volatile int* lock) {
  int held = 1;
  while (held) __asm__ volatile("xchgl %0, %1" : "+r"(held), "+m"(*lock) : : "memory");
}
