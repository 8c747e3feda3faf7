// SPDX-License-Identifier: Apache-2.0
//
// A text buffer that writes JSON lines without the C library: used in signal handlers, before main
// and after exit. It grows in an arena, so a long stack never cuts a line short.
#pragma once

#include "base/arena.h"

namespace duress {

class Text {
 public:
  explicit Text(Arena& arena) : arena_(arena) {}
  ~Text() { arena_.free(data_, capacity_); }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  Text& put(char c);
  Text& put(const char* s);
  Text& put(const char* s, size_t n);
  Text& number(u64 value);
  Text& hex(u64 value);  // "0x7f..", no quotes
  /// A JSON string with quotes; control characters and bytes that are not UTF-8 are escaped.
  Text& quoted(const char* s);
  /// Starts a member: `,"name":` or `"name":` at the start of an object.
  Text& key(const char* name);
  Text& address(u64 value) { return put('"').hex(value).put('"'); }

  const char* data() const { return data_; }
  size_t size() const { return size_; }
  void clear() { size_ = 0; }

 private:
  void reserve(size_t more);

  Arena& arena_;
  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace duress
