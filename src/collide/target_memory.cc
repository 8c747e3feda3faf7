// SPDX-License-Identifier: Apache-2.0
#include "collide/target_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>

namespace duress::collide {

TargetMemory::TargetMemory(pid_t pid)
    : fd_(open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDWR | O_CLOEXEC)) {}

TargetMemory::~TargetMemory() {
  if (fd_ >= 0) close(fd_);
}

long TargetMemory::read(Address address, void* into, std::size_t size) const {
  ssize_t got = pread(fd_, into, size, static_cast<off_t>(address));
  return got > 0 ? got : -1;
}

bool TargetMemory::write(Address address, const void* from, std::size_t size) const {
  return pwrite(fd_, from, size, static_cast<off_t>(address)) == static_cast<ssize_t>(size);
}

std::string read_file(const std::string& path) {
  std::string text;
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char buffer[16384];
  ssize_t got;
  while ((got = ::read(fd, buffer, sizeof buffer)) > 0) text.append(buffer, static_cast<std::size_t>(got));
  close(fd);
  return text;
}

std::vector<Mapping> parse_maps(const std::string& text) {
  std::vector<Mapping> mappings;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    std::string line = text.substr(at, end - at);
    at = end + 1;
    Mapping mapping;
    char flags[5] = {};
    int path = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &mapping.begin,
                    &mapping.end, flags, &mapping.offset, &path) < 4)
      continue;
    mapping.readable = flags[0] == 'r';
    mapping.writable = flags[1] == 'w';
    mapping.executable = flags[2] == 'x';
    mapping.shared = flags[3] == 's';
    if (path > 0) mapping.path = line.substr(static_cast<std::size_t>(path));
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

std::vector<Mapping> read_maps(pid_t pid) {
  return parse_maps(read_file(fmt::format("/proc/{}/maps", pid)));
}

}  // namespace duress::collide
