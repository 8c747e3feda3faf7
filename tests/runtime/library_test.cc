// SPDX-License-Identifier: Apache-2.0
//
// What functions of the C library access: strings, memory, wide strings, numbers. See library_rows.h.
#include "library_rows.h"

static char text[] = "hello world", same[] = "hello there", empty[] = "", to[64];
static wchar_t wide[] = L"hello", wide_same[] = L"help", wide_to[64];
constexpr size_t kW = sizeof(wchar_t);

static void searches() {
  ROW(strlen, (text), reads(text, 12));
  ROW(strlen, (empty), reads(empty, 1));
  ROW(strnlen, (text, 5), reads(text, 5));
  ROW(strnlen, (text, 50), reads(text, 12));
  ROW(strchr, (text, 'l'), reads(text, 3));
  ROW(strchr, (text, 'z'), reads(text, 12));
  ROW(strchrnul, (text, 'z'), reads(text, 12));
  ROW(index, (text, 'e'), reads(text, 2));
  ROW(strrchr, (text, 'h'), reads(text, 12));
  ROW(rindex, (text, 'h'), reads(text, 12));
  ROW(memchr, (text, 'l', 12), reads(text, 3));
  ROW(memchr, (text, 'z', 7), reads(text, 7));
  ROW(memchr, (text, 'z', 0), );
  ROW(memrchr, (text, 'o', 12), reads(text + 7, 5));
  ROW(memrchr, (text, 'z', 12), reads(text, 12));
  ROW(rawmemchr, (text, 'w'), reads(text, 7));
  ROW(strstr, (text, "lo"), reads(text, 5), reads("lo", 3));
  ROW(strstr, (text, same), reads(text, 12), reads(same, 12));
  ROW(strstr, (text, empty), reads(empty, 1));
  ROW(strcasestr, (text, "LO"), reads(text, 5), reads("LO", 3));
  ROW(memmem, (text, 11, same + 2, 2), reads(text, 4), reads(same + 2, 2));
  ROW(memmem, (text, 3, same, 4), );
  ROW(strspn, (text, "helo"), reads(text, 6), reads("helo", 5));
  ROW(strcspn, (text, " "), reads(text, 6), reads(" ", 2));
  ROW(strpbrk, (text, "w"), reads(text, 7), reads("w", 2));
  ROW(strpbrk, (text, "z"), reads(text, 12), reads("z", 2));
}

static void comparisons() {
  ROW(strcmp, (text, same), reads(text, 7), reads(same, 7));
  ROW(strcmp, (text, text), reads(text, 12), reads(text, 12));
  ROW(strcmp, (text, empty), reads(text, 1), reads(empty, 1));
  ROW(strncmp, (text, same, 4), reads(text, 4), reads(same, 4));
  ROW(strncmp, (text, same, 11), reads(text, 7), reads(same, 7));
  ROW(strncmp, (text, same, 0), );
  ROW(strcasecmp, (text, "HELLO"), reads(text, 6), reads("HELLO", 6));
  ROW(strncasecmp, (text, "HELLO", 5), reads(text, 5), reads("HELLO", 5));
  ROW(strcoll, (text, same), reads(text, 12), reads(same, 12));
  ROW(memcmp, (text, same, 12), reads(text, 7), reads(same, 7));
  ROW(memcmp, (text, text, 12), reads(text, 12), reads(text, 12));
  ROW(bcmp, (text, same, 3), reads(text, 3), reads(same, 3));
}

static void copies() {
  ROW(strcpy, (to, text), reads(text, 12), writes(to, 12));
  ROW(stpcpy, (to, text), reads(text, 12), writes(to, 12));
  ROW(strncpy, (to, text, 20), reads(text, 12), writes(to, 20));
  ROW(stpncpy, (to, text, 3), reads(text, 3), writes(to, 3));
  strcpy(to, "ab");
  ROW(strcat, (to, text), reads(text, 12), reads(to, 3), writes(to + 2, 12));
  strcpy(to, "ab");
  ROW(strncat, (to, text, 5), reads(text, 5), reads(to, 3), writes(to + 2, 6));
  fake_clear();
  char* copy = CALL(strdup, text);
  expect_row("strdup", {reads(text, 12), writes(copy, 12)});
  free(copy);
  copy = CALL(__strdup, text);
  expect_row("__strdup", {reads(text, 12), writes(copy, 12)});
  free(copy);
  copy = CALL(strndup, text, 5);
  expect_row("strndup", {reads(text, 5), writes(copy, 6)});
  free(copy);
  char line[] = "  one two", *rest = nullptr;
  ROW(strtok_r, (line, " ", &rest), reads(" ", 2), writes(&rest, 8), reads(line, 6), writes(line + 5, 1));
  ROW(__strtok_r, (nullptr, " ", &rest), reads(" ", 2), reads(&rest, 8), writes(&rest, 8),
      reads(line + 6, 4));
  char list[] = "a,b", *at = list;
  ROW(strsep, (&at, ","), reads(",", 2), writes(&at, 8), reads(list, 2), writes(list + 1, 1));
  ROW(strsep, (&at, ","), reads(",", 2), writes(&at, 8), reads(list + 2, 2));
}

