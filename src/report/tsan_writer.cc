// SPDX-License-Identifier: Apache-2.0
#include "report/tsan_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "finding/text.h"
#include "report/path.h"

namespace duress::report {
namespace {

using finding::Access;
using finding::Frame;

constexpr const char* kLine = "==================\n";

std::string what_it_does(Access access, bool previous) {
  std::string text;
  switch (access) {
    case Access::kRead:
      text = "read";
      break;
    case Access::kAtomicRead:
      text = "atomic read";
      break;
    case Access::kAtomicWrite:
    case Access::kAtomicRmw:
      text = "atomic write";
      break;
    default:
      text = "write";
  }
  if (previous) return "Previous " + text;
  text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string thread_text(int id, const std::string& name) {
  if (id == 0) return "main thread";
  return fmt::format("thread T{}{}", id, name.empty() ? "" : fmt::format(" '{}'", printable(name)));
}

std::string place_text(const Frame& frame) {
  if (frame.file.empty()) return "<null>";
  std::string text = printable(frame.file);
  if (frame.line != 0) text += fmt::format(":{}", frame.line);
  if (frame.line != 0 && frame.column != 0) text += fmt::format(":{}", frame.column);
  return text;
}

std::string stack_text(const std::vector<Frame>& stack) {
  std::string text;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const Frame& frame = stack[i];
    text += fmt::format("    #{} {} {} ({}+{:#x})\n", i,
                        frame.function.empty() ? "<null>" : printable(frame.function), place_text(frame),
                        printable(finding::base_name(frame.module)), frame.module_offset);
  }
  return text.empty() ? "    [failed to restore the stack]\n" : text;
}

std::string block_text(const finding::Race& race) {
  const finding::BlockReport& block = race.block;
  switch (block.kind) {
    case finding::BlockKind::kHeap:
      return fmt::format("  Location is heap block of size {} at {:#x} allocated by {}:\n{}\n", block.size,
                         race.address - static_cast<finding::Address>(block.offset),
                         thread_text(block.thread, ""), stack_text(block.stack));
    case finding::BlockKind::kGlobal:
      return fmt::format("  Location is global '{}' of size {} at {:#x}\n\n", printable(block.name),
                         block.size, race.address - static_cast<finding::Address>(block.offset));
    case finding::BlockKind::kStack:
      return fmt::format("  Location is stack of {}.\n\n", thread_text(block.thread, ""));
    case finding::BlockKind::kTls:
      return fmt::format("  Location is TLS of {}.\n\n", thread_text(block.thread, ""));
    default:
      return {};
  }
}

/// The verdict is part of the kind of error: "data race, no harm found".
std::string kind_text(const RaceEntry& race) {
  if (!race.judgement || race.judgement->kind == finding::VerdictKind::kOpen) return "data race";
  std::string verdict = finding::name_of(race.judgement->kind);
  std::replace(verdict.begin(), verdict.end(), '-', ' ');
  return "data race, " + verdict;
}

std::string race_text(const RaceEntry& race, int pid) {
  std::string kind = kind_text(race);
  std::string text = kLine;
  text += fmt::format("WARNING: ThreadSanitizer: {} (pid={})\n", kind, race.pid != 0 ? race.pid : pid);
  // ThreadSanitizer tells the later access first.
  for (std::size_t i : {std::size_t{1}, std::size_t{0}}) {
    const finding::AccessReport& side = race.sites[i];
    std::string locks;
    for (const std::string& lock : side.locks) locks += (locks.empty() ? "" : ", ") + printable(lock);
    text += fmt::format("  {} of size {} at {:#x} by {}{}:\n{}\n", what_it_does(side.access, i == 0),
                        side.size, race.address, thread_text(side.thread, side.thread_name),
                        locks.empty() ? "" : fmt::format(" (mutexes: {})", locks), stack_text(side.stack));
  }
  text += block_text(race);
  for (const finding::ThreadReport& thread : race.threads) {
    if (thread.id == 0 || (thread.parent < 0 && thread.stack.empty())) continue;
    std::string name = thread.name.empty() ? "" : fmt::format(" '{}'", printable(thread.name));
    text += fmt::format("  Thread T{}{} created by {} at:\n{}\n", thread.id, name,
                        thread_text(thread.parent, ""), stack_text(thread.stack));
  }
  Frame site = race.sites[race.headline()].site();
  text += fmt::format("  Duress: variable {}, id {}\n\n", printable(race.variable), race.id);
  text += fmt::format("SUMMARY: ThreadSanitizer: {} {} in {}\n", kind, place_text(site),
                      site.function.empty() ? "<null>" : printable(site.function));
  return text + kLine;
}

}  // namespace

std::string to_tsan(const Document& document) {
  std::string text;
  for (const RaceEntry& race : document.races) text += race_text(race, document.root_pid);
  if (!document.races.empty())
    text += fmt::format("ThreadSanitizer: reported {} warnings\n", document.races.size());
  return text;
}

}  // namespace duress::report
