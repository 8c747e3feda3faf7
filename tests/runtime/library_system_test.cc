// SPDX-License-Identifier: Apache-2.0
//
// What functions of the C library access: stdio, formats, time, files, names. See library_rows.h.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "library_rows.h"

static char text[] = "hello world", to[256];

static const void* number(int fd) {
  return reinterpret_cast<const void*>(static_cast<size_t>(fd));
}

static void streams() {
  FILE* file = fopen("/dev/null", "w");
  Touched sends = {"release_stream", number(fileno(file))}, prints = {"release_stream", number(1)};
  Touched flushes = {"release_fd", sends.where};
  CHECK(freopen("/dev/null", "w", stdout));
  ROW(puts, (text), reads(text, 12), prints);
  ROW(fputs, (text, file), reads(text, 12), sends);
  ROW(fwrite, (text, 2, 3, file), reads(text, 6), sends);
  ROW(fputc, ('c', file), sends);
  ROW(putc, ('c', file), sends);
  ROW(putchar, ('c'), prints);
  ROW(fflush, (file), flushes);
  ROW(fflush, (nullptr), );
  ROW(printf, ("%s", text), reads("%s", 3), reads(text, 12), prints);
  ROW(fprintf, (file, "%s", text), reads("%s", 3), reads(text, 12), sends);
  ROW(dprintf, (fileno(file), "%s", text), reads("%s", 3), reads(text, 12), flushes);
  ROW(__printf_chk, (1, "%s", text), reads("%s", 3), reads(text, 12), prints);
  ROW(__fprintf_chk, (file, 1, "%s", text), reads("%s", 3), reads(text, 12), sends);
  ROW(fclose, (file), flushes, {"forget_fd", sends.where});
  CHECK(freopen("/dev/null", "w", stderr));
  ROW(perror, (text), reads(text, 12));
}

static void input() {
  int ends[2];
  CHECK(pipe(ends) == 0 && write(ends[1], "line one\nabcdefgh\nxyz\n12", 24) == 24 && close(ends[1]) == 0);
  FILE* file = fdopen(ends[0], "r");
  Touched receives = {"acquire_fd", number(ends[0])};
  ROW(fgets, (to, 5, file), receives, writes(to, 5));
  ROW(__fgets_chk, (to, 64, 64, file), receives, writes(to, 6));
  ROW(fread, (to, 1, 3, file), receives, writes(to, 3));
  ROW(__fread_chk, (to, 64, 2, 1, file), receives, writes(to, 2));
  ROW(fgetc, (file), receives);
  ROW(getc, (file), receives);
  char* line = nullptr;
  size_t room = 0;
  Touched has[2] = {reads(&line, 8), reads(&room, 8)};
  ROW(getdelim, (&line, &room, '\n', file), has[0], has[1], receives, writes(&line, 8), writes(&room, 8),
      writes(line, 3));
  ROW(getline, (&line, &room, file), has[0], has[1], receives, writes(line, 5));
  int value = 0, other = 0;
  ROW(fscanf, (file, "%1d", &value), receives, writes(&value, 4));
  ROW(__isoc99_fscanf, (file, "%d%d", &value, &other), receives, writes(&value, 4));
  ROW(__isoc99_fscanf, (file, "%d", &value), receives);  // the end of the file
  ROW(fread, (to, 1, 3, file), receives);
  ROW(__getdelim, (&line, &room, '\n', file), has[0], has[1], receives);
  free(line);
  fclose(file);
  CHECK(freopen("/dev/null", "r", stdin));
  ROW(scanf, ("%d", &value), {"acquire_fd", number(0)});
  ROW(__isoc99_scanf, ("%d", &value), {"acquire_fd", number(0)});
  fpos_t at;
  FILE* self = fopen("/proc/self/exe", "r");
  ROW(fgetpos, (self, &at), writes(&at, sizeof at));
  fclose(self);
}

