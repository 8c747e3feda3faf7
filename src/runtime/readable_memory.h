// SPDX-License-Identifier: Apache-2.0
//
// Memory that the program passes to the kernel may be none of its own: the kernel answers EFAULT, and an
// interceptor that looked at it first would crash. So the kernel is asked first, by a call that only reads.
#pragma once

#include <errno.h>
#include <sys/syscall.h>

#include "base/raw.h"

namespace duress {

/// Whether the kernel can read all of [p, p + size). About 60 ns.
inline bool is_readable(const void* p, size_t size) {
  constexpr uptr kWord = 8;     // of a set of signals
  constexpr long kNoMask = -1;  // no way to change the mask: it is read and then refused
  auto begin = reinterpret_cast<uptr>(p);
  if (!size || begin + size < begin) return size == 0;
  for (uptr at = begin & ~(kWord - 1); at < begin + size; at = (at & ~(kPageSize - 1)) + kPageSize) {
    if (raw_syscall(SYS_rt_sigprocmask, kNoMask, static_cast<long>(at), 0, kWord) == -EFAULT) return false;
  }
  return true;
}

/// The same of an argument that may be left out.
template <typename T>
bool is_readable_or_null(const T* p) {
  return !p || is_readable(p, sizeof *p);
}

}  // namespace duress
