// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing through descriptors. Two things happen: the kernel reads or writes the program's
// buffer, which is an access like any other, and a channel carries order from writer to reader. A write's
// access and release come before the real call, because a reader may go on before the call returns; so the
// whole buffer counts as read, even if the kernel then takes less of it. A read of 0 bytes is the end of the
// channel and ordered after the close of its other side.
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/control.h"
#include "runtime/interceptors/descriptor_use.h"
#include "runtime/interceptors/library_imports.h"
#include "runtime/interceptors/real.h"
#include "runtime/readable_memory.h"

namespace duress {
namespace {

void sending(int fd, const void* buffer, size_t size, uptr pc) {
  if (!awake()) return;
  if (size) memory_accessed(buffer, size, /*write=*/false, pc);
  sync_release_fd(fd, pc);
}

ssize_t received(int fd, void* buffer, ssize_t size, uptr pc) {
  if (awake() && size >= 0) {
    sync_acquire_fd(fd, pc);
    if (size) memory_accessed(buffer, static_cast<size_t>(size), /*write=*/true, pc);
  }
  return size;
}

void sending_parts(int fd, const iovec* parts, size_t count, uptr pc) {
  if (!awake() || !is_readable(parts, count * sizeof *parts)) return;
  caller_accessed(parts, count * sizeof *parts, /*write=*/false, pc);
  for (size_t i = 0; i < count; ++i) {
    if (parts[i].iov_len) memory_accessed(parts[i].iov_base, parts[i].iov_len, /*write=*/false, pc);
  }
  sync_release_fd(fd, pc);
}

ssize_t received_parts(int fd, const iovec* parts, size_t count, ssize_t size, uptr pc) {
  if (!awake() || size < 0) return size;
  caller_accessed(parts, count * sizeof *parts, /*write=*/false, pc);
  sync_acquire_fd(fd, pc);
  auto left = static_cast<size_t>(size);
  for (size_t i = 0; i < count && left; ++i) {
    size_t here = parts[i].iov_len < left ? parts[i].iov_len : left;
    if (here) memory_accessed(parts[i].iov_base, here, /*write=*/true, pc);
    left -= here;
  }
  return size;
}

/// How much of the sender's address fits.
socklen_t room_for_address(const socklen_t* size) {
  return awake() && size && is_readable(size, sizeof *size) ? *size : 0;
}

/// The sender's address, of which `room` bytes fit.
void told_address(const sockaddr* from, const socklen_t* size, socklen_t room, uptr pc) {
  if (!from || !size) return;
  caller_accessed(size, sizeof *size, /*write=*/true, pc);
  caller_accessed(from, *size < room ? *size : room, /*write=*/true, pc);
}

size_t count_of(int parts) {
  return parts > 0 ? static_cast<size_t>(parts) : 0;
}

}  // namespace
}  // namespace duress

using namespace duress;

