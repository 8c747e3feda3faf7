// SPDX-License-Identifier: Apache-2.0
#include "report/access_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "finding/text.h"
#include "report/path.h"
#include "report/words.h"

namespace duress::report {
namespace {

using finding::Access;
using finding::Frame;

const char* verb(Access access) {
  switch (access) {
    case Access::kRead:
      return "reads";
    case Access::kWrite:
      return "writes";
    case Access::kAtomicRead:
      return "atomically reads";
    case Access::kAtomicWrite:
      return "atomically writes";
    case Access::kAtomicRmw:
      return "atomically updates";
    case Access::kFree:
      return "frees";
  }
  return "accesses";
}

std::string frame_text(const Frame& frame, const FindingStyle& style) {
  std::string text = function_text(frame);
  if (!frame.file.empty()) {
    text += "  " + place_text(frame, style.cwd);
  } else if (!frame.function.empty() && !frame.module.empty()) {
    if (frame.function_offset != 0) text += fmt::format("+{:#x}", frame.function_offset);
    text += fmt::format("  ({})", printable(finding::base_name(frame.module)));
  }
  if (style.verbose && !frame.module.empty() && frame.module_offset != 0)
    text += fmt::format("  [{}+{:#x}]", printable(frame.module), frame.module_offset);
  return text;
}

}  // namespace

std::string thread_text(int thread, const std::string& name) {
  if (!name.empty()) return fmt::format("T{} '{}'", thread, printable(name));
  return thread == 0 ? "T0 'main'" : fmt::format("T{}", thread);
}

std::string function_text(const Frame& frame) {
  if (!frame.function.empty())  // operator() has its own parentheses
    return printable(frame.function) + (frame.function.back() == ')' ? "" : "()");
  if (!frame.module.empty())
    return fmt::format("{}+{:#x}", printable(finding::base_name(frame.module)), frame.module_offset);
  return frame.module_offset == 0 ? "?" : fmt::format("{:#x}", frame.module_offset);
}

std::string place_text(const Frame& frame, const std::string& cwd) {
  std::string text = printable(shown_path(frame.file, cwd));
  if (frame.line != 0) text += fmt::format(":{}", frame.line);
  if (frame.line != 0 && frame.column != 0) text += fmt::format(":{}", frame.column);
  return text;
}

std::string short_place_text(const Frame& frame) {
  if (frame.file.empty()) return printable(finding::base_name(frame.module));
  return fmt::format("{}:{}", printable(finding::base_name(frame.file)), frame.line);
}

std::array<std::string, 2> access_lines(const finding::Race& race, bool thread_names) {
  std::array<std::string, 2> who, what, in, where, lines;
  for (std::size_t i = 0; i < 2; ++i) {
    const finding::AccessReport& access = race.sites[i];
    who[i] = access.thread < 0 ? "somebody"
             : thread_names    ? thread_text(access.thread, access.thread_name)
                               : fmt::format("T{}", access.thread);
    what[i] = verb(access.access);
    in[i] = function_text(access.site());
    where[i] = short_place_text(access.site());
  }
  auto width = [](const std::array<std::string, 2>& texts) {
    return std::max(texts[0].size(), texts[1].size());
  };
  for (std::size_t i = 0; i < 2; ++i) {
    const finding::AccessReport& access = race.sites[i];
    std::string& line = lines[i == race.headline() ? 0 : 1];
    if (access.thread < 0) {
      line = fmt::format("somebody {}: only the value changed, the writer is not known", what[i]);
      continue;
    }
    line = fmt::format("{:<{}} {:<{}}  {:<{}}  {:<{}}  ", who[i], width(who), what[i], width(what), in[i],
                       width(in), where[i], width(where));
    line += race.collision         ? printable(access.instruction)
            : access.locks.empty() ? "holds nothing"
                                   : printable(fmt::format("holds {}", fmt::join(access.locks, ", ")));
  }
  return lines;
}

std::string stack_text(const std::vector<Frame>& stack, const FindingStyle& style) {
  if (stack.empty()) return "    (no stack)\n";
  // A stack that is all library would fold to nothing.
  bool fold =
      !style.verbose && std::any_of(stack.begin(), stack.end(), [](const Frame& f) { return !f.library; });
  std::string text;
  for (std::size_t i = 0; i < stack.size();) {
    std::size_t end = i;
    while (fold && end < stack.size() && stack[end].library) ++end;
    if (end == i) {
      text += fmt::format("    #{} {}\n", i, frame_text(stack[i], style));
      ++i;
      continue;
    }
    // Above the user's code, what that code called says enough.
    std::string called = end < stack.size() ? ", called as " + function_text(stack[end - 1]) : "";
    text += "    " + style.dim(fmt::format("… {}{}", count_text(end - i, "library frame"), called)) + "\n";
    i = end;
  }
  return text;
}

std::string first_line(const FirstLine& line, const FindingStyle& style) {
  std::string where = line.place.file.empty() ? line.fallback : place_text(line.place, style.cwd);
  return fmt::format(
      "{} {} {}\n", style.bold(printable(where) + ":"),
      line.severity == FirstLine::kError     ? style.red("error:")
      : line.severity == FirstLine::kWarning ? style.magenta("warning:")
                                             : style.bold("note:"),
      style.bold(fmt::format("{} [{}]{}", printable(line.text), line.id, printable(line.tail))));
}

}  // namespace duress::report
