// SPDX-License-Identifier: Apache-2.0
//
// A report in the words of ThreadSanitizer, for programs that read those: `ctest -T memcheck`, editors, log
// scanners. The verdict is part of the kind of error, which is what such programs count by.
#pragma once

#include <string>

#include "report/document.h"

namespace duress::report {

/// "" if there is no race. One that was not judged is a "data race" without more words.
std::string to_tsan(const Document& document);

}  // namespace duress::report
