// SPDX-License-Identifier: Apache-2.0
//
// A small library for the programs that link or load one: a counter in each of three ways.
#include <mutex>

int library_counter = 0;
static std::mutex mutex;
static int locked_counter = 0;
static thread_local int local_counter = 0;

extern "C" int library_add(int amount) {
  library_counter += amount;
  return library_counter;
}

extern "C" int library_locked_add(int amount) {
  std::lock_guard lock(mutex);
  locked_counter += amount;
  return locked_counter;
}

extern "C" int library_local_add(int amount) {
  local_counter += amount;
  return local_counter;
}
