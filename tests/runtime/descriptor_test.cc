// SPDX-License-Identifier: Apache-2.0
//
// Descriptors, transfers through them, and mappings.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "fake_sync.h"

static const void* fd(int n) {
  return reinterpret_cast<const void*>(static_cast<size_t>(n));
}

static void pipes() {
  int p[2];
  char out[] = "hello", in[8];
  CHECK(pipe(p) == 0);
  EXPECT_EVENTS({"forget_fd", fd(p[0])}, {"forget_fd", fd(p[1])}, {"pair_fds", fd(p[0])});
  CHECK(write(p[1], out, 5) == 5);
  CHECK(fake_detail(fake_find("read", out, 0)) == 5);
  CHECK(read(p[0], in, 8) == 5 && memcmp(in, out, 5) == 0);
  CHECK(fake_detail(fake_find("written", in, 0)) == 5);
  EXPECT_EVENTS({"read", out}, {"release_fd", fd(p[1])}, {"acquire_fd", fd(p[0])}, {"written", in});
  iovec give[2] = {{out, 2}, {out + 2, 3}}, take[3] = {{in, 1}, {in + 1, 3}, {in + 4, 4}};
  CHECK(writev(p[1], give, 2) == 5 && readv(p[0], take, 3) == 5);
  CHECK(fake_detail(fake_find("written", in + 4, 0)) == 1);
  EXPECT_EVENTS({"read", give}, {"read", out}, {"read", out + 2}, {"release_fd", fd(p[1])}, {"read", take},
                {"acquire_fd", fd(p[0])}, {"written", in}, {"written", in + 1}, {"written", in + 4});
  CHECK(close(p[1]) == 0 && read(p[0], in, 8) == 0);  // end of file
  EXPECT_EVENTS({"release_fd", fd(p[1])}, {"forget_fd", fd(p[1])}, {"acquire_fd", fd(p[0])});
  int copy = dup(p[0]), other = fcntl(p[0], F_DUPFD_CLOEXEC, 0);
  CHECK(copy >= 0 && other >= 0 && dup2(p[0], copy) == copy && fcntl(p[0], F_GETFD) == 0);
  EXPECT_EVENTS({"forget_fd", fd(copy)}, {"duplicate_fd", fd(p[0])}, {"forget_fd", fd(other)},
                {"duplicate_fd", fd(p[0])}, {"release_fd", fd(copy)}, {"forget_fd", fd(copy)},
                {"duplicate_fd", fd(p[0])});
  close(copy), close(other), close(p[0]);
  fake_clear();
  CHECK(read(-1, in, 8) == -1 && errno == EBADF);
  EXPECT_NO_EVENTS();
  CHECK(pipe2(p, O_NONBLOCK) == 0);
  fake_clear();
  CHECK(read(p[0], in, 8) == -1 && errno == EAGAIN);
  EXPECT_NO_EVENTS();
  close(p[0]), close(p[1]);
}

/// A use is told before the transfer, a close before the descriptor is gone: of one that was used.
static void as_objects() {
  int p[2];
  char byte = 0;
  CHECK(pipe(p) == 0);
  fake_clear();
  CHECK(write(p[1], &byte, 1) == 1);
  int used = fake_find("used", nullptr, 0);
  CHECK(used == 0 && fake_find("release_fd", fd(p[1]), 0) > used);
  CHECK(close(p[1]) == 0 && close(p[0]) == 0);
  int closed = fake_find("changed", nullptr, 0);
  CHECK(closed > used && fake_object(closed) == fake_object(used) && fake_count("changed") == 1);
  fake_clear();
}

