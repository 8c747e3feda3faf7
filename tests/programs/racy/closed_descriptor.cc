// SPDX-License-Identifier: Apache-2.0
//
// Descriptors that one thread closes, or replaces by another, while a second one uses them.
//
// EXPECT-RACE: *duress_file_descriptors* read-write
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "invisible_barrier.h"

int closed[2], replaced[2], sockets[2];
int step = 0;

int main() {
  char byte = 0;
  if (pipe(closed) != 0 || pipe(replaced) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 1;
  std::thread one([&byte] {
    invisible_start(2);
    if (write(closed[1], &byte, 1) != 1 || write(replaced[1], &byte, 1) != 1) __builtin_trap();
    if (send(sockets[0], &byte, 1, 0) != 1) __builtin_trap();
    invisible_signal(&step);
  });
  std::thread two([] {
    invisible_start(2);
    invisible_wait(&step, 1);
    close(closed[1]);
    dup2(2, replaced[1]);
    close(sockets[0]);
  });
  one.join();
  two.join();
  return 0;
}
