// SPDX-License-Identifier: Apache-2.0
//
// send and recv on a socket pair order as a pipe does; so do writev, readv and closing.
//
// EXPECT-NO-RACE
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <thread>

int data = 0;
int ends[2];

int main() {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  std::thread other([] {
    char byte;
    if (recv(ends[1], &byte, 1, 0) != 1) return;
    data *= 2;
    iovec part{&byte, 1};
    if (writev(ends[1], &part, 1) != 1) return;
  });
  data = 21;
  if (send(ends[0], "x", 1, 0) != 1) return 1;
  char byte;
  iovec part{&byte, 1};
  if (readv(ends[0], &part, 1) != 1) return 1;
  int seen = data;
  other.join();
  return seen == 42 ? 0 : 1;
}
