// SPDX-License-Identifier: Apache-2.0
//
// First a line in the shape of a compiler's error, then what a reader asks next: for a deadlock who waits for
// what and who holds it, for a crash how it came there, then how to see it again.
#include "report/failure_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/access_text.h"
#include "report/path.h"
#include "report/words.h"

namespace duress::report {
namespace {

class Writer {
 public:
  Writer(const FailureEntry& entry, const FindingStyle& style) : entry_(entry), style_(style) {}

  std::string write(const std::string& program, const std::vector<std::string>& remarks) {
    const finding::Failure& failure = entry_.failure;
    out_ = first_line({failure.place, program, FirstLine::kError, failure.text, failure.id}, style_);
    if (style_.quiet) return std::move(out_);
    if (entry_.memory)
      write_memory_error(*entry_.memory);
    else if (entry_.stuck)
      write_stuck();
    else
      write_crash();
    write_errors();
    write_stale();
    write_timeouts();
    for (const std::string& remark : remarks) line("  " + remark);
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }

  void write_stack(const std::vector<finding::Frame>& stack) { out_ += stack_text(stack, style_); }

  std::string who(int number) const {
    auto it = entry_.thread_names.find(number);
    return thread_text(number, it == entry_.thread_names.end() ? "" : it->second);
  }

  /// "waits to lock mu_, held by T2", "waits in join of T1", "runs".
  std::string doing(const WaitingThread& thread) const {
    const std::string& op = thread.operation;
    bool locks = op == "lock" || op == "read lock" || op == "acquire";
    std::string text;
    if (thread.state != "blocked")
      text = "can run, at " + printable(op);
    else if (op == "join")
      text = "waits for the end of a thread";
    else if (locks)
      text = "waits to " + printable(op);
    else if (op == "wait" || op == "futex wait")
      text = "waits to be woken on";
    else
      text = "waits in " + printable(op);
    if (!thread.object.empty() && op != "join") text += " " + printable(thread.object);
    std::string holders;
    for (int holder : thread.held_by) holders += (holders.empty() ? "" : ", ") + who(holder);
    if (!holders.empty()) text += op == "join" ? ": " + holders : ", held by " + holders;
    return text;
  }

  void write_stuck() {
    constexpr std::size_t kMost = 16;  // of a thousand waiting threads the first few say it all
    const std::vector<WaitingThread>& waiting = entry_.waiting;
    for (std::size_t i = 0; i < waiting.size() && (i < kMost || style_.verbose); ++i) {
      line("  " + thread_text(waiting[i].thread, waiting[i].name) + " " + doing(waiting[i]));
      write_stack(waiting[i].stack);
    }
    if (waiting.size() > kMost && !style_.verbose)
      line("  … and " + std::to_string(waiting.size() - kMost) + " more threads (-v shows all)");
    bool held = std::any_of(waiting.begin(), waiting.end(),
                            [](const WaitingThread& one) { return !one.held_by.empty(); });
    if (entry_.outcome == "deadlock" && !held)
      line("  no thread is left that could wake them: a wake-up came before its wait, or never");
  }

  /// "reads 4 bytes, 8 bytes into a heap block of 24 bytes: Counter::hits"
  static std::string deed(const MemoryError& error) {
    const finding::BlockReport& block = error.block;
    bool heap = block.kind == finding::BlockKind::kHeap;
    const auto size = static_cast<std::int64_t>(block.size);
    std::string text = error.access.access == finding::Access::kFree
                           ? std::string("frees")
                           : fmt::format("{} {}", is_write(error.access.access) ? "writes" : "reads",
                                         count_text(error.access.size, "byte"));
    if (heap) {
      std::string where = block.offset < 0       ? count_text(-block.offset, "byte") + " before"
                          : block.offset >= size ? count_text(block.offset - size, "byte") + " behind"
                          : block.offset == 0    ? "at the beginning of"
                                                 : count_text(block.offset, "byte") + " into";
      text +=
          fmt::format("{} {} a heap block of {}", error.access.access == finding::Access::kFree ? "" : ",",
                      where, count_text(block.size, "byte"));
    } else if (block.kind == finding::BlockKind::kStack && block.thread >= 0) {
      text += fmt::format(" of the stack of T{}", block.thread);
    }
    return text + (error.variable.empty() ? "" : ": " + printable(error.variable));
  }

