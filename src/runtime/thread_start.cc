// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_start.h"

#include <dlfcn.h>
#include <string.h>

#include "base/prng.h"
#include "runtime/control.h"
#include "runtime/memory_guard.h"

namespace duress {
namespace {

bool is_of_cxx_library(const void* function) {
  Uncontrolled here;
  Dl_info info = {};
  return dladdr(function, &info) && info.dli_fname && strstr(info.dli_fname, "/libstdc++.so") != nullptr;
}

u64 hash_of(const void* bytes, u64 size) {
  u64 hash = size;
  for (u64 i = 0; i < size; ++i) hash = mix(hash ^ static_cast<const u8*>(bytes)[i]);
  return hash;
}

}  // namespace

u64 thread_start_key(const void* function, void* argument) {
  u64 about = address_of(argument);
  if (is_of_cxx_library(function)) {
    const u64 size = g_memory_guard ? g_memory_guard->size_of(argument) : 0;
    if (size == 0) return 0;
    about = hash_of(argument, size);
  }
  return mix(address_of(function) ^ mix(about)) | 1;
}

}  // namespace duress
