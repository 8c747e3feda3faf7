// SPDX-License-Identifier: Apache-2.0
//
// System calls that the program makes by itself, announced by <sanitizer/linux_syscall_hooks.h>: a pipe orders, and
// the kernel writes what is read. The wrong half announces nothing of the pipe's write.
//
// WRONG: shared_value
#include <sys/syscall.h>
#include <unistd.h>

#include <cassert>
#include <thread>

extern "C" {
void __sanitizer_syscall_pre_impl_write(long fd, long buffer, long size);
void __sanitizer_syscall_post_impl_write(long result, long fd, long buffer, long size);
void __sanitizer_syscall_pre_impl_read(long fd, long buffer, long size);
void __sanitizer_syscall_post_impl_read(long result, long fd, long buffer, long size);
void __sanitizer_syscall_pre_impl_getpid();
void __sanitizer_syscall_post_impl_getpid(long result);
}

static int shared_value;

/// Not through the C library, whose calls are intercepted.
static long system_call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}

int main() {
  int ends[2];
  if (pipe(ends)) return 1;
  char received = 0, sent = 'x';
  std::thread other([&] {
    shared_value = 1;
    const long buffer = reinterpret_cast<long>(&sent);
#ifndef WRONG
    __sanitizer_syscall_pre_impl_write(ends[1], buffer, 1);
#endif
    long result = system_call(SYS_write, ends[1], buffer, 1);
    __sanitizer_syscall_post_impl_write(result, ends[1], buffer, 1);
  });
  const long buffer = reinterpret_cast<long>(&received);
  __sanitizer_syscall_pre_impl_read(ends[0], buffer, 1);
  long result = system_call(SYS_read, ends[0], buffer, 1);
  __sanitizer_syscall_post_impl_read(result, ends[0], buffer, 1);
  assert(result == 1 && received == 'x');
  shared_value++;
  __sanitizer_syscall_pre_impl_getpid();
  __sanitizer_syscall_post_impl_getpid(getpid());
  other.join();
  return 0;
}
