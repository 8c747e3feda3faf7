// SPDX-License-Identifier: Apache-2.0
//
// A small process that outlives the tracer if that is killed, and takes its breakpoints out of the target.
//
// The kernel lets go of the target when its tracer dies, but an int3 that stays in its code kills it as soon
// as it is reached. So every breakpoint is written down, in memory that both share, before it is set, and
// removed from there after it is gone. The guard sleeps until a socket tells it that the tracer has ended.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "collide/registers.h"

namespace duress::collide {

class Guard {
 public:
  /// Null if there can be none; then the tracer works without.
  static std::unique_ptr<Guard> start();
  /// The guard leaves, and touches nothing.
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  /// Hands over the memory of an address space; the number stands for it from now on, 0 if that failed.
  unsigned add_memory(int fd);
  /// Writes down a breakpoint that is about to be set. Its place in the list; -1: the list is full.
  int add(unsigned memory, Address address, const std::string& instruction);
  void remove(int place);
  pid_t pid() const { return pid_; }

 private:
  struct Entry;
  Guard() = default;
  [[noreturn]] void watch_over(int socket);

  pid_t pid_ = 0;
  int socket_ = -1;
  unsigned memories_ = 0;
  Entry* list_ = nullptr;
  std::vector<int> free_;
};

}  // namespace duress::collide
