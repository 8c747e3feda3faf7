// SPDX-License-Identifier: Apache-2.0
//
// The output formats of the catalog (catalog/formats.h): from a format's number to what writes it. A new
// format is a file with DURESS_DEFINE_FORMAT, a line in the catalog, a test and a row in
// docs/guide/report.md.
#pragma once

#include <string>

#include "catalog/formats.h"
#include "report/stored_document.h"

namespace duress::report {

struct Format {
  std::string (*render)(const StoredDocument&);
  bool interleavings;  // it shows executions, which are then replayed first
};

Format format_of(FormatId id);

/// Defines a format of the table.
#define DURESS_DEFINE_FORMAT(identifier, render, interleavings) \
  Format format_##identifier() {                                \
    return {render, interleavings};                             \
  }                                                             \
  static_assert(true)

}  // namespace duress::report
