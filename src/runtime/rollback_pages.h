// SPDX-License-Identifier: Apache-2.0
//
// Memory, copied and cleared without memcpy and memset: these are the C library's, whose tables are among
// what is put back.
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
inline void copy_bytes(void* to, const void* from, u64 bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}
inline void clear_bytes(void* to, u64 bytes) {
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(0) : "memory");
}

}  // namespace duress
