// SPDX-License-Identifier: Apache-2.0
//
// Mutexes and barriers that are used after they were destroyed, destroyed while they are in use, or
// initialised twice. A second initialisation is an error while somebody holds the object or waits at it, and
// otherwise only of a global variable of the executable: in other memory a new object may begin where an old
// one was left.
#pragma once

#include <pthread.h>

#include "base/types.h"

namespace duress {

/// Whether it is in the memory that the executable's file brings.
bool is_variable_of_executable(const void* object);

// Each does nothing unless memory errors are looked for, and does not return if it finds one. `pc` is where
// the program's call returns to.
void check_mutex_use(const pthread_mutex_t* mutex, uptr pc);
/// Before the mutex is initialised or destroyed.
void check_mutex_init(const pthread_mutex_t* mutex, uptr pc);
void check_mutex_destroy(const pthread_mutex_t* mutex, uptr pc);

/// The barrier is known to exist, or was never made, or is gone; somebody waits at it.
struct BarrierState {
  bool exists, waited_for;
};
void check_barrier_use(const pthread_barrier_t* barrier, BarrierState state, uptr pc);
void check_barrier_init(const pthread_barrier_t* barrier, BarrierState state, uptr pc);
void check_barrier_destroy(const pthread_barrier_t* barrier, BarrierState state, uptr pc);

}  // namespace duress
