// SPDX-License-Identifier: Apache-2.0
//
// RAPID's text format: a line for each event, `T0|w(V1)|12`: thread, operation, where. Operations are r, w,
// acq, rel, fork, join, begin, end; ours beyond those: rlock, runlock, post, wait, aload, astore, armw, fence
// (each atomic with its order: `astore(X,release)`), alloc and free (`free(V1)`).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.h"

namespace duress::trace {

/// Names of a text trace; numbers are given in order of appearance.
struct RapidNames {
  std::vector<std::string> threads;                  // by Tid
  std::map<uptr, std::string> objects;               // variables, locks, atomics, blocks
  std::map<std::string, uptr, std::less<>> by_name;  // with a prefix for what it is
};

/// Turns text into events, line by line.
class RapidReader {
 public:
  /// A line without a place is at this one; 1 more for each line().
  u32 number() const { return number_; }
  /// Adds the events of a line. False if it is wrong: problem() says how.
  bool line(std::string_view text, std::vector<Event>& events);
  /// A comment or an empty line.
  void skip() { ++number_; }
  const std::string& problem() const { return problem_; }
  const RapidNames& names() const { return names_; }

  static constexpr uptr kFirstVariable = 0x10000000;

 private:
  struct Line;
  bool parse(std::string_view text, Line& line);
  Tid thread(std::string_view name);
  uptr object(char what, std::string_view name);

  RapidNames names_;
  std::map<std::string, u32, std::less<>> threads_;
  std::string problem_;
  u32 number_ = 0;
};

/// Turns events into lines.
class RapidWriter {
 public:
  explicit RapidWriter(const RapidNames* names = nullptr) : names_(names) {}
  /// The line of an event; "" for what the format has no word for. The parts of an atomic operation, one
  /// after the other, give one line.
  std::string line(const Event& event);

 private:
  std::string operation(const Access& access);
  std::string operation(const Sync& sync);
  std::string object(char prefix, uptr address) const;
  std::string thread(u64 tid) const;

  const RapidNames* names_;
  u64 order_ = 5;  // of the last atomic load
  SiteId site_{};  // of the last atomic access
};

/// The names as lines for a trace's text, and back: converting there and back keeps them.
std::string names_text(const RapidNames& names);
RapidNames names_from_text(const std::string& text);

}  // namespace duress::trace
