// SPDX-License-Identifier: Apache-2.0
//
// The source lines around everything a report speaks of, so that it can be read where the sources are not.
#pragma once

#include "report/stored_document.h"

namespace duress::report {

/// {"point.cc": {"lines": {"5": "int x;", ...}}, "gone.cc": {"missing": "No such file or directory"}}.
/// Only regular files are read; long lines and large files are cut, and say so.
Json sources_of(const StoredDocument& document);

}  // namespace duress::report
