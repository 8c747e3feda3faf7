// SPDX-License-Identifier: Apache-2.0
//
// Documents of any bytes, as `duress report` and --baseline read them.
#include <cstdlib>
#include <string>

#include "report/stored_document.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string error;
  if (!duress::report::read_document({reinterpret_cast<const char*>(data), size}, error) && error.empty())
    std::abort();
  return 0;
}
