// SPDX-License-Identifier: Apache-2.0
//
// First a line in the shape of a compiler's error, then what a reader asks next: for a deadlock who waits for
// what and who holds it, for a crash how it came there, then how to see it again.
#include "report/failure_text.h"

#include <algorithm>
#include <cstdio>

#include "report/trace_text.h"

namespace duress::report {
namespace {

using finding::Frame;

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

class Writer {
 public:
  Writer(const FailureView& view, finding::Names& names, const FailureStyle& style)
      : view_(view), names_(names), style_(style), process_(view.logs.process()) {}

  std::string write() {
    const finding::Failure& failure = view_.failure;
    std::string where = failure.place.file.empty() ? names_.clean(view_.program) : place(failure.place);
    line(colored("\033[1m", where + ":") + " " + colored("\033[1;31m", "error:") + " " +
         colored("\033[1m", names_.clean(failure.text)) + " [" + failure.id + "]");
    if (style_.quiet) return std::move(out_);
    if (view_.logs.stuck)
      write_stuck(*view_.logs.stuck);
    else
      write_crash();
    write_errors();
    write_stale();
    for (const std::string& remark : view_.remarks) line("  " + remark);
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }

  std::string colored(const char* color, const std::string& text) const {
    return style_.color ? color + text + "\033[0m" : text;
  }

  std::string place(const Frame& frame) const {
    std::string text = names_.clean(names_.shown(frame.file));
    if (frame.line != 0) text += ":" + std::to_string(frame.line);
    if (frame.line != 0 && frame.column != 0) text += ":" + std::to_string(frame.column);
    return text;
  }

  std::string function(const Frame& frame) const {
    if (!frame.function.empty())
      return names_.clean(frame.function) + (frame.function.back() == ')' ? "" : "()");
    char address[32];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(frame.module_offset));
    return frame.module.empty() ? address : names_.clean(base_name(frame.module)) + "+" + address;
  }

  std::string frame_text(const Frame& frame) const {
    std::string text = function(frame);
    if (!frame.file.empty())
      text += "  " + place(frame);
    else if (!frame.function.empty() && !frame.module.empty())
      text += "  (" + names_.clean(base_name(frame.module)) + ")";
    return text;
  }

  void write_stack(const std::vector<finding::Address>& addresses) {
    if (process_ == nullptr) return;
    std::vector<Frame> stack = names_.stack(*process_, addresses);
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
    for (const finding::StuckStrand& strand : view_.logs.stuck->strands) {
      if (strand.strand == number) return strand_text(number, strand.name, names_);
    }
    return strand_text(number, "", names_);
  }

  /// "waits to lock mu_, held by T2", "waits in join of T1", "runs".
  std::string doing(const finding::StuckStrand& strand) const {
    const std::string& op = strand.operation;
    bool locks = op == "lock" || op == "read lock" || op == "acquire";
    std::string text;
    if (strand.state != "blocked")
      text = "can run, at " + names_.clean(op);
    else if (op == "join")
      text = "waits for the end of a thread";
    else if (locks)
      text = "waits to " + names_.clean(op);
    else if (op == "wait" || op == "futex wait")
      text = "waits to be woken on";
    else
      text = "waits in " + names_.clean(op);
    if (strand.object != 0 && op != "join" && process_ != nullptr)
      text += " " + names_.clean(names_.object(*process_, strand.object));
    std::string holders;
    for (int holder : strand.held_by) holders += (holders.empty() ? "" : ", ") + who(holder);
    if (!holders.empty()) text += op == "join" ? ": " + holders : ", held by " + holders;
    return text;
  }

  void write_stuck(const finding::Stuck& stuck) {
    constexpr std::size_t kMost = 16;  // of a thousand waiting threads the first few say it all
    std::vector<const finding::StuckStrand*> strands = finding::waiting_strands(stuck);
    for (std::size_t i = 0; i < strands.size() && (i < kMost || style_.verbose); ++i) {
      line("  " + strand_text(strands[i]->strand, strands[i]->name, names_) + " " + doing(*strands[i]));
      write_stack(strands[i]->stack);
    }
    if (strands.size() > kMost && !style_.verbose)
      line("  … and " + std::to_string(strands.size() - kMost) + " more threads (-v shows all)");
    bool held = std::any_of(strands.begin(), strands.end(),
                            [](const finding::StuckStrand* s) { return !s->held_by.empty(); });
    if (stuck.outcome == "deadlock" && !held)
      line("  no thread is left that could wake them: a wake-up came before its wait, or never");
  }

  void write_crash() {
    if (process_ == nullptr || process_->crashes.empty()) return;
    const finding::CrashRecord& crash = process_->crashes.back();
    std::string name;
    if (auto it = process_->threads.find(crash.thread); it != process_->threads.end()) name = it->second.name;
    line("  in " + strand_text(crash.thread, name, names_));
    write_stack(crash.stack);
  }

  void write_stale() {
    constexpr std::size_t kMost = 8;
    const std::vector<finding::StaleRead>& reads = view_.logs.stale;
    for (std::size_t i = 0; i < reads.size() && i < kMost && process_ != nullptr; ++i) {
      finding::NamedSite site =
          reads[i].site ? names_.site_at(*process_, *reads[i].site, reads[i].object) : finding::NamedSite{};
      std::string what = site.variable.empty() ? "" : " from " + names_.clean(site.variable);
      std::string where = site.frame.file.empty() ? "" : "  " + place(site.frame);
      line("  " + strand_text(reads[i].strand, "", names_) + " reads stale " +
           value_text(reads[i].value, reads[i].size) + what + " (newest " +
           value_text(reads[i].newest, reads[i].size) + ")" + where);
    }
    if (reads.size() > kMost) line("  … and more stale values (duress replay --trace shows all)");
  }

  void write_errors() {
    constexpr std::size_t kLines = 6;
    std::string text = view_.errors;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (text.empty()) return;
    std::size_t start = text.size();
    for (std::size_t count = 0; count < kLines && start != std::string::npos && start != 0; ++count)
      start = text.rfind('\n', start - 1);
    line("  it wrote to stderr:");
    text = start == std::string::npos || start == 0 ? text : text.substr(start + 1);
    for (std::size_t at = 0; at <= text.size();) {
      std::size_t end = std::min(text.find('\n', at), text.size());
      line("    | " + names_.clean(text.substr(at, end - at)));
      at = end + 1;
    }
  }

  const FailureView& view_;
  finding::Names& names_;
  const FailureStyle& style_;
  const finding::ProcessLog* process_;
  std::string out_;
};

}  // namespace

std::string strand_text(int strand, const std::string& name, finding::Names& names) {
  std::string text = "T" + std::to_string(strand);
  if (!name.empty()) return text + " '" + names.clean(name) + "'";
  return strand == 0 ? text + " 'main'" : text;
}

std::string switches_text(u64 count) {
  return count == 0 ? "no switch" : count == 1 ? "one switch" : std::to_string(count) + " switches";
}

std::string to_text(const FailureView& view, finding::Names& names, const FailureStyle& style) {
  return Writer(view, names, style).write();
}

}  // namespace duress::report
