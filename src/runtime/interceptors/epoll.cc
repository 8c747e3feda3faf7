// SPDX-License-Identifier: Apache-2.0
//
// Sets of descriptors (epoll). What a thread puts into a set, it hands over to the threads that wait on it;
// and a thread that is told that a member is ready comes after what made it ready, though it may never read
// it (an eventfd, a socket that is only closed). The kernel names a member by the data that the program gave
// it, so these are remembered: by set and data, a list of members each. A number in two sets, or beyond the
// table, is not found: its readiness then orders nothing, reading it does.
#include "runtime/interceptors/epoll.h"

#include <sys/epoll.h>

#include <atomic>
#include <new>

#include "base/prng.h"
#include "base/spin_lock.h"
#include "runtime/control.h"
#include "runtime/interceptors/descriptor_use.h"
#include "runtime/interceptors/library_imports.h"
#include "runtime/interceptors/real.h"
#include "runtime/readable_memory.h"

namespace duress {
namespace {

constexpr int kMost = 4096;
constexpr u32 kLists = 1024;
constexpr int kNone = 0;  // numbers are kept plus one: all of it is zero at first

/// Threads: under `lock`.
class Members {
 public:
  void add(int set, int fd, u64 data) {
    remove(fd);
    Member& m = members_[fd];
    m.set = set + 1;
    m.data = data;
    m.next = list_of(set, data);
    list_of(set, data) = fd + 1;
  }

  void remove(int fd) {
    Member& m = members_[fd];
    if (m.set == kNone) return;
    for (int* link = &list_of(m.set - 1, m.data); *link != kNone; link = &members_[*link - 1].next) {
      if (*link != fd + 1) continue;
      *link = m.next;
      break;
    }
    m.set = kNone;
  }

  /// Calls found(fd) for each member of the set with these data.
  template <typename Found>
  void find(int set, u64 data, Found found) {
    for (int at = list_of(set, data); at != kNone; at = members_[at - 1].next) {
      const Member& m = members_[at - 1];
      if (m.set == set + 1 && m.data == data) found(at - 1);
    }
  }

 private:
  struct Member {
    int set, next;
    u64 data;
  };
  int& list_of(int set, u64 data) { return lists_[mix(data ^ mix(static_cast<u64>(set))) % kLists]; }

  Member members_[kMost] = {};
  int lists_[kLists] = {};
};

constinit Members members;
constinit SpinLock lock;
constinit std::atomic<bool> any_members{false};

bool is_known(int fd) {
  return fd >= 0 && fd < kMost;
}

/// Calls body(members), unless the lock cannot be had: a signal handler, where close() is allowed, may have
/// interrupted its holder. Then a member is not found, or is found too long, and only an order is lost or too
/// many.
template <typename Body>
void with_members(Body body) {
  constexpr int kTries = 1000;
  for (int i = 0; !lock.try_lock(); ++i) {
    if (i == kTries) return;
    yield_processor();
  }
  body(members);
  lock.unlock();
}

}  // namespace

void epoll_member_ends(int fd) {
  if (!any_members || !is_known(fd)) return;
  with_members([=](Members& all) { all.remove(fd); });
}

void epoll_after_fork() {
  if (!any_members) return;
  new (&members) Members{};
  new (&lock) SpinLock{};
}

}  // namespace duress

using namespace duress;

/// A set is a channel of its own.
static int made(int set) {
  if (awake() && set >= 0) {
    sync_forget_fd(set);
    descriptor_made(set);
    sync_pair_fds(set, set);
  }
  return set;
}

DURESS_INTERCEPTOR(int, epoll_create, (int size)) {
  return made(DURESS_REAL(epoll_create)(size));
}
DURESS_INTERCEPTOR(int, epoll_create1, (int flags)) {
  return made(DURESS_REAL(epoll_create1)(flags));
}

/// Before the call: it may be ready at once.
static void remember(int operation, int set, int fd, const epoll_event* event) {
  if (!is_known(fd)) return;
  any_members = true;
  with_members([=](Members& all) {
    if (operation == EPOLL_CTL_DEL) all.remove(fd);
    if (operation != EPOLL_CTL_DEL && event) all.add(set, fd, event->data.u64);
  });
}

DURESS_INTERCEPTOR(int, epoll_ctl, (int set, int operation, int fd, epoll_event* event)) {
  if (awake() && is_readable_or_null(event)) {
    caller_accessed(event, sizeof *event, /*write=*/false, DURESS_CALLER_PC);
    sync_release_fd(set, DURESS_CALLER_PC);
    remember(operation, set, fd, event);
  }
  return DURESS_REAL(epoll_ctl)(set, operation, fd, event);
}

/// An epoll set is a descriptor itself, ready when one of its members is. False: a signal has ended the wait.
static bool await_epoll(int set, int* milliseconds, const sigset_t* mask, uptr pc) {
  if (!controlled()) return true;
  u64 deadline = control_deadline_in(*milliseconds);
  *milliseconds = 0;
  return control_await_epoll(set, deadline, pc, mask);
}

static void acquire_member(int set, u64 data, uptr pc) {
  int ready[8];
  u32 count = 0;
  with_members([&](Members& all) {
    all.find(set, data, [&](int fd) {
      if (count < 8) ready[count++] = fd;
    });
  });
  for (u32 i = 0; i < count; ++i) sync_acquire_fd(ready[i], pc);
}

static int polled(int set, int result, const epoll_event* events, uptr pc) {
  if (awake() && result > 0) {
    sync_acquire_fd(set, pc);
    for (int i = 0; i < result; ++i) acquire_member(set, events[i].data.u64, pc);
    caller_accessed(events, static_cast<size_t>(result) * sizeof *events, /*write=*/true, pc);
  }
  return result;
}

DURESS_INTERCEPTOR(int, epoll_wait, (int set, epoll_event* events, int most, int timeout)) {
  if (!await_epoll(set, &timeout, nullptr, DURESS_CALLER_PC)) return -1;
  return polled(set, DURESS_REAL(epoll_wait)(set, events, most, timeout), events, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, epoll_pwait,
                   (int set, epoll_event* events, int most, int timeout, const sigset_t* mask)) {
  if (!await_epoll(set, &timeout, mask, DURESS_CALLER_PC)) return -1;
  return polled(set, DURESS_REAL(epoll_pwait)(set, events, most, timeout, mask), events, DURESS_CALLER_PC);
}

DURESS_INTERCEPTOR(int, epoll_pwait2,
                   (int set, epoll_event* events, int most, const timespec* timeout, const sigset_t* mask)) {
  timespec none = {0, 0};
  if (controlled() && is_readable_or_null(timeout) && valid_time(timeout)) {
    if (!control_await_epoll(set, control_timeout(timeout), DURESS_CALLER_PC, mask)) return -1;
    timeout = &none;
  }
  return polled(set, DURESS_REAL(epoll_pwait2)(set, events, most, timeout, mask), events, DURESS_CALLER_PC);
}
