// SPDX-License-Identifier: Apache-2.0
//
// The table of output formats: what a campaign's findings can be written as. A line here gives a format its
// option --NAME with every command that finds something, and its line in `duress list`; src/report/formats.cc
// finds the writer by the identifier.
#pragma once

#include "catalog/table.h"

// DURESS_FORMAT(identifier, name, description): DURESS_DEFINE_FORMAT(identifier, ...) defines it, in
// src/report.
#define DURESS_FORMATS(DURESS_FORMAT)                                          \
  DURESS_FORMAT(Html, "html", "an HTML page with everything inside")           \
  DURESS_FORMAT(Sarif, "sarif", "SARIF 2.1.0, for code scanning")              \
  DURESS_FORMAT(Junit, "junit", "JUnit XML, a test case for each finding")     \
  DURESS_FORMAT(Perfetto, "perfetto", "the interleavings for ui.perfetto.dev") \
  DURESS_FORMAT(Json, "json", "the document duress/1, with the interleavings")

namespace duress {
DURESS_CATALOG(FormatId, DURESS_FORMATS)
}  // namespace duress
