// SPDX-License-Identifier: Apache-2.0
//
// A name for a site that survives a rebuild and lines that move: a hash of its function, its variable, the
// kind of access, and its ordinal among the sites of the same function with the same variable and kind. And
// one for taking a lock while another is held, for which strategies are asked in the same way.
#pragma once

#include "base/types.h"

namespace duress::trail {

constexpr u32 hash_text(const char* text, u32 hash = 2166136261u) {
  for (; *text; ++text) hash = (hash ^ static_cast<u8>(*text)) * 16777619u;
  return hash;
}

constexpr u32 site_key(const char* function, const char* variable, u32 access, u32 ordinal) {
  u32 hash = hash_text(variable, hash_text(function) * 16777619u);
  hash = (hash ^ access) * 16777619u;
  hash = (hash ^ ordinal) * 16777619u;
  return hash ? hash : 1;
}

/// Code with ThreadSanitizer's hooks has no site table: a site is the return address of a hook's call. In
/// logs its index has this bit, and the rest is how far the address is from the module's load bias.
inline constexpr u32 kCodeSite = u32{1} << 31;

constexpr bool is_code_site(u32 index) {
  return (index & kCodeSite) != 0;
}
constexpr u32 code_site_offset(u32 index) {
  return index & ~kCodeSite;
}

/// The key of such a site. Holds for one build.
constexpr u32 code_site_key(u32 offset) {
  u32 hash = hash_text("code");
  for (int shift = 0; shift < 32; shift += 8) hash = (hash ^ static_cast<u8>(offset >> shift)) * 16777619u;
  return hash ? hash : 1;
}

/// Among the keys of a request: every free() is a schedule point. A free has no site of its own.
inline constexpr u32 kFreeKey = hash_text("free()");

/// A name for "takes `wanted` while it holds `held`", half of a potential deadlock. By address: executions of
/// one campaign have the same addresses where they allocate in the same order.
constexpr u32 lock_key(uptr held, uptr wanted) {
  u32 hash = hash_text("lock");
  for (int which = 0; which < 2; ++which) {
    uptr address = which == 0 ? held : wanted;
    for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ static_cast<u8>(address >> shift)) * 16777619u;
  }
  return hash ? hash : 1;
}

}  // namespace duress::trail
