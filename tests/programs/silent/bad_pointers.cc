// SPDX-License-Identifier: Apache-2.0
//
// Addresses that the kernel refuses, passed to calls that are intercepted: the answer is EFAULT, not a crash.
//
// EXPECT-NO-RACE
// EXPECT-OUTPUT: all refused
// SUITE: fast
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <thread>

void refused(const char* what, long result) {
  if (result == -1 && errno == EFAULT) return;
  std::printf("%s: %ld, errno %d\n", what, result, errno);
  std::exit(1);
}

template <typename T>
void try_all(T* bad) {
  int ends[2], set = epoll_create1(0);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || write(ends[1], "text", 4) != 4) std::exit(1);
  void* p = bad;
  char text[4];
  refused("epoll_ctl", epoll_ctl(set, EPOLL_CTL_ADD, ends[0], static_cast<epoll_event*>(p)));
  refused("write", write(ends[0], p, 4));
  refused("writev", writev(ends[0], static_cast<iovec*>(p), 2));
  refused("send", send(ends[0], p, 4, 0));
  refused("sendmsg", sendmsg(ends[0], static_cast<msghdr*>(p), 0));
  refused("sendmmsg", sendmmsg(ends[0], static_cast<mmsghdr*>(p), 1, 0));
  refused("poll", poll(static_cast<pollfd*>(p), 1, 0));
  refused("recvfrom", recvfrom(ends[0], text, 4, 0, static_cast<sockaddr*>(p), static_cast<socklen_t*>(p)));
  if (write(ends[1], "text", 4) != 4) std::exit(1);
  refused("read", read(ends[0], p, 4));
  refused("readv", readv(ends[0], static_cast<iovec*>(p), 1));
  refused("recvmsg", recvmsg(ends[0], static_cast<msghdr*>(p), 0));
  for (int fd : {ends[0], ends[1], set}) close(fd);
}

int main() {
  std::thread([] {
    try_all(reinterpret_cast<char*>(8));
    // The last readable bytes of a page: what is passed begins there and goes on where nothing is.
    long page = sysconf(_SC_PAGESIZE);
    auto* pages = static_cast<char*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    munmap(pages + page, page);
    try_all(pages + page - 2);
  }).join();
  std::puts("all refused");
  return 0;
}
