// SPDX-License-Identifier: Apache-2.0
//
// Libraries that order threads by means of their own (futexes and atomics inside them) and are not
// instrumented: accesses that only they order look unordered.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "finding/text.h"

namespace duress::finding {

/// What it means for a report that the process loaded the library at `path`, one line; "": nothing.
inline std::string unseen_runtime(std::string_view path) {
  // OpenMP of LLVM, Intel and GCC, oneTBB, Grand Central Dispatch, Cilk, HPX, Argobots, Qthreads, StarPU.
  static constexpr std::string_view kRuntimes[] = {
      "libomp.so", "libomp5.so",     "libomp-",  "libiomp5.so", "libgomp.so",
      "libtbb.so", "libdispatch.so", "libcilk",  "libopencilk", "libhpx_core.so",
      "libabt.so", "libqthread.so",  "libstarpu"};
  std::string name = base_name(path);
  bool known = std::any_of(std::begin(kRuntimes), std::end(kRuntimes),
                           [&](std::string_view runtime) { return name.starts_with(runtime); });
  if (!known) return "";
  return name +
         " is not instrumented: accesses that only its locks, barriers or joins order are reported as races";
}

/// Whether the library comes from the environment: a tool of the user's, not a part of the program.
inline bool is_preloaded(std::string_view path) {
  const char* given = std::getenv("LD_PRELOAD");
  std::string_view rest = given != nullptr ? given : "";
  while (!rest.empty()) {
    std::size_t end = std::min(rest.find_first_of(": "), rest.size());
    if (end != 0 && base_name(rest.substr(0, end)) == base_name(path)) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

/// The same of a library of the program's own that is not instrumented; "": it belongs to the system or was
/// preloaded by the user.
inline std::string unseen_library(std::string_view path) {
  static constexpr std::string_view kSystem[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/",
                                                 "linux-vdso"};
  bool system = std::any_of(std::begin(kSystem), std::end(kSystem),
                            [&](std::string_view folder) { return path.starts_with(folder); });
  std::string name = base_name(path);
  if (system || name.find(".so") == std::string::npos || name == "libduress_preload.so" || is_preloaded(path))
    return "";
  return name + " is not instrumented: what it accesses is not seen, nor are locks of its own";
}

}  // namespace duress::finding
