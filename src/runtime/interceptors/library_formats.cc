// SPDX-License-Identifier: Apache-2.0
//
// What printf reads and scanf writes, as the format says; and stdio's files as channels.
#include <stddef.h>
#include <stdint.h>

#include "runtime/interceptors/descriptor_use.h"
#include "runtime/interceptors/library_access.h"

namespace duress {
namespace {

enum class Length : u8 { kNone, kChar, kShort, kLong, kWide };  // kLong: 8 bytes, whatever it is called

/// One conversion of a format. Flags of printf and of scanf are both accepted.
struct Conversion {
  static constexpr int kAbsent = -1, kArgument = -2;

  bool suppressed = false, allocates = false;
  int width = kAbsent, precision = kAbsent;
  Length length = Length::kNone;
  char kind = 0;

  /// Parses what follows a '%'; returns behind it, or null if it is not understood.
  const char* parse(const char* at, bool scans) {
    for (; *at && strchr(scans ? "*'I" : "-+ #0'I", *at); ++at) suppressed |= *at == '*';
    if (!(at = number(at, &width)) || *at == '$') return nullptr;
    precision = kAbsent;
    if (*at == '.') {
      precision = 0;
      if (!(at = number(at + 1, &precision))) return nullptr;
    }
    for (; scans && *at == 'm'; ++at) allocates = true;
    at = parse_length(at);
    kind = *at;
    return kind ? at + 1 : nullptr;
  }

  bool is(const char* kinds) const { return strchr(kinds, kind) != nullptr; }

 private:
  static const char* number(const char* at, int* value) {
    if (*at == '*') {
      *value = kArgument;
      return at[1] >= '0' && at[1] <= '9' ? nullptr : at + 1;  // *1$: by number
    }
    if (*at < '0' || *at > '9') return at;
    i64 n = 0;
    for (; *at >= '0' && *at <= '9'; ++at) {
      n = n * 10 + (*at - '0');
      if (n > INT32_MAX) return nullptr;
    }
    *value = static_cast<int>(n);
    return at;
  }

  const char* parse_length(const char* at) {
    for (; *at; ++at) {
      if (*at == 'h') {
        length = length == Length::kShort ? Length::kChar : Length::kShort;
      } else if (*at == 'l' || *at == 'j' || *at == 'z' || *at == 't' || *at == 'q') {
        length = Length::kLong;
      } else if (*at == 'L') {
        length = Length::kWide;
      } else {
        break;
      }
    }
    return at;
  }
};

size_t integer_size(Length length) {
  switch (length) {
    case Length::kChar:
      return sizeof(char);
    case Length::kShort:
      return sizeof(short);
    case Length::kNone:
      return sizeof(int);
    default:
      return sizeof(long);
  }
}

size_t float_size(Length length) {
  if (length == Length::kLong) return sizeof(double);
  return length == Length::kWide ? sizeof(long double) : sizeof(float);
}

/// A copy of the arguments of which one after the other is taken.
class Arguments {
 public:
  explicit Arguments(va_list list) { va_copy(list_, list); }
  ~Arguments() { va_end(list_); }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  int integer() { return va_arg(list_, int); }
  void* pointer() { return va_arg(list_, void*); }
  void skip_long() { (void)va_arg(list_, long); }
  void skip_double() { (void)va_arg(list_, double); }
  void skip_long_double() { (void)va_arg(list_, long double); }

