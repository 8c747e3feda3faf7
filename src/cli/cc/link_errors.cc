// SPDX-License-Identifier: Apache-2.0
#include "cli/cc/link_errors.h"

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
#include <cstdio>
#include <cstdlib>

extern char** environ;

namespace duress::cc {
namespace {

constexpr std::string_view kOwn = "__duress_";
constexpr std::string_view kTsan = "__tsan_";
constexpr std::string_view kSanitizer = "__sanitizer_";
/// SanitizerCoverage and AddressSanitizer have their own runtimes.
constexpr std::string_view kNotOurs[] = {"__sanitizer_cov_", "__sanitizer_ptr_", "__sanitizer_annotate_"};

bool is_hook(std::string_view name) {
  for (std::string_view other : kNotOurs)
    if (name.starts_with(other)) return false;
  return name.starts_with(kOwn) || name.starts_with(kTsan) || name.starts_with(kSanitizer);
}

bool in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.';
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    ssize_t n = write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

/// Passes on what is in the pipe until its end, or until the command has ended: a compiler cache may leave a
/// process behind that keeps the pipe open.
std::string passed_on(int from, pid_t child) {
  constexpr size_t kMost = size_t{16} << 20;  // a name further back is not explained
  std::string all;
  int ended =
      static_cast<int>(syscall(SYS_pidfd_open, child, 0));  // -1: then only the end of the pipe counts
  for (bool more = true; more;) {
    pollfd wait[] = {{from, POLLIN, 0}, {ended, POLLIN, 0}};
    if (poll(wait, 2, -1) < 0 && errno != EINTR) break;
    if ((wait[0].revents & (POLLIN | POLLHUP)) == 0) {
      more = wait[1].revents == 0;
      continue;
    }
    char block[4096];
    ssize_t n = read(from, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    std::string_view text(block, static_cast<size_t>(n));
    write_all(text);
    if (all.size() < kMost) all += text;
  }
  if (ended >= 0) close(ended);
  return all;
}

/// The command with its standard error in a pipe. A terminal gets colours all the same, unless the user says
/// otherwise further back in the line.
int spawn(char* const* command, int error, pid_t* child) {
  std::vector<char*> line;
  static char colours[] = "-fcolor-diagnostics";
  const char* terminal = getenv("TERM");
  line.push_back(command[0]);
  if (isatty(STDERR_FILENO) && terminal != nullptr && std::string_view(terminal) != "dumb" &&
      getenv("NO_COLOR") == nullptr)
    line.push_back(colours);
  for (char* const* word = command + 1; *word != nullptr; ++word) line.push_back(*word);
  line.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO);
  int result = posix_spawnp(child, line[0], &actions, nullptr, line.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return result;
}

}  // namespace

std::vector<std::string> missing_hooks(std::string_view messages) {
  std::vector<std::string> hooks;
  while (!messages.empty()) {
    std::string_view line = messages.substr(0, messages.find('\n'));
    messages.remove_prefix(std::min(messages.size(), line.size() + 1));
    // "undefined reference to `NAME'" (GNU ld, gold), "undefined symbol: NAME" (lld, mold).
    size_t at = line.find("undefined ");
    if (at == std::string_view::npos) continue;
    for (std::string_view rest = line.substr(at); !rest.empty();) {
      size_t begin = rest.find("__");
      if (begin == std::string_view::npos) break;
      size_t end = begin;
      while (end < rest.size() && in_name(rest[end])) ++end;
      std::string name(rest.substr(begin, end - begin));
      if (is_hook(name) && std::find(hooks.begin(), hooks.end(), name) == hooks.end()) hooks.push_back(name);
      rest.remove_prefix(end);
    }
  }
  return hooks;
}

std::string advice_on(const std::vector<std::string>& hooks) {
  std::string names;
  bool own = false;
  for (const std::string& hook : hooks) {
    own |= hook.starts_with(kOwn);
    names += (names.empty() ? "" : ", ") + hook;
  }
  if (own)
    return names +
           ": an object was built with another version of duress-cc; build everything with the same one";
  return names + ": not known to Duress " DURESS_VERSION
                 "; please report the name, and name and version of the compiler that made the object";
}

int link_and_explain(const char* name, char* const* command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  pid_t child;
  int error = spawn(command, ends[1], &child);
  close(ends[1]);
  if (error != 0) {
    errno = error;
    return -1;
  }
  std::string messages = passed_on(ends[0], child);
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
  }
  std::vector<std::string> hooks =
      WEXITSTATUS(status) == 0 ? std::vector<std::string>() : missing_hooks(messages);
  if (!hooks.empty()) fprintf(stderr, "%s: error: %s\n", name, advice_on(hooks).c_str());
  return WEXITSTATUS(status);
}

}  // namespace duress::cc
