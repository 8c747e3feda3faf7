// SPDX-License-Identifier: Apache-2.0
//
// File descriptors that begin, end and are copied. Pipes, socket pairs and eventfds carry order between
// threads (write → read, transfer.cc); here the runtime learns which numbers belong to one channel. The two
// ends of a network connection cannot be found from their numbers, so all such sockets are one channel: that
// hides races between threads that talk over different connections, and never gives a false alarm.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdarg>

#include "runtime/control.h"
#include "runtime/interceptors/descriptor_use.h"
#include "runtime/interceptors/epoll.h"
#include "runtime/interceptors/library_imports.h"
#include "runtime/interceptors/program_timers.h"
#include "runtime/interceptors/real.h"

using namespace duress;

static void begins(int fd) {
  sync_forget_fd(fd);
  descriptor_made(fd);
}

static int paired(int result, const int* ends) {
  if (awake() && result == 0) {
    begins(ends[0]);
    begins(ends[1]);
    sync_pair_fds(ends[0], ends[1]);
  }
  return result;
}

/// A channel that is written and read through the same number.
static int single(int fd) {
  if (awake() && fd >= 0) {
    begins(fd);
    sync_pair_fds(fd, fd);
  }
  return fd;
}

static int network(int fd) {
  if (awake() && fd >= 0) {
    begins(fd);
    sync_network_fd(fd);
  }
  return fd;
}

static int accepted(int listener, int fd, uptr pc) {
  if (awake() && fd >= 0) sync_acquire_fd(listener, pc);
  return network(fd);
}

static int duplicated(int fd, int copy) {
  if (awake() && copy >= 0 && copy != fd) {
    begins(copy);
    timer_descriptor_copied(fd, copy);
    sync_duplicate_fd(fd, copy);
  }
  return copy;
}

DURESS_INTERCEPTOR(int, pipe, (int* ends)) {
  return paired(DURESS_REAL(pipe)(ends), ends);
}
DURESS_INTERCEPTOR(int, pipe2, (int* ends, int flags)) {
  return paired(DURESS_REAL(pipe2)(ends, flags), ends);
}
DURESS_INTERCEPTOR(int, socketpair, (int domain, int type, int protocol, int* ends)) {
  int result = paired(DURESS_REAL(socketpair)(domain, type, protocol, ends), ends);
  if (awake() && result == 0) sync_pair_fds(ends[1], ends[0]);  // and the other way
  return result;
}

DURESS_INTERCEPTOR(int, eventfd, (unsigned value, int flags)) {
  return single(DURESS_REAL(eventfd)(value, flags));
}
DURESS_INTERCEPTOR(int, socket, (int domain, int type, int protocol)) {
  return network(DURESS_REAL(socket)(domain, type, protocol));
}

DURESS_INTERCEPTOR(int, accept, (int fd, sockaddr* address, socklen_t* size)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLIN, DURESS_CALLER_PC)) return -1;
  return accepted(fd, DURESS_REAL(accept)(fd, address, size), DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, accept4, (int fd, sockaddr* address, socklen_t* size, int flags)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLIN, DURESS_CALLER_PC)) return -1;
  return accepted(fd, DURESS_REAL(accept4)(fd, address, size, flags), DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, connect, (int fd, const sockaddr* address, socklen_t size)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (awake()) sync_release_fd(fd, DURESS_CALLER_PC);
  return DURESS_REAL(connect)(fd, address, size);
}

// The end of one side is seen by the other as an end of file, which is an order like data.

DURESS_INTERCEPTOR(int, shutdown, (int fd, int how)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (awake()) sync_release_fd(fd, DURESS_CALLER_PC);
  return DURESS_REAL(shutdown)(fd, how);
}

DURESS_INTERCEPTOR(int, close, (int fd)) {
  if (awake()) {
    // Before the real call: afterwards the number may be another thread's new descriptor.
    descriptor_closing(fd, DURESS_CALLER_PC);
    sync_release_fd(fd, DURESS_CALLER_PC);
    sync_forget_fd(fd);
    epoll_member_ends(fd);
    if (controlled()) timer_descriptor_closed(fd);
  }
  return DURESS_REAL(close)(fd);
}

DURESS_INTERCEPTOR(int, dup, (int fd)) {
  return duplicated(fd, DURESS_REAL(dup)(fd));
}

/// The number is closed, if it was open. Not compared with its uses: daemons put /dev/null in the place of
/// what their threads may still use, servers a closed pipe. It is a use itself, which a close by another
/// thread races with.
static void replacing(int copy, uptr pc) {
  sync_release_fd(copy, pc);
  epoll_member_ends(copy);
  if (controlled()) timer_descriptor_closed(copy);
}
static int replaced(int fd, int copy, uptr pc) {
  duplicated(fd, copy);
  if (awake() && copy >= 0 && fd != copy) descriptor_used(copy, pc);
  return copy;
}

DURESS_INTERCEPTOR(int, dup2, (int fd, int copy)) {
  if (awake() && fd != copy) replacing(copy, DURESS_CALLER_PC);
  return replaced(fd, DURESS_REAL(dup2)(fd, copy), DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, dup3, (int fd, int copy, int flags)) {
  if (awake() && fd != copy) replacing(copy, DURESS_CALLER_PC);
  return replaced(fd, DURESS_REAL(dup3)(fd, copy, flags), DURESS_CALLER_PC);
}

static int controlled(int fd, int command, int result) {
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? duplicated(fd, result) : result;
}

DURESS_INTERCEPTOR(int, fcntl, (int fd, int command, ...)) {
  va_list list;
  va_start(list, command);
  long argument = va_arg(list, long);  // an int or a pointer: either fits, and what is absent is not used
  va_end(list);
  return controlled(fd, command, DURESS_REAL(fcntl)(fd, command, argument));
}

DURESS_INTERCEPTOR(int, fcntl64, (int fd, int command, ...)) {
  va_list list;
  va_start(list, command);
  long argument = va_arg(list, long);
  va_end(list);
  return controlled(fd, command, DURESS_REAL(fcntl64)(fd, command, argument));
}