DURESS_INTERCEPTOR(ssize_t, read, (int fd, void* buffer, size_t size)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLIN, DURESS_CALLER_PC)) return -1;
  return received(fd, buffer, DURESS_REAL(read)(fd, buffer, size), DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(ssize_t, pread, (int fd, void* buffer, size_t size, off_t at)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  return received(fd, buffer, DURESS_REAL(pread)(fd, buffer, size, at), DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(ssize_t, pread64, (int fd, void* buffer, size_t size, off64_t at)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  return received(fd, buffer, DURESS_REAL(pread64)(fd, buffer, size, at), DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(ssize_t, recv, (int fd, void* buffer, size_t size, int flags)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLIN, DURESS_CALLER_PC)) return -1;
  ssize_t n = DURESS_REAL(recv)(fd, buffer, size, flags);
  // With MSG_TRUNC the answer is the size of the datagram, not of what was written.
  received(fd, buffer, n > static_cast<ssize_t>(size) ? static_cast<ssize_t>(size) : n, DURESS_CALLER_PC);
  return n;
}

DURESS_INTERCEPTOR(ssize_t, recvfrom,
                   (int fd, void* buffer, size_t size, int flags, sockaddr* from, socklen_t* from_size)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLIN, DURESS_CALLER_PC)) return -1;
  socklen_t room = room_for_address(from_size);
  ssize_t n = DURESS_REAL(recvfrom)(fd, buffer, size, flags, from, from_size);
  if (n >= 0) told_address(from, from_size, room, DURESS_CALLER_PC);
  received(fd, buffer, n > static_cast<ssize_t>(size) ? static_cast<ssize_t>(size) : n, DURESS_CALLER_PC);
  return n;
}

// What _FORTIFY_SOURCE makes of them: the size of the buffer comes along and is checked.

DURESS_INTERCEPTOR(ssize_t, __read_chk, (int fd, void* buffer, size_t size, size_t most)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLIN, DURESS_CALLER_PC)) return -1;
  return received(fd, buffer, DURESS_REAL(__read_chk)(fd, buffer, size, most), DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(ssize_t, __pread_chk, (int fd, void* buffer, size_t size, off_t at, size_t most)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  return received(fd, buffer, DURESS_REAL(__pread_chk)(fd, buffer, size, at, most), DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(ssize_t, __pread64_chk, (int fd, void* buffer, size_t size, off64_t at, size_t most)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  return received(fd, buffer, DURESS_REAL(__pread64_chk)(fd, buffer, size, at, most), DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(ssize_t, __recv_chk, (int fd, void* buffer, size_t size, size_t most, int flags)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLIN, DURESS_CALLER_PC)) return -1;
  ssize_t n = DURESS_REAL(__recv_chk)(fd, buffer, size, most, flags);
  received(fd, buffer, n > static_cast<ssize_t>(size) ? static_cast<ssize_t>(size) : n, DURESS_CALLER_PC);
  return n;
}

DURESS_INTERCEPTOR(ssize_t, __recvfrom_chk,
                   (int fd, void* buffer, size_t size, size_t most, int flags, sockaddr* from,
                    socklen_t* from_size)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLIN, DURESS_CALLER_PC)) return -1;
  socklen_t room = room_for_address(from_size);
  ssize_t n = DURESS_REAL(__recvfrom_chk)(fd, buffer, size, most, flags, from, from_size);
  if (n >= 0) told_address(from, from_size, room, DURESS_CALLER_PC);
  received(fd, buffer, n > static_cast<ssize_t>(size) ? static_cast<ssize_t>(size) : n, DURESS_CALLER_PC);
  return n;
}

DURESS_INTERCEPTOR(ssize_t, readv, (int fd, const iovec* parts, int count)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLIN, DURESS_CALLER_PC)) return -1;
  return received_parts(fd, parts, count_of(count), DURESS_REAL(readv)(fd, parts, count), DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(ssize_t, preadv, (int fd, const iovec* parts, int count, off_t at)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  return received_parts(fd, parts, count_of(count), DURESS_REAL(preadv)(fd, parts, count, at),
                        DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(ssize_t, preadv64, (int fd, const iovec* parts, int count, off64_t at)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  return received_parts(fd, parts, count_of(count), DURESS_REAL(preadv64)(fd, parts, count, at),
                        DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(ssize_t, recvmsg, (int fd, msghdr* message, int flags)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLIN, DURESS_CALLER_PC)) return -1;
  ssize_t n = DURESS_REAL(recvmsg)(fd, message, flags);
  return n < 0 ? n : received_parts(fd, message->msg_iov, message->msg_iovlen, n, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, recvmmsg, (int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLIN, DURESS_CALLER_PC)) return -1;
  int n = DURESS_REAL(recvmmsg)(fd, messages, count, flags, timeout);
  for (int i = 0; i < n; ++i) {
    const msghdr& m = messages[i].msg_hdr;
    received_parts(fd, m.msg_iov, m.msg_iovlen, messages[i].msg_len, DURESS_CALLER_PC);
  }
  return n;
}

DURESS_INTERCEPTOR(ssize_t, write, (int fd, const void* buffer, size_t size)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLOUT, DURESS_CALLER_PC)) return -1;
  sending(fd, buffer, size, DURESS_CALLER_PC);
  return DURESS_REAL(write)(fd, buffer, size);
}

DURESS_INTERCEPTOR(ssize_t, pwrite, (int fd, const void* buffer, size_t size, off_t at)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  sending(fd, buffer, size, DURESS_CALLER_PC);
  return DURESS_REAL(pwrite)(fd, buffer, size, at);
}

DURESS_INTERCEPTOR(ssize_t, pwrite64, (int fd, const void* buffer, size_t size, off64_t at)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  sending(fd, buffer, size, DURESS_CALLER_PC);
  return DURESS_REAL(pwrite64)(fd, buffer, size, at);
}

DURESS_INTERCEPTOR(ssize_t, send, (int fd, const void* buffer, size_t size, int flags)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLOUT, DURESS_CALLER_PC)) return -1;
  sending(fd, buffer, size, DURESS_CALLER_PC);
  return DURESS_REAL(send)(fd, buffer, size, flags);
}

