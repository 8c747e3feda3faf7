// SPDX-License-Identifier: Apache-2.0
//
// Pages of memory, copied and cleared without memcpy and memset: these are the C library's, whose tables are
// among what is put back.
#pragma once

#include "base/raw.h"

namespace duress {

inline void copy_page(void* to, const void* from) {
  u64 words = kPageSize / 8;
  asm volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
}
inline void clear_page(void* page) {
  u64 words = kPageSize / 8;
  asm volatile("rep stosq" : "+D"(page), "+c"(words) : "a"(0) : "memory");
}

}  // namespace duress
