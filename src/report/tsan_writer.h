// SPDX-License-Identifier: Apache-2.0
//
// A report in the words of ThreadSanitizer, for programs that read those: `ctest -T memcheck`, editors, log
// scanners. The verdict is part of the kind of error, which is what such programs count by.
#ifndef DURESS_REPORT_TSAN_WRITER_H_
#define DURESS_REPORT_TSAN_WRITER_H_

#include <map>
#include <string>

#include "report/report.h"

namespace duress::report {

/// `verdicts`: words by race id ("destructive"); a race without one is a "data race" and no more. "": there
/// is no race.
std::string to_tsan(const Report& report, const std::map<std::string, std::string>& verdicts);

}  // namespace duress::report

#endif  // DURESS_REPORT_TSAN_WRITER_H_
