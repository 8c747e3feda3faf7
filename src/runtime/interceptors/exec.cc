// SPDX-License-Identifier: Apache-2.0
//
// Replacing the process image: the log says so before it happens. Inside the C library the variants call each
// other by private names, so each has an interceptor; those with a list of arguments make an array of it.
// posix_spawn, system and popen need none: their child never runs code of the program.
#include <errno.h>
#include <unistd.h>

#include <cstdarg>

#include "runtime/interceptors/real.h"

using namespace duress;

static void about_to_exec(const char* path) {
  if (awake()) before_exec(path ? path : "");
}

DURESS_INTERCEPTOR(int, execve, (const char* path, char* const* arguments, char* const* environment)) {
  about_to_exec(path);
  return DURESS_REAL(execve)(path, arguments, environment);
}

DURESS_INTERCEPTOR(int, execv, (const char* path, char* const* arguments)) {
  about_to_exec(path);
  return DURESS_REAL(execv)(path, arguments);
}

DURESS_INTERCEPTOR(int, execvp, (const char* file, char* const* arguments)) {
  about_to_exec(file);
  return DURESS_REAL(execvp)(file, arguments);
}

DURESS_INTERCEPTOR(int, execvpe, (const char* file, char* const* arguments, char* const* environment)) {
  about_to_exec(file);
  return DURESS_REAL(execvpe)(file, arguments, environment);
}

DURESS_INTERCEPTOR(int, fexecve, (int fd, char* const* arguments, char* const* environment)) {
  about_to_exec("(a descriptor)");
  return DURESS_REAL(fexecve)(fd, arguments, environment);
}

DURESS_INTERCEPTOR(int, execveat,
                   (int directory, const char* path, char* const* arguments, char* const* environment,
                    int flags)) {
  about_to_exec(path);
  return DURESS_REAL(execveat)(directory, path, arguments, environment, flags);
}

// `list` is at the argument after `first`. The array lies on the stack, as after fork nothing else is safe.
#define DURESS_ARGUMENTS(array, first, list)                                                \
  va_list list##_to_count;                                                                  \
  va_copy(list##_to_count, list);                                                           \
  size_t array##_count = 1;                                                                 \
  for (const char* a = first; a; a = va_arg(list##_to_count, const char*)) ++array##_count; \
  va_end(list##_to_count);                                                                  \
  auto** array = static_cast<char**>(__builtin_alloca(array##_count * sizeof(char*)));      \
  array[0] = const_cast<char*>(first);                                                      \
  for (size_t i = 1; i < array##_count; ++i) array[i] = va_arg(list, char*)

DURESS_INTERCEPTOR(int, execl, (const char* path, const char* first, ...)) {
  va_list list;
  va_start(list, first);
  DURESS_ARGUMENTS(arguments, first, list);
  va_end(list);
  about_to_exec(path);
  return DURESS_REAL(execv)(path, arguments);
}

DURESS_INTERCEPTOR(int, execlp, (const char* file, const char* first, ...)) {
  va_list list;
  va_start(list, first);
  DURESS_ARGUMENTS(arguments, first, list);
  va_end(list);
  about_to_exec(file);
  return DURESS_REAL(execvp)(file, arguments);
}

DURESS_INTERCEPTOR(int, execle, (const char* path, const char* first, ...)) {
  va_list list;
  va_start(list, first);
  DURESS_ARGUMENTS(arguments, first, list);
  char* const* environment = va_arg(list, char**);
  va_end(list);
  about_to_exec(path);
  return DURESS_REAL(execve)(path, arguments, environment);
}