static int print_list(char* at, size_t n, int which, const char* format, ...) {
  va_list list;
  va_start(list, format);
  FILE* null = fopen("/dev/null", "w");
  int result = -1;
  char* made = nullptr;
  Touched format_read = reads(format, strlen(format) + 1), string = reads(text, 12);
  fake_clear();
  switch (which) {
    case 0:
      result = CALL(vsnprintf, at, n, format, list);
      expect_row("vsnprintf", {format_read, string, writes(at, n)});
      break;
    case 1:
      result = CALL(vsprintf, at, format, list);
      expect_row("vsprintf", {format_read, string, writes(at, 12)});
      break;
    case 2:
      result = CALL(__vsnprintf_chk, at, n, 1, n, format, list);
      expect_row("__vsnprintf_chk", {format_read, string, writes(at, n)});
      break;
    case 3:
      result = CALL(__vsprintf_chk, at, 1, 64, format, list);
      expect_row("__vsprintf_chk", {format_read, string, writes(at, 12)});
      break;
    case 4:
      result = CALL(vasprintf, &made, format, list);
      expect_row("vasprintf", {format_read, string, writes(&made, 8), writes(made, 12)});
      free(made);
      break;
    case 5:
      result = CALL(vfprintf, null, format, list);
      expect_row("vfprintf", {format_read, string, {"release_stream", number(fileno(null))}});
      break;
    case 6:
      result = CALL(vprintf, format, list);
      expect_row("vprintf", {format_read, string, {"release_stream", number(1)}});
      break;
  }
  va_end(list);
  fclose(null);
  return result;
}

static void formats() {
  int n = 0;
  short s = 0;
  ROW(snprintf, (to, 4, "%s", text), reads("%s", 3), reads(text, 12), writes(to, 4));
  ROW(snprintf, (nullptr, 0, "%s", text), reads("%s", 3), reads(text, 12));
  ROW(snprintf, (to, 64, "%.3s|%.*s", text, 5, text), reads("%.3s|%.*s", 10), reads(text, 3), reads(text, 5),
      writes(to, 10));
  ROW(snprintf, (to, 64, "%*d%%%5.2f%lu%c%p%s", 3, 7, 1.5, 1L, 'x', to, text),
      reads("%*d%%%5.2f%lu%c%p%s", 20), reads(text, 12), writes(to, strlen(to) + 1));
  ROW(snprintf, (to, 64, "%Lf%s", 1.5L, text), reads("%Lf%s", 6), reads(text, 12), writes(to, 20));
  ROW(snprintf, (to, 64, "%2$s %1$s", text, text), reads("%2$s %1$s", 10),
      writes(to, 24));  // by number: not looked at
  ROW(snprintf, (to, 64, "%s", static_cast<char*>(nullptr)), reads("%s", 3), writes(to, 7));
  ROW(snprintf, (to, 64, "%ls", L"ab"), reads("%ls", 4), reads(L"ab", 12), writes(to, 3));
  ROW(sprintf, (to, "ab%n%hn", &n, &s), reads("ab%n%hn", 8), writes(&n, 4), writes(&s, 2), writes(to, 3));
  ROW(__sprintf_chk, (to, 1, 64, "%d", 7), reads("%d", 3), writes(to, 2));
  ROW(__snprintf_chk, (to, 64, 1, 64, "%d", 7), reads("%d", 3), writes(to, 2));
  char* made = nullptr;
  fake_clear();
  CHECK(CALL(asprintf, &made, "%s", text) == 11);
  expect_row("asprintf", {reads("%s", 3), reads(text, 12), writes(&made, 8), writes(made, 12)});
  free(made);
  for (int which = 0; which < 7; ++which) CHECK(print_list(to, 6, which, "%s", text) == 11);
}

static int scan_list(int which, const char* from, const char* format, ...) {
  va_list list;
  va_start(list, format);
  int result = which == 0 ? CALL(vsscanf, from, format, list) : CALL(__isoc99_vsscanf, from, format, list);
  va_end(list);
  return result;
}

static void scans() {
  char line[] = "12 word x 3.5", word[16], *made = nullptr;
  int a = 0, b = 0, n = 0;
  char c = 0;
  double d = 0;
  ROW(sscanf, (line, "%d %15s %c %lf", &a, word, &c, &d), reads(line, 1), writes(&a, 4), writes(word, 5),
      writes(&c, 1), writes(&d, 8));
  ROW(__isoc99_sscanf, (line, "%d%n%d%n", &a, &n, &b, &n), reads(line, 1),
      writes(&a, 4));  // the second fails
  ROW(__isoc99_sscanf, (line, "%d%n %ms", &a, &n, &made), reads(line, 1), writes(&a, 4), writes(&n, 4),
      writes(&made, 8));
  free(made);
  ROW(__isoc99_sscanf, (line, "%*d %3[a-z]%[]x]", word, to), reads(line, 1), writes(word, 4));
  ROW(__isoc99_sscanf, (line, "%2c", word), reads(line, 1), writes(word, 2));
  ROW(__isoc99_sscanf, (line, "x%d", &a), reads(line, 1));
  fake_clear();
  CHECK(scan_list(0, line, "%d", &a) == 1);
  expect_row("vsscanf", {reads(line, 1), writes(&a, 4)});
  CHECK(scan_list(1, line, "%d", &a) == 1);
  expect_row("__isoc99_vsscanf", {reads(line, 1), writes(&a, 4)});
}