DURESS_INTERCEPTOR(ssize_t, sendto,
                   (int fd, const void* buffer, size_t size, int flags, const sockaddr* to,
                    socklen_t to_size)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLOUT, DURESS_CALLER_PC)) return -1;
  caller_accessed(to, to_size, /*write=*/false, DURESS_CALLER_PC);
  sending(fd, buffer, size, DURESS_CALLER_PC);
  return DURESS_REAL(sendto)(fd, buffer, size, flags, to, to_size);
}

DURESS_INTERCEPTOR(ssize_t, writev, (int fd, const iovec* parts, int count)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLOUT, DURESS_CALLER_PC)) return -1;
  sending_parts(fd, parts, count_of(count), DURESS_CALLER_PC);
  return DURESS_REAL(writev)(fd, parts, count);
}

DURESS_INTERCEPTOR(ssize_t, pwritev, (int fd, const iovec* parts, int count, off_t at)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  sending_parts(fd, parts, count_of(count), DURESS_CALLER_PC);
  return DURESS_REAL(pwritev)(fd, parts, count, at);
}

DURESS_INTERCEPTOR(ssize_t, pwritev64, (int fd, const iovec* parts, int count, off64_t at)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  sending_parts(fd, parts, count_of(count), DURESS_CALLER_PC);
  return DURESS_REAL(pwritev64)(fd, parts, count, at);
}

DURESS_INTERCEPTOR(ssize_t, sendmsg, (int fd, const msghdr* message, int flags)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLOUT, DURESS_CALLER_PC)) return -1;
  if (awake() && is_readable(message, sizeof *message))
    sending_parts(fd, message->msg_iov, message->msg_iovlen, DURESS_CALLER_PC);
  return DURESS_REAL(sendmsg)(fd, message, flags);
}

DURESS_INTERCEPTOR(int, sendmmsg, (int fd, mmsghdr* messages, unsigned count, int flags)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLOUT, DURESS_CALLER_PC)) return -1;
  for (unsigned i = 0; awake() && i < count && is_readable(&messages[i], sizeof messages[i]); ++i) {
    const msghdr& m = messages[i].msg_hdr;
    sending_parts(fd, m.msg_iov, m.msg_iovlen, DURESS_CALLER_PC);
  }
  return DURESS_REAL(sendmmsg)(fd, messages, count, flags);
}

DURESS_INTERCEPTOR(int, eventfd_write, (int fd, eventfd_t value)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLOUT, DURESS_CALLER_PC)) return -1;
  if (awake()) sync_release_fd(fd, DURESS_CALLER_PC);
  return DURESS_REAL(eventfd_write)(fd, value);
}

DURESS_INTERCEPTOR(int, eventfd_read, (int fd, eventfd_t* value)) {
  descriptor_used(fd, DURESS_CALLER_PC);
  if (!control_await_descriptor(fd, POLLIN, DURESS_CALLER_PC)) return -1;
  int result = DURESS_REAL(eventfd_read)(fd, value);
  if (result == 0) received(fd, value, sizeof *value, DURESS_CALLER_PC);
  return result;
}