static void sockets() {
  int s[2];
  char out[4] = "abc", in[4];
  fake_clear();
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
  EXPECT_EVENTS({"forget_fd", fd(s[0])}, {"forget_fd", fd(s[1])}, {"pair_fds", fd(s[0])},
                {"pair_fds", fd(s[1])});
  CHECK(send(s[0], out, 3, 0) == 3 && recv(s[1], in, 4, 0) == 3);
  iovec part = {out, 3}, room = {in, 4};
  msghdr message = {}, answer = {};
  message.msg_iov = &part, message.msg_iovlen = 1;
  answer.msg_iov = &room, answer.msg_iovlen = 1;
  CHECK(sendmsg(s[0], &message, 0) == 3 && recvmsg(s[1], &answer, 0) == 3);
  CHECK(sendto(s[0], out, 1, 0, nullptr, 0) == 1 && recvfrom(s[1], in, 4, 0, nullptr, nullptr) == 1);
  const FakeEvent a = {"read", out}, b = {"release_fd", fd(s[0])}, c = {"acquire_fd", fd(s[1])},
                  d = {"written", in};
  EXPECT_EVENTS(a, b, c, d, {"read", &part}, a, b, {"read", &room}, c, d, a, b, c, d);
  close(s[0]), close(s[1]);
  // A datagram larger than the buffer: the answer is its size, the buffer's is written.
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == 0);
  CHECK(send(s[0], out, 4, 0) == 4);
  fake_clear();
  CHECK(recv(s[1], in, 2, MSG_TRUNC) == 4);
  CHECK(fake_detail(fake_find("written", in, 0)) == 2);
  close(s[0]), close(s[1]);

  int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where = {};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  auto* address = reinterpret_cast<sockaddr*>(&where);
  CHECK(bind(listener, address, size) == 0 && listen(listener, 1) == 0);
  CHECK(getsockname(listener, address, &size) == 0);
  int client = socket(AF_INET, SOCK_STREAM, 0);
  fake_clear();
  CHECK(connect(client, address, size) == 0);
  int server = accept(listener, nullptr, nullptr);
  CHECK(server >= 0);
  EXPECT_EVENTS({"release_fd", fd(client)}, {"acquire_fd", fd(listener)}, {"forget_fd", fd(server)},
                {"network_fd", fd(server)});
  close(client), close(server), close(listener);
  fake_clear();
}

static void events() {
  int e = eventfd(0, 0), set = epoll_create1(0);
  EXPECT_EVENTS({"forget_fd", fd(e)}, {"pair_fds", fd(e)}, {"forget_fd", fd(set)}, {"pair_fds", fd(set)});
  epoll_event event = {};
  event.events = EPOLLIN;
  CHECK(epoll_ctl(set, EPOLL_CTL_ADD, e, &event) == 0);
  CHECK(epoll_wait(set, &event, 1, 0) == 0);
  EXPECT_EVENTS({"read", &event}, {"release_fd", fd(set)});
  CHECK(eventfd_write(e, 3) == 0 && epoll_wait(set, &event, 1, 0) == 1);
  eventfd_t value;
  CHECK(eventfd_read(e, &value) == 0 && value == 3);
  EXPECT_EVENTS({"release_fd", fd(e)}, {"acquire_fd", fd(set)}, {"acquire_fd", fd(e)}, {"written", &event},
                {"acquire_fd", fd(e)}, {"written", &value});
  pollfd one = {e, POLLIN, 0};
  CHECK(poll(&one, 1, 0) == 0);
  EXPECT_EVENTS({"read", &one}, {"written", &one.revents});
  CHECK(eventfd_write(e, 1) == 0 && poll(&one, 1, 0) == 1);
  EXPECT_EVENTS({"release_fd", fd(e)}, {"read", &one}, {"acquire_fd", fd(e)}, {"written", &one.revents});
  close(e), close(set);
  fake_clear();
}

static void mappings() {
  const size_t page = 4096;
  auto* p =
      static_cast<char*>(mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  CHECK(p != MAP_FAILED && fake_detail(0) == static_cast<long>(4 * page));
  EXPECT_EVENTS({"mapped", p});
  CHECK(mremap(p, 4 * page, 2 * page, 0) == p);
  EXPECT_NO_EVENTS();
  CHECK(munmap(p, 2 * page) == 0);
  EXPECT_EVENTS({"mapped", p});
  CHECK(mmap(nullptr, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EINVAL);
  EXPECT_NO_EVENTS();
}

int main() {
  fake_set_awake(1);
  fake_clear();
  pipes();
  as_objects();
  sockets();
  events();
  fake_clear();
  mappings();
}
