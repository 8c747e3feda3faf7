// SPDX-License-Identifier: Apache-2.0
//
// A report as the one JSON document that `--json` writes; docs/duress-1.schema.json is the whole of it.
#ifndef DURESS_REPORT_JSON_WRITER_H_
#define DURESS_REPORT_JSON_WRITER_H_

#include <string>

#include "report/report.h"

namespace duress::report {

/// The document, indented, with a newline at the end. Always valid UTF-8, whatever the target's names hold.
std::string to_json(const Report& report);

}  // namespace duress::report

#endif  // DURESS_REPORT_JSON_WRITER_H_
