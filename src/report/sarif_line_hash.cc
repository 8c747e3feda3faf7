// SPDX-License-Identifier: Apache-2.0
#include "report/sarif_line_hash.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "finding/plain_file.h"

namespace duress::report {
namespace {

constexpr std::size_t kWindow = 100;
constexpr std::uint64_t kBase = 37;
constexpr std::uint64_t kEnd = 65535;  // stands for the end of the file
constexpr std::uintmax_t kMostBytes = 16 << 20;

constexpr std::uint64_t power_of_window() {
  std::uint64_t power = 1;
  for (std::size_t i = 0; i < kWindow; ++i) power *= kBase;
  return power;
}

/// Characters go in; the hash of a line comes out when its window is full.
class LineHasher {
 public:
  explicit LineHasher(std::uint64_t wanted) : wanted_(wanted) {}

  void add(std::uint64_t c) {
    bool second_of_pair = after_return_ && c == '\n';
    after_return_ = c == '\r';
    if (c == ' ' || c == '\t' || second_of_pair) return;
    if (c == '\r') c = '\n';
    finish_line();
    if (line_begins_) lines_[at_] = ++line_;
    line_begins_ = c == '\n';
    roll(c);
  }

  std::string finish() {
    add(kEnd);
    for (std::size_t i = 0; i < kWindow; ++i) {
      finish_line();
      roll(0);
    }
    return found_;
  }

 private:
  void finish_line() {
    if (!lines_[at_]) return;
    std::uint64_t count = ++counts_[hash_];
    if (*lines_[at_] == wanted_) found_ = fmt::format("{:x}:{}", hash_, count);
    lines_[at_].reset();
  }

  void roll(std::uint64_t c) {
    hash_ = kBase * hash_ + c - power_of_window() * window_[at_];
    window_[at_] = c;
    at_ = (at_ + 1) % kWindow;
  }

  std::uint64_t wanted_, hash_ = 0, line_ = 0;
  std::array<std::uint64_t, kWindow> window_{};
  std::array<std::optional<std::uint64_t>, kWindow>
      lines_{};  // which line begins at that place of the window
  std::size_t at_ = 0;
  bool line_begins_ = true, after_return_ = false;
  std::map<std::uint64_t, std::uint64_t> counts_;
  std::string found_;
};

}  // namespace

std::string line_hash(const std::string& text, std::uint64_t line) {
  LineHasher hasher(line);
  // Characters are counted in UTF-16, as SARIF's columns are.
  for (std::size_t at = 0; at < text.size();) {
    auto byte = static_cast<unsigned char>(text[at]);
    std::size_t length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    std::uint64_t code = length == 1 ? byte : byte & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length && at + i < text.size(); ++i)
      code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fu);
    at += length;
    if (code < 0x10000) {
      hasher.add(code);
    } else {
      hasher.add(0xd800 + ((code - 0x10000) >> 10));
      hasher.add(0xdc00 + ((code - 0x10000) & 0x3ff));
    }
  }
  return hasher.finish();
}

std::string line_hash_of_file(const std::string& path, std::uint64_t line) {
  if (line == 0 || !finding::is_plain_file(path)) return "";
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || static_cast<std::uintmax_t>(file.tellg()) > kMostBytes) return "";
  file.seekg(0);
  std::stringstream text;
  text << file.rdbuf();
  return line_hash(text.str(), line);
}

}  // namespace duress::report
