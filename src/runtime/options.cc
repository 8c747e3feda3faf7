// SPDX-License-Identifier: Apache-2.0
#include "runtime/options.h"

#include <string.h>

#include "base/check.h"
#include "base/text.h"

namespace duress {

namespace {

struct Known {
  const char* name;
  bool number;
  size_t offset;
  const char* help;
};

constexpr Known kKnown[] = {
#define DURESS_TEXT(name, default_value, help) {#name, false, __builtin_offsetof(Options, name##_), help},
#define DURESS_NUMBER(name, default_value, help) {#name, true, __builtin_offsetof(Options, name##_), help},
#include "runtime/options.def"
#undef DURESS_TEXT
#undef DURESS_NUMBER
};

const Known* find(const char* name, size_t length) {
  for (const Known& k : kKnown) {
    if (strlen(k.name) == length && memcmp(k.name, name, length) == 0) return &k;
  }
  return nullptr;
}

/// Length of a name followed by '=' at `at`, or 0.
size_t name_length(const char* at) {
  size_t n = 0;
  while ((at[n] >= 'a' && at[n] <= 'z') || at[n] == '_') ++n;
  return at[n] == '=' ? n : 0;
}

[[noreturn]] void reject(const char* what, const char* at, size_t length, Arena& arena) {
  Text text(arena);
  text.put("DURESS_OPTIONS: ").put(what).put(" '").put(at, length).put('\'').put('\0');
  fatal(text.data(), "DURESS_OPTIONS=help=1 lists the options");
}

}  // namespace

void Options::parse(const char* text, Arena& arena) {
  while (*text) {
    if (*text == ':') {
      ++text;
      continue;
    }
    size_t length = name_length(text);
    const Known* known = find(text, length);
    if (!known) reject("unknown option", text, strcspn(text, ":"), arena);
    const char* value = text + length + 1;
    size_t size = 0;  // up to the next ':' that starts another option
    while (value[size] && !(value[size] == ':' &&
                            (find(value + size + 1, name_length(value + size + 1)) || !value[size + 1]))) {
      ++size;
    }
    char* field = reinterpret_cast<char*>(this) + known->offset;
    if (known->number) {
      u64 number = 0;
      for (size_t i = 0; i < size; ++i) {
        if (value[i] < '0' || value[i] > '9') reject("not a number:", text, length + 1 + size, arena);
        number = number * 10 + static_cast<u64>(value[i] - '0');
      }
      memcpy(field, &number, sizeof number);
    } else {
      auto* copy = static_cast<char*>(arena.allocate(size + 1));
      memcpy(copy, value, size);
      copy[size] = 0;
      memcpy(field, &copy, sizeof copy);
    }
    text = value + size;
  }
}

void Options::print_help() {
  Arena arena;
  {
    Text text(arena);
    text.put("Duress is built into this program. DURESS_OPTIONS=name=value:name=value understands:\n");
    for (const Known& k : kKnown) {
      text.put("  ").put(k.name);
      for (size_t i = strlen(k.name); i < 12; ++i) text.put(' ');
      text.put(k.help).put('\n');
    }
    write_all(2, text.data(), text.size());
  }
  arena.release_all();
}

}  // namespace duress
