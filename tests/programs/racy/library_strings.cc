// SPDX-License-Identifier: Apache-2.0
//
// Functions of the C library that read and write strings and memory, each against a plain store.
//
// EXPECT-RACE: r_strlen[]
// EXPECT-RACE: r_strnlen[]
// EXPECT-RACE: r_strchr[]
// EXPECT-RACE: r_strchrnul[]
// EXPECT-RACE: r_strrchr[]
// EXPECT-RACE: r_memchr[]
// EXPECT-RACE: r_memrchr[]
// EXPECT-RACE: r_strcmp[]
// EXPECT-RACE: r_strncmp[]
// EXPECT-RACE: r_strcasecmp[]
// EXPECT-RACE: r_strncasecmp[]
// EXPECT-RACE: r_strcoll[]
// EXPECT-RACE: r_memcmp[]
// EXPECT-RACE: r_bcmp[]
// EXPECT-RACE: r_strstr[]
// EXPECT-RACE: r_strcasestr[]
// EXPECT-RACE: r_memmem[]
// EXPECT-RACE: r_strspn[]
// EXPECT-RACE: r_strcspn[]
// EXPECT-RACE: r_strpbrk[]
// EXPECT-RACE: r_strcpy[]
// EXPECT-RACE: r_strcpy_source[]
// EXPECT-RACE: r_strncpy[]
// EXPECT-RACE: r_stpcpy[]
// EXPECT-RACE: r_strcat[]
// EXPECT-RACE: r_strncat[]
// EXPECT-RACE: r_strdup[]
// EXPECT-RACE: r_strndup[]
// EXPECT-RACE: r_strtok_r[]
// EXPECT-RACE: r_strsep[]
// EXPECT-RACE: r_mempcpy[]
// EXPECT-RACE: r_memccpy[]
// EXPECT-RACE: r_memmove[]
// EXPECT-RACE: r_memcpy[]
// EXPECT-RACE: r_memset[]
// EXPECT-RACE: r_bzero[]
// EXPECT-RACE: r_explicit_bzero[]
// EXPECT-RACE: r_bcopy[]
// EXPECT-RACE: r_swab[]
// EXPECT-RACE: r_qsort[]
// EXPECT-RACE: r_strtol[]
// EXPECT-RACE: r_strtoull[]
// EXPECT-RACE: r_strtod[]
// EXPECT-RACE: r_atoi[]
// EXPECT-RACE: r_atof[]
// EXPECT-RACE: r_frexp[]
// EXPECT-RACE: r_modf[]
// EXPECT-RACE: r_rand_r[]
#include <strings.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "store_then_use.h"

// Each row has a buffer of its own, b, into which the other thread stores.
#define ROWS(X)                                                      \
  X(strlen, sum += strlen(b))                                        \
  X(strnlen, sum += strnlen(b, 4))                                   \
  X(strchr, sum += strchr(b, 'w') != b)                              \
  X(strchrnul, sum += *strchrnul(b, 'z'))                            \
  X(strrchr, sum += strrchr(b, 'o') != b)                            \
  X(memchr, sum += memchr(b, 'w', 11) != b)                          \
  X(memrchr, sum += memrchr(b, 'h', 11) != other)                    \
  X(strcmp, sum += strcmp(b, other))                                 \
  X(strncmp, sum += strncmp(other, b, 5))                            \
  X(strcasecmp, sum += strcasecmp(b, other))                         \
  X(strncasecmp, sum += strncasecmp(b, other, 3))                    \
  X(strcoll, sum += strcoll(b, other))                               \
  X(memcmp, sum += memcmp(b, other, 8) == 0)                         \
  X(bcmp, sum += bcmp(b, other, 64))                                 \
  X(strstr, sum += strstr(b, "wor") != b)                            \
  X(strcasestr, sum += strcasestr(b, "WOR") != b)                    \
  X(memmem, sum += memmem(b, 11, "wor", 3) != b)                     \
  X(strspn, sum += strspn(b, "helo"))                                \
  X(strcspn, sum += strcspn(b, "w"))                                 \
  X(strpbrk, sum += strpbrk(b, "w") != b)                            \
  X(strcpy, strcpy(b, other))                                        \
  X(strcpy_source, strcpy(other, b))                                 \
  X(strncpy, strncpy(b, other, 8))                                   \
  X(stpcpy, stpcpy(b, other))                                        \
  X(strcat, strcat(b, other))                                        \
  X(strncat, strncat(b, other, 3))                                   \
  X(strdup, char* made = strdup(b); sum += made[1]; free(made))      \
  X(strndup, char* made = strndup(b, 3); sum += made[1]; free(made)) \
  X(strtok_r, char* rest; sum += strtok_r(b, " ", &rest) != b)       \
  X(strsep, char* at = b; sum += strsep(&at, " ") != b)              \
  X(mempcpy, mempcpy(b, other, 8))                                   \
  X(memccpy, memccpy(other, b, 'o', 11))                             \
  X(memmove, memmove(other, b, 8))                                   \
  X(memcpy, memcpy(b, other, 8))                                     \
  X(memset, memset(b, 0, 8))                                         \
  X(bzero, bzero(b, 8))                                              \
  X(explicit_bzero, explicit_bzero(b, 8))                            \
  X(bcopy, bcopy(b, other, 8))                                       \
  X(swab, swab(b, other, 8))                                         \
  X(qsort, qsort(b, 11, 1, before))                                  \
  X(strtol, sum += strtol(b, nullptr, 10))                           \
  X(strtoull, sum += strtoull(b, nullptr, 16))                       \
  X(strtod, sum += strtod(b, nullptr) != 0)                          \
  X(atoi, sum += atoi(b))                                            \
  X(atof, sum += atof(b) != 0)                                       \
  X(frexp, sum += frexp(1.5, reinterpret_cast<int*>(b)) != 0)        \
  X(modf, sum += modf(1.5, reinterpret_cast<double*>(b)) != 0)       \
  X(rand_r, sum += rand_r(reinterpret_cast<unsigned*>(b)))

#define BUFFER(name, ...) char r_##name[64] = "hello world";
#define STORE(name, ...) r_##name[0] = "hello world"[0];
#define USE(name, ...)  \
  {                     \
    char* b = r_##name; \
    __VA_ARGS__;        \
  }

ROWS(BUFFER)
char other[64];
long sum = 0;

int before(const void* a, const void* b) {
  return *static_cast<const char*>(a) - *static_cast<const char*>(b);
}

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
