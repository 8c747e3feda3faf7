// SPDX-License-Identifier: Apache-2.0
#include "runtime/log.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace duress {

static constexpr int kHighDescriptor = 900;  // out of the way of programs that count on low numbers

bool Log::set_path(const char* dir) {
  size_t n = strlen(dir);
  if (n + 32 > sizeof path_) return false;
  memcpy(path_, dir, n);
  path_[n++] = '/';
  char digits[12];
  int count = 0;
  for (int pid = process_number(); pid; pid /= 10) digits[count++] = static_cast<char>('0' + pid % 10);
  while (count) path_[n++] = digits[--count];
  memcpy(path_ + n, ".jsonl", 7);
  fd_ = -1;
  first_ = nullptr;
  return true;
}

bool Log::open(const char* dir) {
  return set_path(dir) && reopen();
}

bool Log::open_later(const char* dir, void (*first)()) {
  if (!set_path(dir)) return false;
  first_ = first;
  return true;
}

bool Log::reopen() {
  long fd = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path_),
                        O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return false;
  long high = raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kHighDescriptor);
  if (high >= 0) {
    raw_syscall(SYS_close, fd);
    fd = high;
  }
  fd_ = static_cast<int>(fd);
  struct stat s = {};
  raw_syscall(SYS_fstat, fd, reinterpret_cast<long>(&s));
  device_ = s.st_dev;
  inode_ = s.st_ino;
  return true;
}

void Log::write(Text& line) {
  if (DURESS_UNLIKELY(first_ != nullptr)) {
    auto* first = first_;
    first_ = nullptr;
    first();
  }
  line.put('\n');
  SpinGuard guard(lock_);
  struct stat s = {};
  bool ours = fd_ >= 0 && raw_syscall(SYS_fstat, fd_, reinterpret_cast<long>(&s)) == 0 &&
              s.st_dev == device_ && s.st_ino == inode_;
  if (!ours && !reopen()) return;
  write_all(fd_, line.data(), line.size());
}

}  // namespace duress
