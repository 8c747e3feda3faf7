// SPDX-License-Identifier: Apache-2.0
//
// A report in the words of ThreadSanitizer, for programs that read those: `ctest -T memcheck`, editors, log
// scanners. The verdict is part of the kind of error, which is what such programs count by.
#ifndef DURESS_REPORT_TSAN_WRITER_H_
#define DURESS_REPORT_TSAN_WRITER_H_

#include <string>

#include "report/document.h"

namespace duress::report {

/// "" if there is no race. One that was not judged is a "data race" without more words.
std::string to_tsan(const Document& document);

}  // namespace duress::report

#endif  // DURESS_REPORT_TSAN_WRITER_H_
