// SPDX-License-Identifier: Apache-2.0
//
// An eventfd, waited for with poll and epoll.
//
// EXPECT-NO-RACE
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

int data = 0;

int main() {
  int go = eventfd(0, 0), done = eventfd(0, EFD_NONBLOCK);
  std::thread other([=] {
    uint64_t count;
    if (read(go, &count, sizeof count) != sizeof count) return;
    data *= 2;
    uint64_t one = 1;
    if (write(done, &one, sizeof one) != sizeof one) return;
  });
  data = 21;
  uint64_t one = 1;
  if (write(go, &one, sizeof one) != sizeof one) return 1;
  int epoll = epoll_create1(0);
  epoll_event event{EPOLLIN, {}};
  epoll_ctl(epoll, EPOLL_CTL_ADD, done, &event);
  if (epoll_wait(epoll, &event, 1, -1) != 1) return 1;
  pollfd wanted{done, POLLIN, 0};
  if (poll(&wanted, 1, -1) != 1) return 1;
  uint64_t count;
  if (read(done, &count, sizeof count) != sizeof count) return 1;
  int seen = data;
  other.join();
  return seen == 42 ? 0 : 1;
}
