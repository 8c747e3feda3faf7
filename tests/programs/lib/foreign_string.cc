// SPDX-License-Identifier: Apache-2.0
//
// A string behind a lock that nobody outside can see: an inline spin lock of a library without instrumentation.
#include <atomic>
#include <string>

static std::string text = "a text that is longer than what fits into the object itself";
static std::atomic<bool> taken{false};

extern "C" size_t foreign_append(const char* more) {
  while (taken.exchange(true, std::memory_order_acquire)) {
  }
  text.append(more);
  if (text.size() > 200) text.assign("short");
  size_t size = text.size();
  taken.store(false, std::memory_order_release);
  return size;
}
