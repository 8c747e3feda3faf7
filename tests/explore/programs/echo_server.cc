// SPDX-License-Identifier: Apache-2.0
//
// A server and its clients in one test: the recipe of docs/guide/explore.md. The server echoes what comes, in an epoll loop that accepts and
// two workers that serve; they count what they have served without a lock, and a count may be lost. `locked`: with one.
//
// EXPECT-FAILURE: assertion
// PASSES: --model sc -- locked
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cassert>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kClients = 3;

class Server {
 public:
  explicit Server(bool locked) : locked_(locked) {
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un any{};
    any.sun_family = AF_UNIX;
    bind(listener_, reinterpret_cast<sockaddr*>(&any), sizeof any.sun_family);  // the kernel finds a name
    listen(listener_, kClients);
    size_ = sizeof address_;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address_), &size_);
    for (int& set : sets_) set = epoll_create1(0);
  }

  /// What a client connects to.
  int connect_client() const {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address_), size_) != 0) return -1;
    return fd;
  }

  void run() {
    std::thread workers[2] = {std::thread(&Server::work, this, 0), std::thread(&Server::work, this, 1)};
    for (int i = 0; i < kClients; ++i) {
      epoll_event event{EPOLLIN, {.fd = accept(listener_, nullptr, nullptr)}};
      epoll_ctl(sets_[i % 2], EPOLL_CTL_ADD, event.data.fd, &event);
    }
    for (std::thread& worker : workers) worker.join();
  }

  int served() const { return served_; }

 private:
  void work(int number) {
    int mine = number == 0 ? (kClients + 1) / 2 : kClients / 2;
    for (int ended = 0; ended < mine;) {
      epoll_event event;
      if (epoll_wait(sets_[number], &event, 1, -1) != 1) continue;
      char text[64];
      ssize_t size = read(event.data.fd, text, sizeof text);
      if (size > 0) {
        write(event.data.fd, text, static_cast<size_t>(size));
        count();
      } else {
        close(event.data.fd);
        ++ended;
      }
    }
  }

  void count() {
    std::unique_lock guard(mutex_, std::defer_lock);
    if (locked_) guard.lock();
    ++served_;
  }

  bool locked_;
  int listener_, sets_[2];
  sockaddr_un address_{};
  socklen_t size_;
  std::mutex mutex_;
  int served_ = 0;
};

void be_client(const Server& server) {
  int fd = server.connect_client();
  write(fd, "hello", 5);
  char text[5];
  for (std::size_t got = 0; got < sizeof text;)
    got += static_cast<std::size_t>(read(fd, text + got, sizeof text - got));
  assert(std::memcmp(text, "hello", 5) == 0);
  close(fd);
}

}  // namespace

int main(int count, char** arguments) {
  Server server(count > 1 && std::strcmp(arguments[1], "locked") == 0);
  std::thread serving(&Server::run, &server);
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) clients.emplace_back(be_client, std::cref(server));
  for (std::thread& client : clients) client.join();
  serving.join();
  assert(server.served() == kClients);
}
