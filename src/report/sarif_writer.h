// SPDX-License-Identifier: Apache-2.0
//
// SARIF 2.1.0, in the subset that GitHub's code scanning shows.
#ifndef DURESS_REPORT_SARIF_WRITER_H_
#define DURESS_REPORT_SARIF_WRITER_H_

#include <string>

#include "report/stored_document.h"

namespace duress::report {

std::string to_sarif(const StoredDocument& document);

}  // namespace duress::report

#endif  // DURESS_REPORT_SARIF_WRITER_H_
