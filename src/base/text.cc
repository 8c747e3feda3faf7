// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <string.h>

namespace duress {

void Text::reserve(size_t more) {
  if (size_ + more <= capacity_) return;
  size_t capacity = capacity_ ? capacity_ * 2 : 512;
  while (capacity < size_ + more) capacity *= 2;
  char* data = static_cast<char*>(arena_.allocate(capacity));
  if (size_) memcpy(data, data_, size_);
  arena_.free(data_, capacity_);
  data_ = data;
  capacity_ = capacity;
}

Text& Text::put(char c) {
  reserve(1);
  data_[size_++] = c;
  return *this;
}

Text& Text::put(const char* s) {
  return put(s, strlen(s));
}

Text& Text::put(const char* s, size_t n) {
  reserve(n);
  memcpy(data_ + size_, s, n);
  size_ += n;
  return *this;
}

Text& Text::number(u64 value) {
  char digits[20];
  int n = 0;
  do digits[n++] = static_cast<char>('0' + value % 10);
  while (value /= 10);
  while (n > 0) put(digits[--n]);
  return *this;
}

Text& Text::hex(u64 value) {
  put("0x", 2);
  int shift = 60;
  while (shift > 0 && (value >> shift) == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) put("0123456789abcdef"[(value >> shift) & 15]);
  return *this;
}

/// Length of the UTF-8 sequence at s (NUL terminated), or 0 if it is not one.
static int utf8_length(const unsigned char* s) {
  int n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
  for (int i = 1; i < n; ++i) {
    if ((s[i] & 0xc0) != 0x80) return 0;
  }
  if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))) return 0;
  if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))) return 0;
  return n;
}

Text& Text::quoted(const char* s) {
  put('"');
  const auto* p = reinterpret_cast<const unsigned char*>(s);
  while (*p) {
    int n = utf8_length(p);
    if (n == 0 || *p < 0x20 || *p == 0x7f) {
      put("\\u00", 4).put("0123456789abcdef"[*p >> 4]).put("0123456789abcdef"[*p & 15]);
      ++p;
    } else {
      if (*p == '"' || *p == '\\') put('\\');
      put(reinterpret_cast<const char*>(p), static_cast<size_t>(n));
      p += n;
    }
  }
  return put('"');
}

Text& Text::key(const char* name) {
  if (size_ > 0 && data_[size_ - 1] != '{') put(',');
  return put('"').put(name).put("\":", 2);
}

}  // namespace duress