 private:
  va_list list_;
};

void print_string(const LibraryAccess& access, const Conversion& c, const void* p) {
  if (!p) return;  // printed as (null)
  if (c.kind == 'S' || c.length == Length::kLong) {
    // With a precision, which counts bytes, it is not known how many characters are read.
    if (c.precision < 0) access.reads(p, string_bytes(static_cast<const wchar_t*>(p)));
  } else {
    const auto* s = static_cast<const char*>(p);
    access.reads(s, c.precision < 0 ? string_bytes(s) : string_bytes(s, static_cast<size_t>(c.precision)));
  }
}

/// False: it is not known what the conversion takes.
bool print_argument(const LibraryAccess& access, const Conversion& c, Arguments& arguments) {
  if (c.is("sS")) {
    print_string(access, c, arguments.pointer());
  } else if (c.is("diouxX")) {
    c.length == Length::kLong || c.length == Length::kWide ? arguments.skip_long()
                                                           : (void)arguments.integer();
  } else if (c.is("eEfFgGaA")) {
    c.length == Length::kWide ? arguments.skip_long_double() : arguments.skip_double();
  } else if (c.is("cC")) {
    arguments.integer();
  } else if (c.kind == 'p') {
    arguments.pointer();
  } else if (c.kind == 'n') {
    access.writes(arguments.pointer(), integer_size(c.length));
  } else {
    return c.is("m%");
  }
  return true;
}

/// Behind the set of a %[ conversion; null: it does not end.
const char* behind_set(const char* at) {
  if (*at == '^') ++at;
  if (*at == ']') ++at;
  at = strchr(at, ']');
  return at ? at + 1 : nullptr;
}

void scanned_argument(const LibraryAccess& access, const Conversion& c, const void* to) {
  bool wide = c.length == Length::kLong || c.is("SC");
  if (c.allocates) {
    access.writes(to, sizeof(void*));
  } else if (c.is("diouxX")) {
    access.writes(to, integer_size(c.length));
  } else if (c.is("eEfFgGaA")) {
    access.writes(to, float_size(c.length));
  } else if (c.kind == 'p') {
    access.writes(to, sizeof(void*));
  } else if (c.is("cC")) {
    access.writes(to, (c.width > 0 ? static_cast<size_t>(c.width) : 1) * (wide ? sizeof(wchar_t) : 1));
  } else if (wide) {
    access.writes(to, string_bytes(static_cast<const wchar_t*>(to)));
  } else {
    access.writes(to, string_bytes(static_cast<const char*>(to)));
  }
}

}  // namespace

void LibraryAccess::prints(const char* format, va_list list) const {
  if (!awake()) return;
  reads(format, string_bytes(format));
  Arguments arguments(list);
  for (const char* at = format; (at = strchr(at, '%'));) {
    Conversion c;
    if (!(at = c.parse(at + 1, false))) return;
    if (c.width == Conversion::kArgument) arguments.integer();
    if (c.precision == Conversion::kArgument) c.precision = arguments.integer();
    if (!print_argument(*this, c, arguments)) return;
  }
}

void LibraryAccess::scanned(const char* format, va_list list, int assigned) const {
  if (!awake() || assigned <= 0) return;
  Arguments arguments(list);
  int done = 0;
  for (const char* at = format; done < assigned && (at = strchr(at, '%'));) {
    Conversion c;
    if (!(at = c.parse(at + 1, true))) return;
    if (c.kind == '[' && !(at = behind_set(at))) return;
    if (c.suppressed || c.kind == '%') continue;
    if (!c.is("diouxXeEfFgGaAsSc[Cpn")) return;
    const void* to = arguments.pointer();
    if (c.kind == 'n') {
      writes(to, integer_size(c.length));  // something was assigned behind it
    } else {
      scanned_argument(*this, c, to);
      ++done;
    }
  }
}

void LibraryAccess::sends(FILE* file) const {
  if (file && awake()) sync_release_stream(fileno_unlocked(file), pc_);
}

void LibraryAccess::flushes(FILE* file) const {
  if (file && awake()) sync_release_fd(fileno_unlocked(file), pc_);
}

void LibraryAccess::receives(FILE* file) const {
  if (file && awake()) sync_acquire_fd(fileno_unlocked(file), pc_);
}

void LibraryAccess::closes(FILE* file) const {
  if (!file || !awake()) return;
  int fd = fileno_unlocked(file);
  if (fd < 0) return;
  descriptor_closing(fd, pc_);
  sync_release_fd(fd, pc_);
  sync_forget_fd(fd);
}

void LibraryAccess::sends_fd(int fd) const {
  if (awake()) sync_release_fd(fd, pc_);
}

}  // namespace duress