  void write_memory_error(const MemoryError& error) {
    line("  " + thread_text(error.access.thread, error.access.thread_name) + " " + deed(error));
    write_stack(error.access.stack);
    if (error.freed) {
      const char* word = entry_.failure.kind == "double-init"         ? "initialised before"
                         : entry_.failure.kind == "use-after-destroy" ? "destroyed"
                                                                      : "freed";
      line(fmt::format("  {} by {}", word, thread_text(error.freed->thread, error.freed->thread_name)));
      write_stack(error.freed->stack);
    }
    if (error.block.stack.empty()) return;
    line(fmt::format("  allocated by T{}", error.block.thread));
    write_stack(error.block.stack);
  }

  void write_crash() {
    if (entry_.crashes.empty()) return;
    const CrashedThread& crash = entry_.crashes.back();
    line("  in " + thread_text(crash.thread, crash.name));
    write_stack(crash.stack);
  }

  void write_stale() {
    for (const StaleValue& read : entry_.stale) {
      std::string what = read.variable.empty() ? "" : " from " + printable(read.variable);
      std::string where = read.place.file.empty() ? "" : "  " + place_text(read.place, style_.cwd);
      line("  " + thread_text(read.thread, "") + " reads stale " + read.value + what + " (newest " +
           read.newest + ")" + where);
    }
    if (entry_.more_stale) line("  … and more stale values (duress replay --trace shows all)");
  }

  /// "5 s", "1.5 s", "100 ms": deadlines are absolute, so what is left of them is a little less.
  static std::string duration(double seconds) {
    for (const auto& [unit, name] : {std::pair{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}}) {
      if (seconds >= unit * 0.9995)
        return fmt::format("{:.4g} {}", std::round(seconds / unit * 1e3) / 1e3, name);
    }
    return fmt::format("{:.4g} ns", seconds * 1e9);
  }

  void write_timeouts() {
    for (const EarlyTimeout& timeout : entry_.timeouts) {
      std::string who =
          timeout.thread < 0 ? "expires" : thread_text(timeout.thread, timeout.name) + " times out";
      std::string where = timeout.place.file.empty() ? "" : "  " + place_text(timeout.place, style_.cwd);
      line(fmt::format("  {} early: {} of {}{}", who, timeout.what, duration(timeout.seconds), where));
    }
    if (!entry_.timeouts.empty())
      line("  needs a timeout that comes before other threads have gone on: --timeouts real forbids it");
  }

  void write_errors() {
    constexpr std::size_t kLines = 6;
    std::string text = entry_.errors;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (text.empty()) return;
    std::size_t start = text.size();
    for (std::size_t count = 0; count < kLines && start != std::string::npos && start != 0; ++count)
      start = text.rfind('\n', start - 1);
    line("  it wrote to stderr:");
    text = start == std::string::npos || start == 0 ? text : text.substr(start + 1);
    for (std::size_t at = 0; at <= text.size();) {
      std::size_t end = std::min(text.find('\n', at), text.size());
      line("    | " + printable(text.substr(at, end - at)));
      at = end + 1;
    }
  }

  const FailureEntry& entry_;
  const FindingStyle& style_;
  std::string out_;
};

}  // namespace

std::string to_text(const FailureEntry& entry, const std::string& program,
                    const std::vector<std::string>& remarks, const FindingStyle& style) {
  return Writer(entry, style).write(program, remarks);
}

}  // namespace duress::report