static int by_value(const void* a, const void* b) {
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

static void memory() {
  ROW(memcpy, (to, text, 5), reads(text, 5), writes(to, 5));
  ROW(memmove, (to, text, 5), reads(text, 5), writes(to, 5));
  ROW(memset, (to, 0, 9), writes(to, 9));
  ROW(mempcpy, (to, text, 5), reads(text, 5), writes(to, 5));
  ROW(memccpy, (to, text, 'o', 12), reads(text, 5), writes(to, 5));
  ROW(memccpy, (to, text, 'z', 12), reads(text, 12), writes(to, 12));
  ROW(bzero, (to, 3), writes(to, 3));
  ROW(explicit_bzero, (to, 3), writes(to, 3));
  ROW(bcopy, (text, to, 4), reads(text, 4), writes(to, 4));
  ROW(swab, (text, to, 5), reads(text, 4), writes(to, 4));
  int numbers[] = {3, 1, 2};
  ROW(qsort, (numbers, 3, sizeof(int), by_value), writes(numbers, sizeof numbers));
  CHECK(numbers[0] == 1 && numbers[2] == 3);
}

static void wide_strings() {
  ROW(wcslen, (wide), reads(wide, 6 * kW));
  ROW(wcsnlen, (wide, 3), reads(wide, 3 * kW));
  ROW(wcschr, (wide, L'l'), reads(wide, 3 * kW));
  ROW(wcsrchr, (wide, L'h'), reads(wide, 6 * kW));
  ROW(wcscmp, (wide, wide_same), reads(wide, 4 * kW), reads(wide_same, 4 * kW));
  ROW(wcsncmp, (wide, wide_same, 2), reads(wide, 2 * kW), reads(wide_same, 2 * kW));
  ROW(wcsstr, (wide, L"el"), reads(wide, 3 * kW), reads(L"el", 3 * kW));
  ROW(wcscpy, (wide_to, wide), reads(wide, 6 * kW), writes(wide_to, 6 * kW));
  ROW(wcpcpy, (wide_to, wide), reads(wide, 6 * kW), writes(wide_to, 6 * kW));
  ROW(wcsncpy, (wide_to, wide, 8), reads(wide, 6 * kW), writes(wide_to, 8 * kW));
  wcscpy(wide_to, L"ab");
  ROW(wcscat, (wide_to, wide), reads(wide, 6 * kW), reads(wide_to, 3 * kW), writes(wide_to + 2, 6 * kW));
  wcscpy(wide_to, L"ab");
  ROW(wcsncat, (wide_to, wide, 2), reads(wide, 2 * kW), reads(wide_to, 3 * kW), writes(wide_to + 2, 3 * kW));
  fake_clear();
  wchar_t* copy = CALL(wcsdup, wide);
  expect_row("wcsdup", {reads(wide, 6 * kW), writes(copy, 6 * kW)});
  free(copy);
  ROW(wmemchr, (wide, L'l', 6), reads(wide, 3 * kW));
  ROW(wmemchr, (wide, L'z', 6), reads(wide, 6 * kW));
  ROW(wmemcmp, (wide, wide_same, 5), reads(wide, 4 * kW), reads(wide_same, 4 * kW));
  ROW(wmemcpy, (wide_to, wide, 3), reads(wide, 3 * kW), writes(wide_to, 3 * kW));
  ROW(wmemmove, (wide_to, wide, 3), reads(wide, 3 * kW), writes(wide_to, 3 * kW));
  ROW(wmemset, (wide_to, L'x', 3), writes(wide_to, 3 * kW));
  ROW(wmempcpy, (wide_to, wide, 3), reads(wide, 3 * kW), writes(wide_to, 3 * kW));
  ROW(mbstowcs, (wide_to, text, 30), writes(wide_to, 12 * kW));
  ROW(mbstowcs, (nullptr, text, 0), );
  ROW(wcstombs, (to, wide, 3), writes(to, 3));
}

static void numbers() {
  char digits[] = " 12x", real[] = "1.5x", *end = nullptr;
  ROW(strtol, (digits, &end, 10), reads(digits, 4), writes(&end, 8));
  CHECK(end == digits + 3);
  ROW(strtol, (digits, nullptr, 10), reads(digits, 4));
  ROW(strtoul, (digits, &end, 10), reads(digits, 4), writes(&end, 8));
  ROW(strtoll, (digits, &end, 10), reads(digits, 4), writes(&end, 8));
  ROW(strtoull, (digits, &end, 10), reads(digits, 4), writes(&end, 8));
  ROW(strtod, (real, &end), reads(real, 4), writes(&end, 8));
  ROW(strtof, (real, nullptr), reads(real, 4));
  ROW(strtold, (real, &end), reads(real, 4), writes(&end, 8));
  ROW(atoi, (digits), reads(digits, 4));
  ROW(atol, (digits), reads(digits, 4));
  ROW(atoll, (digits), reads(digits, 4));
  ROW(atof, (real), reads(real, 1));
  int exponent;
  double part;
  unsigned seed = 1;
  ROW(frexp, (3.5, &exponent), writes(&exponent, 4));
  ROW(modf, (3.5, &part), writes(&part, 8));
  ROW(rand_r, (&seed), writes(&seed, 4));
}

int main() {
  fake_set_awake(1);
  searches();
  comparisons();
  copies();
  memory();
  wide_strings();
  numbers();
  expect_all_rows("strlen", "rand_r");
  fake_set_awake(0);
  CHECK(CALL(strlen, text) == 11 && fake_count("read") == 0);  // asleep: nothing is told
  return 0;
}
