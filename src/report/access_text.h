// SPDX-License-Identifier: Apache-2.0
//
// How names, places, accesses and stacks are written. Every text of a finding uses these, so that a function,
// a lock or a thread is called the same wherever it appears.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "finding/finding.h"
#include "report/style.h"

namespace duress::report {

/// "T2 'worker'", "T0 'main'".
std::string thread_text(int thread, const std::string& name);
/// "Cache::get()", "libfoo.so+0x12", "?"
std::string function_text(const finding::Frame& frame);
/// "src/cache.cc:88:9"; REQUIRES: the file is known.
std::string place_text(const finding::Frame& frame, const std::string& cwd);
/// "cache.cc:88", or the module.
std::string short_place_text(const finding::Frame& frame);

/// Both accesses in columns, that of the first line first: "T2 writes  Cache::evict()  cache.cc:88  holds
/// mu_".
std::array<std::string, 2> access_lines(const finding::Race& race, bool thread_names);

/// A line for each frame; library frames are folded unless the style is verbose.
std::string stack_text(const std::vector<finding::Frame>& stack, const FindingStyle& style);

/// "src/cache.cc:88:9: error: TEXT [ID]TAIL". `fallback` stands for a place without a file.
struct FirstLine {
  finding::Frame place;
  std::string fallback;
  enum Severity { kError, kWarning, kNote } severity = kError;
  std::string text, id, tail = {};
};
std::string first_line(const FirstLine& line, const FindingStyle& style);

}  // namespace duress::report
