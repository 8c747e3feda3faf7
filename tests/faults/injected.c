// SPDX-License-Identifier: Apache-2.0
//
// Faults in the host, at a moment that is counted in calls: a library for LD_PRELOAD. It works in programs that are
// called INJECT_NAME. The calls of a kind are counted; the INJECT_AT-th fails, and INJECT_FOR - 1 after it.
//   memory     malloc, calloc, realloc, operator new
//   files      open, openat, pipe2, memfd_create: EMFILE
//   room       write, pwrite, ftruncate, fsync of regular files: ENOSPC
//   processes  fork, pthread_create: EAGAIN
//   clock      the time of day is a year ago, and after the next call a year ahead, and so on
//   kill       SIGKILL when a file is opened, or a regular one written to
// INJECT_COUNT=FILE: how many calls there were is written to it at the end, or when the fault came.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum Kind { kNone, kMemory, kFiles, kRoom, kProcesses, kClock, kKill };
static const char* const names[] = {"", "memory", "files", "room", "processes", "clock", "kill"};

static enum Kind kind;
static long first, length;
static _Atomic long calls;
static _Atomic int ready;
static pid_t owner;
static char path[4096];  // of INJECT_COUNT: a worker of a campaign has another environment at its end

static void count_to_file(void) {
  if (path[0] == '\0' || kind == kNone || getpid() != owner) return;
  char text[24];
  int size = snprintf(text, sizeof text, "%ld", (long)calls);
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file >= 0 && syscall(SYS_write, file, text, size) == size) syscall(SYS_close, file);
}

__attribute__((constructor)) static void prepare(void) {
  const char *name = getenv("INJECT_NAME"), *what = getenv("INJECT_KIND"), *at = getenv("INJECT_AT");
  if (name == NULL || what == NULL || at == NULL || strcmp(program_invocation_short_name, name) != 0) return;
  const char* count = getenv("INJECT_FOR");
  first = atol(at);
  length = count != NULL ? atol(count) : 1;
  for (int i = kMemory; i <= kKill; ++i) {
    if (strcmp(what, names[i]) == 0) kind = (enum Kind)i;
  }
  const char* file = getenv("INJECT_COUNT");
  if (file != NULL && strlen(file) < sizeof path) strcpy(path, file);
  owner = getpid();
  atexit(count_to_file);
  ready = 1;
}

static int fails(enum Kind wanted) {
  if (!ready || kind != wanted || getpid() != owner) return 0;
  long number = ++calls;
  return number >= first && number < first + length;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);

static void* no_memory(void) {
  errno = ENOMEM;
  return NULL;
}
void* malloc(size_t size) {
  return fails(kMemory) ? no_memory() : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  return fails(kMemory) ? no_memory() : __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  return fails(kMemory) ? no_memory() : __libc_realloc(old, size);
}

static void die(void) {
  if (!fails(kKill)) return;
  count_to_file();
  kill(getpid(), SIGKILL);
}

static int no_file(void) {
  errno = EMFILE;
  return -1;
}
#define OPENING(name, ...)             \
  int flags_mode = 0;                  \
  if (flags & (O_CREAT | O_TMPFILE)) { \
    va_list list;                      \
    va_start(list, flags);             \
    flags_mode = va_arg(list, int);    \
    va_end(list);                      \
  }                                    \
  die();                               \
  return fails(kFiles) ? no_file() : REAL(name)(__VA_ARGS__, flags, flags_mode)
int open(const char* name, int flags, ...) {
  OPENING(open, name);
}
int open64(const char* name, int flags, ...) {
  OPENING(open64, name);
}
int openat(int folder, const char* name, int flags, ...) {
  OPENING(openat, folder, name);
}
int openat64(int folder, const char* name, int flags, ...) {
  OPENING(openat64, folder, name);
}
int pipe2(int* ends, int flags) {
  return fails(kFiles) ? no_file() : REAL(pipe2)(ends, flags);
}
int memfd_create(const char* name, unsigned flags) {
  return fails(kFiles) ? no_file() : REAL(memfd_create)(name, flags);
}

static int is_file(int file) {
  struct stat info;
  return ready && file > 2 && fstat(file, &info) == 0 && S_ISREG(info.st_mode);
}
static long no_room(void) {
  errno = ENOSPC;
  return -1;
}
static void die_at(int file) {
  if (kind == kKill && is_file(file)) die();
}
ssize_t write(int file, const void* data, size_t size) {
  die_at(file);
  return kind == kRoom && is_file(file) && fails(kRoom) ? no_room() : REAL(write)(file, data, size);
}
ssize_t pwrite64(int file, const void* data, size_t size, off64_t at) {
  die_at(file);
  return kind == kRoom && is_file(file) && fails(kRoom) ? no_room() : REAL(pwrite64)(file, data, size, at);
}
ssize_t pwrite(int file, const void* data, size_t size, off_t at) {
  return pwrite64(file, data, size, at);
}
int ftruncate64(int file, off64_t size) {
  return kind == kRoom && is_file(file) && fails(kRoom) ? (int)no_room() : REAL(ftruncate64)(file, size);
}
int ftruncate(int file, off_t size) {
  return ftruncate64(file, size);
}
int fsync(int file) {
  return kind == kRoom && is_file(file) && fails(kRoom) ? (int)no_room() : REAL(fsync)(file);
}
int fdatasync(int file) {
  return kind == kRoom && is_file(file) && fails(kRoom) ? (int)no_room() : REAL(fdatasync)(file);
}

pid_t fork(void) {
  if (fails(kProcesses)) {
    errno = EAGAIN;
    return -1;
  }
  return REAL(fork)();
}
int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) {
  return fails(kProcesses) ? EAGAIN : REAL(pthread_create)(id, attributes, function, argument);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (clock == CLOCK_REALTIME && ready && kind == kClock) {
    long number = ++calls;
    if (number >= first) now->tv_sec += (number % 2 ? -1 : 1) * 365L * 86400;
  }
  return result;
}
time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}
int gettimeofday(struct timeval* out, void* zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}
