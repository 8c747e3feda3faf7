// SPDX-License-Identifier: Apache-2.0
//
// A thread that is told that a descriptor is ready comes after the write, though it never reads: by epoll, with a pointer as data, by
// poll and by select. And a close of a descriptor is then ordered after that write.
//
// EXPECT-NO-RACE
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

int payload[3];

void post(int fd, int index) {
  payload[index] = index + 1;
  std::uint64_t one = 1;
  if (write(fd, &one, sizeof one) != sizeof one) __builtin_trap();
}

int main() {
  int fds[3] = {eventfd(0, 0), eventfd(0, 0), eventfd(0, 0)};
  int set = epoll_create1(0);
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLET;
  event.data.ptr = &payload[0];
  if (epoll_ctl(set, EPOLL_CTL_ADD, fds[0], &event) != 0) return 1;
  std::thread writer([&fds] {
    for (int i = 0; i < 3; ++i) post(fds[i], i);
  });
  epoll_event ready = {};
  if (epoll_wait(set, &ready, 1, -1) != 1) return 2;
  int sum = *static_cast<int*>(ready.data.ptr);
  close(fds[0]);
  pollfd one = {fds[1], POLLIN, 0};
  if (poll(&one, 1, -1) != 1) return 3;
  sum += payload[1];
  fd_set in;
  FD_ZERO(&in);
  FD_SET(fds[2], &in);
  if (select(fds[2] + 1, &in, nullptr, nullptr, nullptr) != 1) return 4;
  sum += payload[2];
  writer.join();
  return sum == 6 ? 0 : 5;
}
