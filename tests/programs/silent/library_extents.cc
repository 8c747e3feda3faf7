// SPDX-License-Identifier: Apache-2.0
//
// Functions of the C library access as much as they must, and no more: a comparison ends at the first
// difference, a search at what it finds, %.3s after three characters, scanf where it fails. Another thread
// stores behind that. And streams carry order like the descriptors below them.
//
// EXPECT-NO-RACE
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "invisible_barrier.h"

// Each row has a buffer of its own, b, of which the other thread stores to element 8.
#define ROWS(X)                                                                   \
  X(strlen, (b[4] = 0, sum += strlen(b)))                                         \
  X(strnlen, sum += strnlen(b, 8))                                                \
  X(strchr, sum += strchr(b, 'w') != b)                                           \
  X(memchr, sum += memchr(b, 'w', 11) != b)                                       \
  X(memrchr, sum += memrchr(b + 9, 'd', 2) != b)                                  \
  X(strcmp, sum += strcmp(b, "help"))                                             \
  X(strncmp, sum += strncmp(b, "hello world", 8))                                 \
  X(strcasecmp, sum += strcasecmp(b, "HELP"))                                     \
  X(memcmp, sum += memcmp(b, "hello there", 11) == 0)                             \
  X(strstr, sum += strstr(b, "wo") != b)                                          \
  X(strspn, sum += strspn(b, "helo"))                                             \
  X(strcspn, sum += strcspn(b, "w"))                                              \
  X(strncpy, strncpy(b, "text", 8))                                               \
  X(strcpy, strcpy(b, "text"))                                                    \
  X(strcat, (b[3] = 0, strcat(b, "text")))                                        \
  X(strncat, (b[3] = 0, strncat(b, "text too long", 4)))                          \
  X(memccpy, memccpy(other, b, 'w', 11))                                          \
  X(strtol, (b[2] = '1', sum += strtol(b + 2, nullptr, 10)))                      \
  X(snprintf, snprintf(b, 8, "%d", 123456789))                                    \
  X(precision, snprintf(other, 20, "%.*s", 8, b))                                 \
  X(scanf, sum += sscanf("1 x", "%d %d", &number, reinterpret_cast<int*>(b + 8))) \
  X(scanf_string, sum += sscanf("word", "%s", b))                                 \
  X(fread, sum += fread(b, 1, 11, short_file))                                    \
  X(fwrite, fwrite(b, 2, 4, output))

#define BUFFER(name, ...) char b_##name[64] = "hello world";
#define STORE(name, ...) b_##name[8] = 'r';
#define USE(name, ...)  \
  {                     \
    char* b = b_##name; \
    __VA_ARGS__;        \
  }

ROWS(BUFFER)
char other[64];
int step = 0, number = 0, handed_over = 0;
long sum = 0;
FILE *short_file, *output, *reader, *writer;
char message[] = "message";

void store_all() {
  ROWS(STORE)
}

void use_all() {
  ROWS(USE)
}

int main() {
  int ends[2], few[2];
  if (pipe(ends) != 0 || pipe(few) != 0 || write(few[1], "12345", 5) != 5) return 1;
  close(few[1]);
  short_file = fdopen(few[0], "r");
  output = fopen("/dev/null", "w");
  reader = fdopen(ends[0], "r");
  writer = fdopen(ends[1], "w");
  std::thread one([] {
    invisible_start(2);
    store_all();
    handed_over = 1;
    fputs(message, writer);
    fputc('\n', writer);
    fflush(writer);
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    char line[16];
    invisible_wait(&step, 1);
    use_all();
    if (!fgets(line, sizeof line, reader)) abort();
    sum += handed_over;
    message[0] = 'M';
  });
  one.join();
  two.join();
  return 0;
}
