// SPDX-License-Identifier: Apache-2.0
//
// DWARF unwind tables (.eh_frame, .eh_frame_hdr) of any bytes.
#include <cstdlib>

#include "collide/unwind_tables.h"

using namespace duress;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  collide::unwind_tables_from_header(bytes, 0x1000);
  for (const collide::Range& range : collide::unwound_functions(bytes, 0x1000)) {
    if (range.end < range.begin) std::abort();
  }
  return 0;
}
