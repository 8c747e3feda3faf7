// SPDX-License-Identifier: Apache-2.0
//
// The most specific evidence first: what the scheduler recorded (deadlock, livelock, step limit), then a
// sanitizer's report, then the message of an assertion or exception, then signal and exit code. Output is
// compared only for runs that ended normally, because that of others is cut off.
#include "exec/oracle.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <regex>
#include <vector>

#include "exec/files.h"
#include "exec/target_start.h"
#include "finding/text.h"
#include "trail/outcome.h"

namespace duress::exec {
namespace {

constexpr u64 kErrorsRead = u64{256} << 10;  // from the end of stderr

std::string line_at(const std::string& text, std::size_t at) {
  std::size_t start = text.rfind('\n', at);
  start = start == std::string::npos ? 0 : start + 1;
  return text.substr(start, text.find('\n', at) - start);
}

/// "prog: file.cc:12: void f(int): Assertion `x == 2' failed." as glibc writes it.
std::optional<finding::Failure> assertion(const std::string& errors) {
  std::size_t at = errors.rfind(": Assertion `");
  if (at == std::string::npos) return std::nullopt;
  std::size_t start = at + 13, end = errors.find("' failed", start);
  if (end == std::string::npos) return std::nullopt;
  finding::Failure failure;
  failure.kind = "assertion";
  failure.detail = errors.substr(start, end - start);
  failure.text = "assertion `" + failure.detail + "' failed";
  std::string line = line_at(errors, at);
  std::smatch match;
  static const std::regex kPlace("(?:^|: )([^:]+):([0-9]+): (.*): Assertion `");
  if (std::regex_search(line, match, kPlace)) {
    failure.place.file = match[1];
    failure.place.line = static_cast<std::uint32_t>(std::strtoul(match[2].str().c_str(), nullptr, 10));
    failure.place.function = match[3];
  }
  return failure;
}

/// "terminate called after throwing an instance of 'std::runtime_error'\n  what():  ..."
std::optional<finding::Failure> exception(const std::string& errors) {
  static const std::string kThrowing = "terminate called after throwing an instance of '";
  static const std::string kLibcxx = "terminating due to uncaught exception of type ";
  finding::Failure failure;
  std::string what;
  if (std::size_t at = errors.rfind(kThrowing); at != std::string::npos) {
    at += kThrowing.size();
    std::size_t end = errors.find("'\n", at);
    failure.detail = errors.substr(at, std::min(end, errors.find('\n', at)) - at);
    std::size_t said = errors.find("  what():  ", at);
    if (said != std::string::npos) what = line_at(errors, said).substr(11);
  } else if (at = errors.rfind(kLibcxx); at != std::string::npos) {
    std::string line = line_at(errors, at);
    line = line.substr(line.find(kLibcxx) + kLibcxx.size());
    std::size_t colon = line.find(": ");
    failure.detail = line.substr(0, colon);
    if (colon != std::string::npos) what = line.substr(colon + 2);
  } else if (errors.find("terminate called without an active exception") != std::string::npos) {
    failure.kind = "exception:std::terminate";
    failure.detail = "terminate";
    failure.text =
        "std::terminate called without an active exception (a thread that was neither joined nor detached?)";
    return failure;
  } else {
    return std::nullopt;
  }
  failure.kind = "exception:" + failure.detail;
  failure.text = "uncaught exception " + failure.detail + (what.empty() ? "" : ": " + what);
  return failure;
}

std::optional<finding::Failure> no_end(const std::string& detail, const std::string& text) {
  finding::Failure failure;
  failure.kind = "no-end";
  failure.detail = detail;
  failure.text = text;
  return failure;
}

}  // namespace

std::string signal_name(int signal) {
  if (const char* name = sigabbrev_np(signal)) return std::string("SIG") + name;
  return signal >= SIGRTMIN ? "SIGRTMIN+" + std::to_string(signal - SIGRTMIN)
                            : "SIG" + std::to_string(signal);
}

std::optional<finding::Failure> sanitizer_report(const std::string& errors) {
  static const std::regex kReport("(?:ERROR|WARNING): ([A-Z][A-Za-z]*Sanitizer): ([^\n]*)");
  static const std::regex kUndefined("([^\n: ]+):([0-9]+):([0-9]+): runtime error: ([^\n]*)");
  finding::Failure failure;
  std::smatch match;
  // Most runs write nothing at all or nothing of the kind; the regular expressions are slow on much text.
  if (errors.find("Sanitizer: ") != std::string::npos && std::regex_search(errors, match, kReport)) {
    std::string what = match[2];
    failure.kind = "sanitizer:" + match[1].str();
    failure.text = match[1].str() + ": " + what;
    failure.detail = what.substr(0, what.find(' '));  // "heap-use-after-free"; addresses follow
    return failure;
  }
  if (errors.find(": runtime error: ") != std::string::npos && std::regex_search(errors, match, kUndefined)) {
    failure.kind = "sanitizer:UndefinedBehaviorSanitizer";
    failure.text = match[4];
    std::string file = match[1];
    failure.detail =
        finding::base_name(file) + ":" + failure.text.substr(0, failure.text.find_first_of("0123456789"));
    failure.place.file = file;
    failure.place.line = static_cast<std::uint32_t>(std::strtoul(match[2].str().c_str(), nullptr, 10));
    failure.place.column = static_cast<std::uint32_t>(std::strtoul(match[3].str().c_str(), nullptr, 10));
    return failure;
  }
  return std::nullopt;
}

std::optional<finding::Failure> last_words(const std::string& errors) {
  std::optional<finding::Failure> failure = exception(errors);
  return failure ? failure : assertion(errors);
}

std::string Oracle::load() {
  if (options_.expected_output.empty()) return {};
  std::optional<std::string> text = read_file(options_.expected_output);
  if (!text) return "cannot read '" + options_.expected_output + "': " + std::strerror(errno);
  expected_ = std::move(*text);
  return {};
}

namespace {

std::optional<finding::Failure> failure_like(const std::string& kind, const std::string& text) {
  finding::Failure failure;
  failure.kind = kind;
  failure.text = text;
  return failure;
}

/// What the scheduler saw, and what we ended ourselves.
std::optional<finding::Failure> no_end_of(const Execution& execution) {
  if (execution.flooded) return no_end("output", "printed more than 1 GiB and did not end");
  switch (execution.record.outcome) {
    case trail::Outcome::kDeadlock:
      return failure_like("deadlock", "deadlock");
    case trail::Outcome::kLivelock:
      return no_end("livelock", "livelock: threads go on running and nothing changes");
    case trail::Outcome::kStepLimit:
      return no_end("step-limit", "no end within " + std::to_string(execution.record.steps) + " steps");
    case trail::Outcome::kStuck:
      return no_end("stuck", "a thread runs without end and without synchronisation");
    default:
      break;
  }
  if (const trail::Misuse* misuse = trail::misuse_of(execution.record.outcome))
    return failure_like(misuse->word, misuse->text);
  if (execution.timed_out) return no_end("timeout", "no end within the time of one run (--run-timeout)");
  return std::nullopt;
}

std::optional<finding::Failure> death_of(int signal, const std::string& errors) {
  if (signal == SIGABRT) {
    if (std::optional<finding::Failure> failure = last_words(errors)) return failure;
  }
  const char* what = sigdescr_np(signal);
  return failure_like("signal:" + signal_name(signal),
                      signal_name(signal) + (what ? " (" + std::string(what) + ")" : ""));
}

/// Waits for the end of a command, which is killed if `stop` turns true. False: it was.
bool wait_for(pid_t pid, int& status, const std::atomic<bool>* stop) {
  if (stop != nullptr) {
    constexpr int kMilliseconds = 50;  // between two looks at `stop`
    Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    pollfd end = {process.get(), POLLIN, 0};
    while (waitpid(pid, &status, WNOHANG) == 0) {
      if (stop->load(std::memory_order_relaxed)) {
        kill(-pid, SIGKILL);  // what it has started, too
        kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        return false;
      }
      // Returns when the command ends. Without a pidfd (an old kernel) this only sleeps.
      poll(&end, 1, process.get() < 0 ? 1 : kMilliseconds);
    }
    return true;
  }
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return true;
}

std::string cannot_read(const std::string& path) {
  return "cannot read what the program printed, '" + path + "': " + std::strerror(errno);
}

}  // namespace

std::string Oracle::judge(const Execution& execution, const Captured& captured,
                          std::optional<finding::Failure>& failure, const std::atomic<bool>* stop) const {
  failure = no_end_of(execution);
  if (failure && failure->kind == "no-end") failure->detail += ' ' + program_;
  if (failure) return {};
  std::string errors;
  if (execution.error_bytes != 0) {
    std::optional<std::string> text = read_file(captured.errors, kErrorsRead);
    if (!text) return cannot_read(captured.errors);
    errors = std::move(*text);
  }
  failure = sanitizer_report(errors);
  if (failure) return {};
  if (WIFSIGNALED(execution.status)) {
    failure = death_of(WTERMSIG(execution.status), errors);
  } else if (int code = WEXITSTATUS(execution.status); code != options_.expect_exit) {
    failure = failure_like("exit:" + std::to_string(code), "exit code " + std::to_string(code));
    failure->detail = program_;
    if (options_.expect_exit != 0) failure->text += ", expected " + std::to_string(options_.expect_exit);
  } else if (execution.record.outcome == trail::Outcome::kFailed) {
    failure = failure_like("check", "duress::check failed");
  }
  return failure ? std::string() : judge_output(captured, failure, stop);
}

std::string Oracle::judge_output(const Captured& captured, std::optional<finding::Failure>& failure,
                                 const std::atomic<bool>* stop) const {
  if (!options_.expected_output.empty()) {
    std::optional<std::string> output = read_file(captured.output);
    if (!output) return cannot_read(captured.output);
    if (*output != expected_) {
      auto differ = std::mismatch(output->begin(), output->end(), expected_.begin(), expected_.end());
      auto line = 1 + std::count(output->begin(), differ.first, '\n');
      failure = failure_like(
          "output", "output differs from " + options_.expected_output + " in line " + std::to_string(line));
      return {};
    }
  }
  if (options_.wrong_output != 0 && hash_of_file(captured.output) == options_.wrong_output) {
    failure = failure_like("output", "it printed what no sequentially consistent run printed");
    return {};
  }
  return options_.check.empty() ? std::string() : run_check(captured, failure, stop);
}

std::string Oracle::run_check(const Captured& captured, std::optional<finding::Failure>& failure,
                              const std::atomic<bool>* stop) const {
  std::string said = captured.output + ".check";
  struct Call {
    const char* command;
    const char* input;
    const char* output;
  } call{options_.check.c_str(), captured.output.c_str(), said.c_str()};
  pid_t pid = start_own(
      [](void* argument) {
        auto* the = static_cast<Call*>(argument);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, the->input, O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, 1, the->output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
        const char* words[] = {"sh", "-c", the->command, nullptr};
        pid_t child = -1;
        posix_spawnattr_t attributes;  // a group of its own: it can be ended with all that it started
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        int error = posix_spawnp(&child, "sh", &actions, &attributes, const_cast<char**>(words), environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
        return error == 0 ? child : -1;
      },
      &call);
  int status = 0;
  if (pid <= 0) return std::string("cannot start a shell for --check: ") + std::strerror(errno);
  bool stopped = !wait_for(pid, status, stop);
  own_ended(pid);
  if (stopped) return kStopped;
  if (status == 0) return {};
  std::string words = finding::first_line(read_file(said, 4096).value_or(""));
  if (WIFSIGNALED(status)) return "the command of --check was ended by " + signal_name(WTERMSIG(status));
  // What a shell answers for a command that it cannot find or start.
  if (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126)
    return "the command of --check could not be run: " + words;
  failure = failure_like("check", "rejected by --check" + (words.empty() ? "" : ": " + words));
  return {};
}

}  // namespace duress::exec
