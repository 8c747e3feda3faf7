// SPDX-License-Identifier: Apache-2.0
//
// Descriptors that are closed by one thread after another used them: ordered by what came through them, or by
// nothing but that the number meant something else by then.
//
// EXPECT-NO-RACE
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "invisible_barrier.h"

int through[2];
int reused = -1, step = 0;

/// Closed and opened again where nobody sees it, as inside the C library.
__attribute__((noinline)) void open_again_unseen() {
  syscall(SYS_close, reused);
  if (open("/dev/zero", O_RDONLY) != reused) abort();
}

int main() {
  if (pipe(through) != 0) return 1;
  reused = open("/dev/null", O_WRONLY);
  std::thread one([] {
    invisible_start(2);
    char byte = 0;
    if (write(reused, &byte, 1) != 1) abort();
    open_again_unseen();
    invisible_signal(&step);
    if (write(through[1], &byte, 1) != 1) abort();
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    char byte = 0;
    if (read(reused, &byte, 1) != 1) abort();
    close(reused);
    if (read(through[0], &byte, 1) != 1) abort();
    close(through[1]);
    close(through[0]);
  });
  one.join();
  two.join();
  return 0;
}
