// SPDX-License-Identifier: Apache-2.0
//
// The sites of a module, as the pass laid them out: a part for each translation unit.
#pragma once

#include <string.h>

#include "base/types.h"
#include "duress/hooks.h"

namespace duress {

/// The bytes in `duress_quiet` of a translation unit's sites.
inline u8* quiet_bytes(const DuressSiteHeader& header) {
  return const_cast<u8*>(reinterpret_cast<const u8*>(&header.rel_quiet)) + header.rel_quiet;
}

/// Calls body(header, sites, strings, flags) for each translation unit's part of a module's sites.
template <typename Body>
void each_unit(const DuressModule& module, Body body) {
  const auto* at = reinterpret_cast<const char*>(module.sites_begin);
  const auto* end = reinterpret_cast<const char*>(module.sites_end);
  while (at + sizeof(DuressSiteHeader) <= end) {
    const auto* header = reinterpret_cast<const DuressSiteHeader*>(at);
    if (memcmp(header->magic, "DURS", 4) != 0) {  // padding between two units
      at += sizeof(DuressSite);
      continue;
    }
    const auto* sites = reinterpret_cast<const DuressSite*>(header + 1);
    const char* strings = reinterpret_cast<const char*>(&header->rel_strings) + header->rel_strings;
    u8* flags = const_cast<u8*>(reinterpret_cast<const u8*>(&header->rel_flags)) + header->rel_flags;
    body(*header, sites, strings, flags);
    at = reinterpret_cast<const char*>(sites + header->sites);
  }
}

/// Whether parts of a module have no faithful bodies.
inline bool is_only_checked(const DuressModule& module) {
  bool found = false;
  each_unit(module, [&](const DuressSiteHeader& header, const DuressSite*, const char*, u8*) {
    found |= (header.features & DURESS_UNIT_ONLY_CHECKED) != 0;
  });
  return found;
}

inline bool is_atomic_site(const DuressSite& site) {
  return site.access >= kDuressAtomicRead && site.access <= kDuressFence;
}

}  // namespace duress
