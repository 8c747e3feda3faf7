// SPDX-License-Identifier: Apache-2.0
//
// The memory of another process, through /proc/PID/mem: no thread has to be stopped, and code can be written
// whatever its protection. The file stays bound to the address space it was opened for, so after an exec it
// reads nothing rather than something else.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

#include "collide/registers.h"

namespace duress::collide {

class TargetMemory {
 public:
  explicit TargetMemory(pid_t pid);
  ~TargetMemory();
  TargetMemory(const TargetMemory&) = delete;
  TargetMemory& operator=(const TargetMemory&) = delete;

  bool good() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  /// How many bytes could be read; -1 if none.
  long read(Address address, void* into, std::size_t size) const;
  bool write(Address address, const void* from, std::size_t size) const;

 private:
  int fd_;
};

/// A line of /proc/PID/maps.
struct Mapping {
  Address begin = 0;
  Address end = 0;
  bool readable = false, writable = false, executable = false, shared = false;
  Address offset = 0;
  std::string path;  // as written, "[stack]" and " (deleted)" included
};

std::vector<Mapping> parse_maps(const std::string& text);
std::vector<Mapping> read_maps(pid_t pid);

/// The content of a small file, such as those of /proc; "" if it cannot be read.
std::string read_file(const std::string& path);

}  // namespace duress::collide
