// SPDX-License-Identifier: Apache-2.0
#include "runtime/log.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "runtime/own_file.h"

namespace duress {

static constexpr int kHighDescriptor = 900;  // out of the way of programs that count on low numbers

/// Moves a descriptor out of the way, if the limit on descriptors allows it.
static long moved_up(long fd) {
  long high = raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kHighDescriptor);
  if (high < 0) return fd;
  raw_syscall(SYS_close, fd);
  return high;
}

/// Makes the table of descriptors large enough while this process has one thread. Later the kernel waits
/// for a grace period of all processors before it hands out a larger one, which was 5 to 11 ms of each
/// replay with something to log. The descriptor stays, so that forked executions get the large table.
static void grow_descriptor_table() {
  static bool grown = false;
  if (grown) return;  // a forked execution
  grown = true;
  long root = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/"), O_PATH | O_CLOEXEC, 0);
  if (root < 0) return;
  if (long high = moved_up(root); high == root) raw_syscall(SYS_close, high);
}

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
  own_bytes_ = 0;
  bytes_ = &own_bytes_;
  return true;
}

bool Log::open(const char* dir) {
  return set_path(dir) && reopen();
}

bool Log::open_later(const char* dir, void (*first)()) {
  if (!set_path(dir)) return false;
  grow_descriptor_table();
  first_ = first;
  return true;
}

bool Log::reopen() {
  long fd = open_own_file(path_);
  if (fd < 0) return false;
  fd = moved_up(fd);
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
  // Counted whether it is written or not: in a sandbox nothing but the record can say that a line was lost.
  *bytes_ += line.size();
  if (!(ours || reopen()) || !write_all(fd_, line.data(), line.size())) lost();
}

void Log::lost() {
  char mark[sizeof path_ + sizeof trail::kWholeMark];
  auto folder = static_cast<size_t>(strrchr(path_, '/') + 1 - path_);
  memcpy(mark, path_, folder);
  memcpy(mark + folder, trail::kWholeMark, sizeof trail::kWholeMark);
  raw_syscall(SYS_unlink, reinterpret_cast<long>(mark));
}

}  // namespace duress
