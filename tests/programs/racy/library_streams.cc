// SPDX-License-Identifier: Apache-2.0
//
// Streams, formats, time, names and addresses, each against a plain store.
//
// EXPECT-RACE: r_puts[]
// EXPECT-RACE: r_fputs[]
// EXPECT-RACE: r_fwrite[]
// EXPECT-RACE: r_fread[]
// EXPECT-RACE: r_fgets[]
// EXPECT-RACE: r_printf[]
// EXPECT-RACE: r_printf_format[]
// EXPECT-RACE: r_fprintf[]
// EXPECT-RACE: r_snprintf[]
// EXPECT-RACE: r_snprintf_source[]
// EXPECT-RACE: r_sprintf[]
// EXPECT-RACE: r_vsnprintf[]
// EXPECT-RACE: r_asprintf[]
// EXPECT-RACE: r_fscanf[]
// EXPECT-RACE: r_sscanf[]
// EXPECT-RACE: r_sscanf_source[]
// EXPECT-RACE: r_fopen[]
// EXPECT-RACE: r_strftime[]
// EXPECT-RACE: r_asctime_r[]
// EXPECT-RACE: r_gmtime_r[]
// EXPECT-RACE: r_getcwd[]
// EXPECT-RACE: r_readlink[]
// EXPECT-RACE: r_gethostname[]
// EXPECT-RACE: r_setenv[]
// EXPECT-RACE: r_getenv[]
// EXPECT-RACE: r_inet_pton[]
// EXPECT-RACE: r_inet_ntop[]
// EXPECT-RACE: r_clock_gettime[]
// EXPECT-RACE: r_gettimeofday[]
// EXPECT-RACE: r_time[]
// FLAGS: -Wno-format-security -Wno-unused-result
#include <arpa/inet.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "store_then_use.h"

// Each row has a buffer of its own, b, into which the other thread stores.
#define ROWS(X)                                                                     \
  X(puts, puts(b))                                                                  \
  X(fputs, fputs(b, file))                                                          \
  X(fwrite, fwrite(b, 1, 5, file))                                                  \
  X(fread, fread(b, 1, 3, input))                                                   \
  X(fgets, sum += fgets(b, 8, input) != nullptr)                                    \
  X(printf, printf("%s\n", b))                                                      \
  X(printf_format, sum += printf(b))                                                \
  X(fprintf, fprintf(file, "%d %.3s", 1, b))                                        \
  X(snprintf, snprintf(b, 3, "%d", step))                                           \
  X(snprintf_source, snprintf(other, 3, "%s", b))                                   \
  X(sprintf, sprintf(b, "%d", step))                                                \
  X(vsnprintf, print_list(b, "%d", step))                                           \
  X(asprintf, char* made; sum += asprintf(&made, "%s", b); free(made))              \
  X(fscanf, sum += fscanf(input, "%3s", b))                                         \
  X(sscanf, sum += sscanf("word", "%s", b))                                         \
  X(sscanf_source, int n; sum += sscanf(b, "%d", &n))                               \
  X(fopen, fclose(fopen("/dev/null", strcpy(b, "r"))))                              \
  X(strftime, time_t t = 0; tm broken; strftime(b, 8, "%Y", gmtime_r(&t, &broken))) \
  X(asctime_r, time_t t = 0; tm broken; asctime_r(gmtime_r(&t, &broken), b))        \
  X(gmtime_r, time_t t = 0; gmtime_r(&t, reinterpret_cast<tm*>(b)))                 \
  X(getcwd, sum += getcwd(b, 64) == b)                                              \
  X(readlink, sum += readlink("/proc/self/exe", b, 8))                              \
  X(gethostname, gethostname(b, 64))                                                \
  X(setenv, setenv("DURESS_TEST", b, 1))                                            \
  X(getenv, sum += getenv(b) != nullptr)                                            \
  X(inet_pton, inet_pton(AF_INET, "127.0.0.1", b))                                  \
  X(inet_ntop, inet_ntop(AF_INET, &step, b, 64))                                    \
  X(clock_gettime, clock_gettime(CLOCK_MONOTONIC, reinterpret_cast<timespec*>(b)))  \
  X(gettimeofday, gettimeofday(reinterpret_cast<timeval*>(b), nullptr))             \
  X(time, time(reinterpret_cast<time_t*>(b)))

#define BUFFER(name, ...) char r_##name[64] = "hello world";
#define STORE(name, ...) r_##name[0] = "hello world"[0];
#define USE(name, ...)  \
  {                     \
    char* b = r_##name; \
    __VA_ARGS__;        \
  }

ROWS(BUFFER)
char other[64];
int step = 0;
long sum = 0;

FILE* file = fopen("/dev/null", "w");
FILE* input = fopen("/proc/self/maps", "r");

__attribute__((noinline)) void print_list(char* to, const char* format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(to, 8, format, list);
  va_end(list);
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
