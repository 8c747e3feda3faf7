// SPDX-License-Identifier: Apache-2.0
//
// A library that sizes.cc loads again and again.
#include <mutex>

static std::mutex lock;
static long steps;

extern "C" long library_step(long value) {
  std::lock_guard guard(lock);
  return value + ++steps;
}
