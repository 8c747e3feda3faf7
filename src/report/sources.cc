// SPDX-License-Identifier: Apache-2.0
//
// Paths come from debug information: they may name a device that never ends, a folder, or nothing.
#include "report/sources.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <set>

namespace duress::report {
namespace {

constexpr std::size_t kMostFileBytes = std::size_t{16} << 20;
constexpr std::size_t kMostLineBytes = 400;
constexpr std::size_t kMostBytes = std::size_t{4} << 20;  // of all lines
constexpr std::uint32_t kAroundSite = 6, kAroundFrame = 3;

/// Which lines of which files are wanted.
class Wanted {
 public:
  void add(const std::string& file, std::uint64_t line, std::uint32_t around) {
    if (file.empty() || line == 0 || line > 0xffffff) return;
    std::uint64_t first = line > around ? line - around : 1;
    for (std::uint64_t i = first; i <= line + around; ++i) files_[file].insert(static_cast<std::uint32_t>(i));
  }
  void add(const Json& place, std::uint32_t around) {
    add(text_at(place, "file"), number_at(place, "line"), around);
  }
  void add_stack(const Json& frames) {
    for (const Json& frame : frames) add(frame, kAroundFrame);
  }
  const std::map<std::string, std::set<std::uint32_t>>& files() const { return files_; }

 private:
  std::map<std::string, std::set<std::uint32_t>> files_;
};

/// The file, or "" and why not.
std::string read_source(const std::string& path, std::string& problem) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat info{};
  std::string text;
  if (fd < 0 || fstat(fd, &info) != 0) {
    problem = std::strerror(errno);
  } else if (!S_ISREG(info.st_mode)) {
    problem = "not a file";
  } else if (static_cast<std::size_t>(info.st_size) > kMostFileBytes) {
    problem = "too large to be a source";
  } else {
    char buffer[1 << 16];
    for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) > 0 && text.size() <= kMostFileBytes;)
      text.append(buffer, static_cast<std::size_t>(got));
  }
  if (fd >= 0) close(fd);
  return text;
}

std::string cut(const std::string& line) {
  std::size_t end = line.size();
  if (end != 0 && line[end - 1] == '\r') --end;
  if (end <= kMostLineBytes) return line.substr(0, end);
  end = kMostLineBytes;
  while (end > 0 && (line[end] & 0xc0) == 0x80) --end;  // not within a character
  return line.substr(0, end) + " …";
}

}  // namespace

Json sources_of(const StoredDocument& document) {
  Wanted wanted;
  for (const Json& race : list_at(document.json, "races")) {
    for (const Json& side : list_at(race, "sites")) {
      wanted.add(side, kAroundSite);
      wanted.add_stack(list_at(side, "stack"));
    }
  }
  for (const Json& failure : list_at(document.json, "failures")) {
    wanted.add(failure, kAroundSite);
    for (const Json& stack : list_at(failure, "stacks")) wanted.add_stack(list_at(stack, "stack"));
    for (const MemoryStack& one : memory_stacks(failure)) wanted.add_stack(one.frames);
  }
  for (const finding::Lanes& lanes : document.lanes) {
    for (const finding::LanePlace& place : lanes.places) wanted.add(place.file, place.line, kAroundFrame);
  }
  Json sources = Json::object();
  std::size_t bytes = 0;
  for (const auto& [file, lines] : wanted.files()) {
    Json& source = sources[file];
    std::string path = file[0] == '/' || document.folder.empty() ? file : document.folder + "/" + file;
    std::string problem, text = read_source(path, problem);
    if (!problem.empty()) {
      source["missing"] = problem;
      continue;
    }
    source["lines"] = Json::object();
    std::uint32_t number = 0;
    auto next = lines.begin();
    for (std::size_t at = 0; at < text.size() && next != lines.end() && bytes < kMostBytes;) {
      std::size_t end = std::min(text.find('\n', at), text.size());
      if (++number == *next) {
        std::string line = cut(text.substr(at, end - at));
        bytes += line.size() + 12;
        source["lines"][std::to_string(number)] = std::move(line);
        ++next;
      }
      at = end + 1;
    }
    if (source["lines"].empty()) source["missing"] = "it has no such line";
  }
  return sources;
}

}  // namespace duress::report