static void fortified() {
  ROW(__memcpy_chk, (to, text, 5, 64), reads(text, 5), writes(to, 5));
  ROW(__memmove_chk, (to, text, 5, 64), reads(text, 5), writes(to, 5));
  ROW(__mempcpy_chk, (to, text, 5, 64), reads(text, 5), writes(to, 5));
  ROW(__memset_chk, (to, 0, 5, 64), writes(to, 5));
  ROW(__strcpy_chk, (to, text, 64), reads(text, 12), writes(to, 12));
  ROW(__stpcpy_chk, (to, text, 64), reads(text, 12), writes(to, 12));
  ROW(__strncpy_chk, (to, text, 3, 64), reads(text, 3), writes(to, 3));
  strcpy(to, "ab");
  ROW(__strcat_chk, (to, text, 64), reads(text, 12), reads(to, 3), writes(to + 2, 12));
  strcpy(to, "ab");
  ROW(__strncat_chk, (to, text, 5, 64), reads(text, 5), reads(to, 3), writes(to + 2, 6));
}

static void times() {
  time_t now = 1'000'000;
  tm broken = {};
  timespec t;
  timeval v;
  ROW(time, (&now), writes(&now, 8));
  ROW(clock_gettime, (CLOCK_MONOTONIC, &t), writes(&t, sizeof t));
  ROW(clock_gettime, (-1000, &t), );
  ROW(timespec_get, (&t, TIME_UTC), writes(&t, sizeof t));
  ROW(gettimeofday, (&v, nullptr), writes(&v, sizeof v));
  ROW(localtime_r, (&now, &broken), reads(&now, 8), writes(&broken, sizeof broken));
  ROW(gmtime_r, (&now, &broken), reads(&now, 8), writes(&broken, sizeof broken));
  ROW(asctime_r, (&broken, to), reads(&broken, sizeof broken), writes(to, 26));
  ROW(ctime_r, (&now, to), reads(&now, 8), writes(to, 26));
  ROW(mktime, (&broken), writes(&broken, sizeof broken));
  ROW(timegm, (&broken), writes(&broken, sizeof broken));
  ROW(strftime, (to, 64, "%Y", &broken), reads("%Y", 3), writes(to, 5));
  ROW(strftime, (to, 2, "%Y", &broken), reads("%Y", 3));
  ROW(strptime, ("1999x", "%Y", &broken), reads("%Y", 3), reads("1999x", 4));
}

