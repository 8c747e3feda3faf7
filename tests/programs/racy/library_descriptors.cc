// SPDX-License-Identifier: Apache-2.0
//
// What functions for descriptors read and write beside the buffer: arrays of poll and epoll, parts, addresses.
//
// EXPECT-RACE: pollfd::events write-read
// EXPECT-RACE: pollfd::revents write-write
// EXPECT-RACE: epoll_event::events write-write
// EXPECT-RACE: epoll_event::events write-read
// EXPECT-RACE: iovec::iov_base write-read
// EXPECT-RACE: sockaddr_in::sin_family write-write
// EXPECT-RACE: sender_size write-write
// OTHER-TOOLS: differ (names)
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <thread>

#include "invisible_barrier.h"

pollfd asked[1], answered[1];
epoll_event events[1], wanted;
iovec parts[1];
sockaddr_in sender;
socklen_t sender_size;
int ends[2], set, step = 0;
char text[8];

void store_all() {
  asked[0].events = POLLIN;
  answered[0].revents = 0;
  events[0].events = 0;
  wanted.events = EPOLLIN;
  parts[0].iov_base = text;
  sender.sin_family = 0;
  sender_size = sizeof sender;
}

void use_all(int datagrams) {
  char byte;
  if (poll(asked, 1, 0) != 1 || poll(answered, 1, 0) != 1) __builtin_trap();
  if (epoll_ctl(set, EPOLL_CTL_MOD, ends[0], &wanted) != 0 || epoll_wait(set, events, 1, 0) != 1)
    __builtin_trap();
  if (writev(ends[1], parts, 1) != 1) __builtin_trap();
  if (recvfrom(datagrams, &byte, 1, 0, reinterpret_cast<sockaddr*>(&sender), &sender_size) != 1)
    __builtin_trap();
}

/// A socket that has got a datagram from itself.
int make_datagrams() {
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in self = {};
  self.sin_family = AF_INET;
  self.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof self;
  auto* address = reinterpret_cast<sockaddr*>(&self);
  if (bind(fd, address, size) != 0 || getsockname(fd, address, &size) != 0) __builtin_trap();
  if (sendto(fd, "x", 1, 0, address, size) != 1) __builtin_trap();
  return fd;
}

int main() {
  if (pipe(ends) != 0 || write(ends[1], "x", 1) != 1) return 1;
  asked[0] = answered[0] = {ends[0], POLLIN, 0};
  parts[0].iov_len = 1;
  set = epoll_create1(0);
  wanted.events = EPOLLIN;
  epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &wanted);
  int datagrams = make_datagrams();
  std::thread one([] {
    invisible_start(2);
    store_all();
    invisible_signal(&step);
  });
  std::thread two([=] {
    invisible_start(2);
    invisible_wait(&step, 1);
    use_all(datagrams);
  });
  one.join();
  two.join();
  return 0;
}
