// SPDX-License-Identifier: Apache-2.0
//
// The same for wide strings.
//
// EXPECT-RACE: r_wcslen[]
// EXPECT-RACE: r_wcsnlen[]
// EXPECT-RACE: r_wcschr[]
// EXPECT-RACE: r_wcsrchr[]
// EXPECT-RACE: r_wcscmp[]
// EXPECT-RACE: r_wcsncmp[]
// EXPECT-RACE: r_wcsstr[]
// EXPECT-RACE: r_wcscpy[]
// EXPECT-RACE: r_wcpcpy[]
// EXPECT-RACE: r_wcsncpy[]
// EXPECT-RACE: r_wcscat[]
// EXPECT-RACE: r_wcsncat[]
// EXPECT-RACE: r_wcsdup[]
// EXPECT-RACE: r_wmemchr[]
// EXPECT-RACE: r_wmemcmp[]
// EXPECT-RACE: r_wmemcpy[]
// EXPECT-RACE: r_wmemmove[]
// EXPECT-RACE: r_wmemset[]
// EXPECT-RACE: r_wmempcpy[]
// EXPECT-RACE: r_mbstowcs[]
#include <cstdlib>
#include <cwchar>

#include "store_then_use.h"

// Each row has a buffer of its own, b, into which the other thread stores.
#define ROWS(X)                                \
  X(wcslen, sum += wcslen(b))                  \
  X(wcsnlen, sum += wcsnlen(b, 4))             \
  X(wcschr, sum += wcschr(b, L'w') != b)       \
  X(wcsrchr, sum += wcsrchr(b, L'o') != b)     \
  X(wcscmp, sum += wcscmp(b, other))           \
  X(wcsncmp, sum += wcsncmp(b, other, 3))      \
  X(wcsstr, sum += wcsstr(b, L"wor") != b)     \
  X(wcscpy, wcscpy(b, other))                  \
  X(wcpcpy, wcpcpy(b, other))                  \
  X(wcsncpy, wcsncpy(b, other, 4))             \
  X(wcscat, wcscat(b, other))                  \
  X(wcsncat, wcsncat(b, other, 2))             \
  X(wcsdup, free(wcsdup(b)))                   \
  X(wmemchr, sum += wmemchr(b, L'w', 11) != b) \
  X(wmemcmp, sum += wmemcmp(b, other, 3))      \
  X(wmemcpy, wmemcpy(b, other, 3))             \
  X(wmemmove, wmemmove(b, other, 3))           \
  X(wmemset, wmemset(b, L'x', 3))              \
  X(wmempcpy, wmempcpy(b, other, 3))           \
  X(mbstowcs, mbstowcs(b, "text", 5))

#define BUFFER(name, ...) wchar_t r_##name[64] = L"hello world";
#define STORE(name, ...) r_##name[0] = L"hello world"[0];
#define USE(name, ...)     \
  {                        \
    wchar_t* b = r_##name; \
    __VA_ARGS__;           \
  }

ROWS(BUFFER)
wchar_t other[64];
long sum = 0;

void store_all() {
  ROWS(STORE)
}

void use_all() {
  ROWS(USE)
}

int main() {
  store_then_use(store_all, use_all);
  return 0;
}
