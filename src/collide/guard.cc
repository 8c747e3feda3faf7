// SPDX-License-Identifier: Apache-2.0
#include "collide/guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace duress::collide {
namespace {

constexpr int kPlaces = 8192;
constexpr unsigned char kInt3 = 0xcc;
constexpr char kMemory = 'm', kGoodbye = 'g';

/// Sends one byte, with a descriptor if `fd` is one.
bool send(int socket, char word, int fd) {
  iovec data{&word, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

/// The byte that came, '\0' if the other side is gone; `fd` is the descriptor that came with it, or -1.
char receive(int socket, int& fd) {
  char word = 0;
  iovec data{&word, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  fd = -1;
  if (got != 1) return '\0';
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return word;
}

}  // namespace

struct Guard::Entry {
  Address address;
  std::atomic<unsigned> memory;  // 0: nothing here. Written last and cleared first.
  unsigned char length;
  unsigned char bytes[19];
};

std::unique_ptr<Guard> Guard::start() {
  static_assert(sizeof(Entry) == 32 && std::atomic<unsigned>::is_always_lock_free);
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return nullptr;
  void* list =
      mmap(nullptr, kPlaces * sizeof(Entry), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (list == MAP_FAILED) {
    close(sockets[0]);
    close(sockets[1]);
    return nullptr;
  }
  std::unique_ptr<Guard> guard(new Guard);
  guard->list_ = static_cast<Entry*>(list);
  guard->pid_ = fork();
  if (guard->pid_ == 0) {
    close(sockets[0]);
    guard->watch_over(sockets[1]);
  }
  close(sockets[1]);
  guard->socket_ = sockets[0];
  if (guard->pid_ < 0) return nullptr;
  for (int place = kPlaces; place-- > 0;) guard->free_.push_back(place);
  return guard;
}

Guard::~Guard() {
  if (pid_ > 0) send(socket_, kGoodbye, -1);
  if (socket_ >= 0) close(socket_);
  if (pid_ > 0) {
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (list_ != nullptr) munmap(list_, kPlaces * sizeof(Entry));
}

void Guard::watch_over(int socket) {
  // Whoever kills the tracer's group, session or name is not to kill us.
  setsid();
  prctl(PR_SET_NAME, "duress-guard");
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(signal, SIG_IGN);
  std::vector<int> memories{-1};
  for (;;) {
    int fd;
    char word = receive(socket, fd);
    if (word == kGoodbye) _exit(0);
    if (word == '\0') break;
    memories.push_back(fd);
  }
  for (int place = 0; place < kPlaces; ++place) {
    Entry& entry = list_[place];
    unsigned memory = entry.memory.load(std::memory_order_acquire);
    if (memory == 0 || memory >= memories.size() || entry.length > sizeof entry.bytes) continue;
    unsigned char now[sizeof entry.bytes];
    auto at = static_cast<off_t>(entry.address);
    // As everywhere: only over bytes that are as expected.
    if (pread(memories[memory], now, entry.length, at) != entry.length || now[0] != kInt3 ||
        std::memcmp(now + 1, entry.bytes + 1, entry.length - 1u) != 0)
      continue;
    ssize_t ignored = pwrite(memories[memory], entry.bytes, 1, at);
    (void)ignored;
  }
  _exit(0);
}

unsigned Guard::add_memory(int fd) {
  return send(socket_, kMemory, fd) ? ++memories_ : 0;
}

int Guard::add(unsigned memory, Address address, const std::string& instruction) {
  if (memory == 0 || free_.empty() || instruction.empty() || instruction.size() > sizeof Entry::bytes)
    return -1;
  int place = free_.back();
  free_.pop_back();
  Entry& entry = list_[place];
  entry.address = address;
  entry.length = static_cast<unsigned char>(instruction.size());
  std::memcpy(entry.bytes, instruction.data(), instruction.size());
  entry.memory.store(memory, std::memory_order_release);
  return place;
}

void Guard::remove(int place) {
  if (place < 0) return;
  list_[place].memory.store(0, std::memory_order_release);
  free_.push_back(place);
}

}  // namespace duress::collide
