// SPDX-License-Identifier: Apache-2.0
//
// A hardware watchpoint on one thread of the target.
//
// The kernel offers three ways. Debug registers through ptrace need the thread stopped, and stopping a thread
// cuts some system calls short. A perf event that sends SIGTRAP leaves the signal pending for ever in threads
// that block it. So we take a perf event that samples: at the access the kernel itself writes the thread's
// registers and the top of its stack into a buffer that we share, the thread continues, and there is no
// signal. After its first hit the event turns itself off, so a thread in a tight loop on the watched word
// loses one exception and no more. Moving an event to another address took 2 µs here, opening a new one 40;
// but Linux 6.18 does not wake an event that has turned itself off, so a watch that was hit is replaced.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "collide/registers.h"

namespace duress::collide {

/// What a thread looked like right after it touched watched memory.
struct Hit {
  bool detailed = false;  // registers and stack are known
  Registers registers;
  std::string stack;  // from the stack pointer upwards
};

class Watch {
 public:
  /// For the thread `tid`, pointing nowhere yet. Null, with errno set, if the kernel refuses.
  static std::unique_ptr<Watch> open(pid_t tid);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Watches [address, address + size): writes, or reads too. REQUIRES: size 1, 2, 4 or 8, address aligned.
  bool set(Address address, unsigned size, bool reads_too);
  void clear();
  /// The hit, once. After it the watch is of no more use.
  std::optional<Hit> take();
  /// Readable when there is a hit.
  int fd() const { return fd_; }

 private:
  Watch() = default;
  std::uint64_t count() const;
  void copy(std::uint64_t at, void* into, std::size_t size) const;

  int fd_ = -1;
  void* ring_ = nullptr;
  std::uint64_t seen_ = 0;  // hits counted so far
  bool charged_ = false;    // it turns itself off at its first hit
};

}  // namespace duress::collide
