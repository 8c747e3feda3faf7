// SPDX-License-Identifier: Apache-2.0
#include "runtime/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/raw.h"

namespace duress {
namespace {

constexpr long kFlags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC;

long open_folder_of(const char* path, size_t length) {
  char folder[4096];
  if (length >= sizeof folder) return -ENAMETOOLONG;
  memcpy(folder, path, length);
  folder[length] = 0;
  return raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(folder), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/// A file that is there already: this process has called exec, or lost its descriptor.
long open_known(long folder, const char* name, uid_t user) {
  // A FIFO must not block.
  long fd = raw_syscall(SYS_openat, folder, reinterpret_cast<long>(name), kFlags | O_NONBLOCK);
  if (fd < 0) return fd;
  struct stat s = {};
  if (raw_syscall(SYS_fstat, fd, reinterpret_cast<long>(&s)) == 0 && S_ISREG(s.st_mode) && s.st_uid == user &&
      s.st_nlink == 1)
    return fd;
  raw_syscall(SYS_close, fd);
  return -EPERM;
}

}  // namespace

bool has_raised_privileges() {
  return getauxval(AT_SECURE) != 0;
}

long open_own_file(const char* path) {
  const char* name = strrchr(path, '/') + 1;
  long folder = open_folder_of(path, static_cast<size_t>(name - path));
  if (folder < 0) return folder;
  auto user = static_cast<uid_t>(raw_syscall(SYS_geteuid));
  struct stat s = {};
  long result = raw_syscall(SYS_fstat, folder, reinterpret_cast<long>(&s));
  if (result == 0 && s.st_uid != user && s.st_uid != 0) result = -EPERM;
  if (result == 0)
    result = raw_syscall(SYS_openat, folder, reinterpret_cast<long>(name), kFlags | O_CREAT | O_EXCL, 0600);
  if (result == -EEXIST) result = open_known(folder, name, user);
  raw_syscall(SYS_close, folder);
  return result;
}

}  // namespace duress
