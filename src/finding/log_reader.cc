// SPDX-License-Identifier: Apache-2.0
//
// The log is written by a process that may be killed, out of memory, or corrupting itself: every line
// is treated as hostile. Each is parsed alone, into fresh values that are moved into the result only
// when the whole line made sense; so one bad line costs one line.
#include "finding/log_reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "finding/log_line.h"

namespace duress::finding {
namespace {

/// Bytes that JSON does not allow in a string become U+FFFD. Names in the target (threads, files, symbols)
/// may hold any byte, and a finding must not be lost for it.
std::string repaired(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    auto byte = static_cast<unsigned char>(text[i]);
    std::size_t length = byte < 0x80 ? 1 : byte >> 5 == 6 ? 2 : byte >> 4 == 14 ? 3 : byte >> 3 == 30 ? 4 : 0;
    bool good = length != 0 && byte >= 0x20 && i + length <= text.size();
    for (std::size_t k = 1; good && k < length; ++k)
      good = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
    if (good)
      out.append(text.substr(i, length));
    else
      out.append("\xef\xbf\xbd"), length = 1;
    i += length;
  }
  return out;
}

/// `at`: bytes since the beginning of the process's first line.
void parse_line(std::string_view text, const std::string& file, std::uint64_t at, ProcessLog*& process,
                RunLog& into) {
  Json line = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (line.is_discarded()) line = Json::parse(repaired(text), nullptr, false);
  if (line.is_discarded() || !line.is_object()) throw BadLine("not a JSON object");
  const std::string kind = need_text(line, "t");
  if (kind == "start") {
    into.processes.push_back(to_process(line, file));
    process = &into.processes.back();
  } else if (process == nullptr) {
    throw BadLine("a line before 'start'");
  } else {
    if (kind == "end" && number_or<std::uint64_t>(line, "bytes", at) != at)
      throw BadLine("lines before it are missing");
    add_line(kind, line, *process);
  }
}

}  // namespace

const char* access_name(Access access) {
  switch (access) {
    case Access::kRead:
      return "read";
    case Access::kWrite:
      return "write";
    case Access::kAtomicRead:
      return "atomic-read";
    case Access::kAtomicWrite:
      return "atomic-write";
    case Access::kAtomicRmw:
      return "atomic-rmw";
    case Access::kFree:
      return "free";
  }
  return "read";
}

std::optional<Access> access_from_name(const std::string& name) {
  for (Access access : {Access::kRead, Access::kWrite, Access::kAtomicRead, Access::kAtomicWrite,
                        Access::kAtomicRmw, Access::kFree}) {
    if (name == access_name(access)) return access;
  }
  return std::nullopt;
}

bool is_write(Access access) {
  return access != Access::kRead && access != Access::kAtomicRead;
}

void parse_log(std::string_view text, const std::string& file, RunLog& into) {
  ProcessLog* process = nullptr;
  std::size_t number = 0;
  std::size_t start = text.size();  // where the process's first line begins, counted from the end
  while (!text.empty()) {
    ++number;
    std::size_t at = text.size();
    std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return;  // torn: the process was killed in mid-write
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.empty()) continue;
    try {
      const ProcessLog* before = process;
      parse_line(line, file, start - at, process, into);
      if (process != before) start = at;
    } catch (const std::exception& error) {
      into.problems.push_back({file, number, error.what()});
    }
  }
}

RunLog read_log_dir(const std::string& dir) {
  namespace fs = std::filesystem;
  std::vector<std::pair<long, fs::path>> files;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".jsonl") continue;
    const std::string stem = it->path().stem().string();
    long pid = 0;
    std::from_chars(stem.data(), stem.data() + stem.size(), pid);
    files.emplace_back(pid, it->path());
  }
  std::sort(files.begin(), files.end());
  RunLog log;
  for (const auto& [pid, path] : files) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      log.problems.push_back({path.string(), 0, "cannot be read"});
      continue;
    }
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    parse_log(text, path.string(), log);
  }
  return log;
}

}  // namespace duress::finding
