// SPDX-License-Identifier: Apache-2.0
//
// Mutexes, read-write locks, conditions, semaphores and barriers that are used after they were destroyed,
// destroyed while they are in use, or initialised twice. A second initialisation is an error while somebody
// holds the object or waits at it, and otherwise only of a global variable of the executable: in other memory
// a new object may begin where an old one was left.
//
// The same is true of an object that is made by an assignment (PTHREAD_RWLOCK_INITIALIZER) where an old one
// was destroyed: nobody is told. So an object counts as destroyed only while its own memory says so, too.
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include "base/types.h"

namespace duress {

/// Whether it is in the memory that the executable's file brings.
bool is_variable_of_executable(const void* object);

struct ObjectState {
  bool exists;  // else it was destroyed, or never made
  bool in_use;  // somebody holds it, or waits at it
};

// Each does nothing unless memory errors are looked for, and does not return if it finds one. `pc` is where
// the program's call returns to.
void check_object_use(const void* object, ObjectState state, uptr pc);
/// Before the object is initialised or destroyed.
void check_object_init(const void* object, ObjectState state, uptr pc);
void check_object_destroy(const void* object, ObjectState state, uptr pc);

// REQUIRES: the caller is controlled.
ObjectState state_of(const pthread_mutex_t* mutex);
ObjectState state_of(const pthread_rwlock_t* lock);
ObjectState state_of(const pthread_cond_t* condition);
ObjectState state_of(const sem_t* semaphore);
/// Whether somebody holds it for reading, which only the lock itself knows. REQUIRES: it was initialised.
bool is_read(const pthread_rwlock_t* lock);
/// The C library leaves a destroyed read-write lock as it was.
void mark_destroyed(pthread_rwlock_t* lock);

/// Whether errors of the calling thread are looked for.
bool watches_objects();
/// duress::check: what was done to objects in earlier executions is forgotten.
void object_execution_begins();

/// The same of an object with a state_of.
template <typename Object>
void check_use(const Object* object, uptr pc) {
  if (DURESS_UNLIKELY(watches_objects())) check_object_use(object, state_of(object), pc);
}
template <typename Object>
void check_init(const Object* object, uptr pc) {
  if (DURESS_UNLIKELY(watches_objects())) check_object_init(object, state_of(object), pc);
}
template <typename Object>
void check_destroy(const Object* object, uptr pc) {
  if (DURESS_UNLIKELY(watches_objects())) check_object_destroy(object, state_of(object), pc);
}

}  // namespace duress
