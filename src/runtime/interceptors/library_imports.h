// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/sync.h"

namespace duress {

/// A function of the C library, as the C++ library is to call it.
struct LibraryImport {
  const char* name;
  void* ours;
};

/// Makes libstdc++.so's calls of these functions calls of ours. When the runtime wakes; once.
void redirect_imports(const LibraryImport* imports, size_t count);

/// Whether the address is in the executable or in an instrumented library.
bool is_instrumented_code(uptr pc);
/// The same without asking the loader for modules that nobody has asked about: for functions that it calls.
bool is_known_instrumented_code(uptr pc);
/// Whom the C++ library works for: the place in instrumented code that called it; 0 if that is not
/// instrumented or not known. `pc` is where a function of ours returns to, `frame` its stack pointer then.
uptr instrumented_caller(uptr pc, uptr frame);

/// An interceptor's function reads or writes its caller's memory. Only if that is instrumented code: what
/// others share they may guard by locks that are not seen.
inline void caller_accessed(const void* p, size_t size, bool write, uptr pc) {
  if (p && size && awake() && is_instrumented_code(pc)) memory_accessed(p, size, write, pc);
}

}  // namespace duress