static void files() {
  char folder[] = "/tmp/duress_library_XXXXXX", path[64], renamed[64];
  CHECK(mkdtemp(folder));
  size_t name = strlen(folder) + 3;
  strcat(strcpy(path, folder), "/a"), strcat(strcpy(renamed, folder), "/b");
  struct stat status;
  struct statvfs system;
  ROW(stat, (folder, &status), reads(folder, name - 2), writes(&status, sizeof status));
  ROW(stat, (path, &status), );
  ROW(stat, (reinterpret_cast<char*>(1), &status), );
  ROW(lstat, (folder, &status), reads(folder, name - 2), writes(&status, sizeof status));
  ROW(fstat, (0, &status), writes(&status, sizeof status));
  ROW(fstatat, (AT_FDCWD, folder, &status, 0), reads(folder, name - 2), writes(&status, sizeof status));
  ROW(statvfs, (folder, &system), reads(folder, name - 2), writes(&system, sizeof system));
  ROW(chdir, (folder), reads(folder, name - 2));
  fake_clear();
  char* here = CALL(getcwd, to, sizeof to);
  expect_row("getcwd", {writes(here, strlen(here) + 1)});
  ROW(strerror_r, (ENOENT, to, 64), );
  ROW(strerror_r, (-1, to, 64), writes(to, strlen(to) + 1));
  ROW(strerror_r, (-1, to, 4), writes(to, 4));
  ROW(__xpg_strerror_r, (ENOENT, to, 64), writes(to, strlen(to) + 1));
  ROW(realpath, (folder, to), reads(folder, name - 2), writes(to, strlen(to) + 1));
  ROW(mkdir, (path, 0700), reads(path, name));
  ROW(access, (path, F_OK), reads(path, name));
  ROW(rename, (path, renamed), reads(path, name), reads(renamed, name));
  ROW(rmdir, (renamed), reads(renamed, name));
  CHECK(symlink("target", path) == 0);
  ROW(readlink, (path, to, 64), reads(path, name), writes(to, 6));
  ROW(unlink, (path), reads(path, name));
  for (int which = 0; which < 2; ++which) {
    fake_clear();
    FILE* file = which == 0 ? CALL(fopen, path, "w") : CALL(fopen64, path, "w");
    expect_row(which == 0 ? "fopen" : "fopen64", {reads(path, name), reads("w", 2)});
    fclose(file);
  }
  ROW(remove, (path), reads(path, name));
  char pattern[] = "XXXXXX";
  fake_clear();
  int fd = CALL(mkstemp, pattern);
  expect_row("mkstemp", {writes(pattern, 6)});
  close(fd), unlink(pattern);
  CHECK(chdir("/") == 0 && rmdir(folder) == 0);
}

static void names() {
  ROW(getenv, ("PATH"), reads("PATH", 5));
  ROW(setenv, ("DURESS_TEST", text, 1), reads("DURESS_TEST", 12), reads(text, 12));
  ROW(gethostname, (to, sizeof to), writes(to, strlen(to) + 1));
  utsname system;
  ROW(uname, (&system), writes(&system, sizeof system));
  addrinfo hints = {}, *found = nullptr;
  hints.ai_flags = AI_NUMERICHOST;
  ROW(getaddrinfo, ("127.0.0.1", nullptr, &hints, &found), reads("127.0.0.1", 10),
      reads(&hints, sizeof hints), writes(&found, 8));
  freeaddrinfo(found);
  in_addr address = {};
  ROW(inet_pton, (AF_INET, "127.0.0.1", &address), reads("127.0.0.1", 10), writes(&address, 4));
  ROW(inet_pton, (AF_INET, "x", &address), );
  ROW(inet_ntop, (AF_INET, &address, to, 64), reads(&address, 4), writes(to, 10));
  int fd = socket(AF_INET, SOCK_STREAM, 0), kind = 0;
  sockaddr_in bound = {}, self;
  bound.sin_family = AF_INET, bound.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(bind(fd, reinterpret_cast<sockaddr*>(&bound), sizeof bound) == 0);
  socklen_t size = sizeof kind;
  ROW(getsockopt, (fd, SOL_SOCKET, SO_TYPE, &kind, &size), writes(&size, 4), writes(&kind, 4));
  size = sizeof self;
  ROW(getsockname, (fd, reinterpret_cast<sockaddr*>(&self), &size), writes(&size, 4),
      writes(&self, sizeof self));
  ROW(getpeername, (fd, reinterpret_cast<sockaddr*>(&self), &size), );
  close(fd);
  regex_t expression;
  regmatch_t match[1];
  ROW(regcomp, (&expression, "w.r", 0), reads("w.r", 4), writes(&expression, sizeof expression));
  ROW(regexec, (&expression, text, 1, match, 0), reads(&expression, sizeof expression), reads(text, 12),
      writes(match, sizeof match));
  ROW(regexec, (&expression, "none", 1, match, 0), reads(&expression, sizeof expression), reads("none", 5));
  ROW(regfree, (&expression), writes(&expression, sizeof expression));
  iconv_t conversion = iconv_open("UTF-16LE", "UTF-8");
  char *in = text, *out = to;
  size_t left = 5, room = 64;
  ROW(iconv, (conversion, &in, &left, &out, &room), reads(text, 5), writes(&in, 8), writes(&left, 8),
      writes(to, 10), writes(&out, 8), writes(&room, 8));
  iconv_close(conversion);
}

int main() {
  fake_set_awake(1);
  streams();
  input();
  formats();
  scans();
  fortified();
  times();
  files();
  names();
  expect_all_rows("puts", "iconv");
  return 0;
}
