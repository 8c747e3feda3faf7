// SPDX-License-Identifier: Apache-2.0
//
// First a line in the shape of a compiler's error, then what a reader asks next: for a deadlock who waits for
// what and who holds it, for a crash how it came there, then how to see it again.
#include "report/failure_text.h"

#include <algorithm>
#include <cstdio>

#include "report/path.h"

namespace duress::report {
namespace {

using finding::Frame;

class Writer {
 public:
  Writer(const FailureEntry& entry, const FindingStyle& style) : entry_(entry), style_(style) {}

  std::string write(const std::string& program, const std::vector<std::string>& remarks) {
    const finding::Failure& failure = entry_.failure;
    std::string where = failure.place.file.empty() ? printable(program) : place(failure.place);
    line(colored("\033[1m", where + ":") + " " + colored("\033[1;31m", "error:") + " " +
         colored("\033[1m", printable(failure.text)) + " [" + failure.id + "]");
    if (style_.quiet) return std::move(out_);
    if (entry_.stuck)
      write_stuck();
    else
      write_crash();
    write_errors();
    write_stale();
    for (const std::string& remark : remarks) line("  " + remark);
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }

  std::string colored(const char* color, const std::string& text) const {
    return style_.color ? color + text + "\033[0m" : text;
  }

  std::string place(const Frame& frame) const {
    std::string text = printable(shown_path(frame.file, style_.cwd));
    if (frame.line != 0) text += ":" + std::to_string(frame.line);
    if (frame.line != 0 && frame.column != 0) text += ":" + std::to_string(frame.column);
    return text;
  }

  std::string function(const Frame& frame) const {
    if (!frame.function.empty())
      return printable(frame.function) + (frame.function.back() == ')' ? "" : "()");
    char address[32];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(frame.module_offset));
    return frame.module.empty() ? address : printable(base_name(frame.module)) + "+" + address;
  }

  std::string frame_text(const Frame& frame) const {
    std::string text = function(frame);
    if (!frame.file.empty())
      text += "  " + place(frame);
    else if (!frame.function.empty() && !frame.module.empty())
      text += "  (" + printable(base_name(frame.module)) + ")";
    return text;
  }

  void write_stack(const std::vector<Frame>& stack) {
    bool fold = !style_.verbose &&
                std::any_of(stack.begin(), stack.end(), [](const Frame& frame) { return !frame.library; });
    for (std::size_t i = 0; i < stack.size();) {
      std::size_t end = i;
      while (fold && end < stack.size() && stack[end].library) ++end;
      if (end > i) {
        std::string called = end < stack.size() ? ", called as " + function(stack[end - 1]) : "";
        line("    " + colored("\033[2m", "… " + std::to_string(end - i) + " library frame" +
                                             (end - i == 1 ? "" : "s") + called));
        i = end;
      } else {
        line("    #" + std::to_string(i) + " " + frame_text(stack[i]));
        ++i;
      }
    }
  }

  std::string who(int number) const {
    auto it = entry_.thread_names.find(number);
    return strand_text(number, it == entry_.thread_names.end() ? "" : it->second);
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
      line("  " + strand_text(waiting[i].thread, waiting[i].name) + " " + doing(waiting[i]));
      write_stack(waiting[i].stack);
    }
    if (waiting.size() > kMost && !style_.verbose)
      line("  … and " + std::to_string(waiting.size() - kMost) + " more threads (-v shows all)");
    bool held = std::any_of(waiting.begin(), waiting.end(),
                            [](const WaitingThread& one) { return !one.held_by.empty(); });
    if (entry_.outcome == "deadlock" && !held)
      line("  no thread is left that could wake them: a wake-up came before its wait, or never");
  }

  void write_crash() {
    if (entry_.crashes.empty()) return;
    const CrashedThread& crash = entry_.crashes.back();
    line("  in " + strand_text(crash.thread, crash.name));
    write_stack(crash.stack);
  }

  void write_stale() {
    for (const StaleValue& read : entry_.stale) {
      std::string what = read.variable.empty() ? "" : " from " + printable(read.variable);
      std::string where = read.place.file.empty() ? "" : "  " + place(read.place);
      line("  " + strand_text(read.thread, "") + " reads stale " + read.value + what + " (newest " +
           read.newest + ")" + where);
    }
    if (entry_.more_stale) line("  … and more stale values (duress replay --trace shows all)");
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

std::string strand_text(int strand, const std::string& name) {
  std::string text = "T" + std::to_string(strand);
  if (!name.empty()) return text + " '" + printable(name) + "'";
  return strand == 0 ? text + " 'main'" : text;
}

std::string to_text(const FailureEntry& entry, const std::string& program,
                    const std::vector<std::string>& remarks, const FindingStyle& style) {
  return Writer(entry, style).write(program, remarks);
}

}  // namespace duress::report
