// SPDX-License-Identifier: Apache-2.0
//
// Logs of any bytes.
#include <string_view>

#include "finding/log_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  duress::finding::RunLog log;
  duress::finding::parse_log({reinterpret_cast<const char*>(data), size}, "log", log);
  return 0;
}
