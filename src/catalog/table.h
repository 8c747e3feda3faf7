// SPDX-License-Identifier: Apache-2.0
//
// What all tables of the catalog share. A table is a list macro: one line per entry with an identifier, the
// name that users type and a description. DURESS_CATALOG makes the enum and the entries of it; name_of() and
// id_of() translate. Header-only without allocation: the code inside the target includes it too.
#pragma once

#include <optional>

#include "base/types.h"

namespace duress {

struct CatalogEntry {
  const char* name;
  const char* description;
};

/// kEntries: the entries of one table, in the order of the enum Id.
template <class Id>
struct Catalog;

#define DURESS_CATALOG_ID(identifier, name, description) k##identifier,
#define DURESS_CATALOG_ENTRY(identifier, name, description) {name, description},

/// Defines `enum class Id` with an enumerator kIDENTIFIER for each entry of TABLE, and Catalog<Id>. Further
/// arguments are enumerators that cannot be chosen by name.
#define DURESS_CATALOG(Id, TABLE, ...)                                        \
  enum class Id : u32 { TABLE(DURESS_CATALOG_ID) __VA_ARGS__ };               \
  template <>                                                                 \
  struct Catalog<Id> {                                                        \
    static constexpr CatalogEntry kEntries[] = {TABLE(DURESS_CATALOG_ENTRY)}; \
  };

/// How many entries the table of Id has.
template <class Id>
inline constexpr u32 kCatalogSize = sizeof(Catalog<Id>::kEntries) / sizeof(CatalogEntry);

template <class Id>
  requires requires { Catalog<Id>::kEntries; }
constexpr const char* name_of(Id id) {
  return raw(id) < kCatalogSize<Id> ? Catalog<Id>::kEntries[raw(id)].name : "unknown";
}

/// The entry of that name, in the spelling of the table.
template <class Id>
std::optional<Id> id_of(const char* name) {
  for (u32 i = 0; i < kCatalogSize<Id>; ++i) {
    if (__builtin_strcmp(Catalog<Id>::kEntries[i].name, name) == 0) return static_cast<Id>(i);
  }
  return std::nullopt;
}

}  // namespace duress
