// SPDX-License-Identifier: Apache-2.0
//
// Programs compute with addresses (hash tables of pointers, comparisons), so address space randomisation is
// switched off where the kernel permits it; elsewhere the runtime's record says if a replay diverged.
#include "exec/target_start.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <regex>
#include <set>
#include <string_view>

#include "base/exec_words.h"
#include "exec/files.h"
#include "exec/processor.h"

namespace duress::exec {
namespace {

std::mutex own_lock;
std::set<pid_t> own;  // under own_lock

constexpr char kTunables[] = "GLIBC_TUNABLES";

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& ours) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    auto same_name = [entry](const auto& variable) {
      return std::string_view(*entry).starts_with(variable.first + "=");
    };
    if (std::none_of(ours.begin(), ours.end(), same_name)) variables.emplace_back(*entry);
  }
  for (const auto& [name, value] : ours) variables.push_back(name + "=" + value);
  return variables;
}

/// However this host ends, the kernel closes its end of the pipe, and then kills the process group that has
/// the other: the fork server, and the execution that it waits for. (PR_SET_PDEATHSIG knows only children,
/// and is about the thread that started them, which may end before.) A kernel without F_SETSIG leaves a
/// server that ends when it reads its next request. In the child: its own copy of our end is closed by exec.
void hold_lifeline(int pipe) {
  fcntl(pipe, F_SETSIG, SIGKILL);
  fcntl(pipe, F_SETOWN, -getpid());
  fcntl(pipe, F_SETFL, O_ASYNC);
}

/// In the child, between fork and exec: system calls only, locks of other threads may be held forever.
void become_target(const TargetStart& start, char* const* argv, char* const* variables, int report,
                   pid_t host) {
  auto fail = [report] {
    int error = errno;
    ssize_t ignored = write(report, &error, sizeof error);
    (void)ignored;
    _exit(127);
  };
  if (start.own_group) {
    setpgid(0, 0);
    if (start.lifeline >= 0) hold_lifeline(start.lifeline);
  } else {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != host) _exit(127);
  }
  int input = open(start.input.empty() ? "/dev/null" : start.input.c_str(), O_RDONLY);
  if (input < 0 || dup2(input, STDIN_FILENO) < 0) fail();
  if (input != STDIN_FILENO) close(input);
  if (start.output >= 0 && dup2(start.output, STDOUT_FILENO) < 0) fail();
  if (start.errors >= 0 && dup2(start.errors, STDERR_FILENO) < 0) fail();
  for (int fd : start.kept) fcntl(fd, F_SETFD, 0);
  if (!start.folder.empty() && chdir(start.folder.c_str()) != 0) fail();
  int persona = personality(0xffffffff);
  if (persona >= 0) personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE);
  // A search may crash a thousand times: no core files.
  struct rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvpe(argv[0], argv, variables);
  fail();
}

}  // namespace

std::string with_user_options(const std::string& ours, bool padded) {
  const char* given = std::getenv("DURESS_OPTIONS");
  std::string text = given != nullptr && *given != '\0' ? std::string(given) + ":" + ours : ours;
  if (!padded) return text;
  constexpr std::size_t kStep = 4096;
  constexpr char kPad[] = ":pad=";
  std::size_t length = text.size() + sizeof kPad - 1;
  return text + kPad + std::string((length / kStep + 1) * kStep - length, 'x');
}

std::vector<std::pair<std::string, std::string>> controlled_variables(const std::string& options) {
  const char* given = std::getenv(kTunables);
  std::string tunables = given != nullptr && *given != '\0' ? std::string(given) + ":" : "";
  tunables += "glibc.pthread.stack_cache_size=0x1000000000";  // 64 GiB
  return {{"DURESS_OPTIONS", with_user_options(options)}, {kTunables, tunables}};
}

std::string check_option_path(const std::string& path) {
  if (!std::regex_search(path, std::regex(":[a-z_]+="))) return {};
  return "DURESS_OPTIONS cannot hold the path '" + path + "'; use another folder with --dir";
}

Started start_target(const TargetStart& start) {
  Started result;
  std::vector<std::string> variables = environment_with(controlled_variables(start.options));
  std::vector<char*> argv = exec_words(start.argv), envp = exec_words(variables);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) {
    result.error = errno;
    return result;
  }
  Descriptor reader(report[0]), writer(report[1]);
  struct Call {
    const TargetStart& start;
    char* const* argv;
    char* const* envp;
    int report;
    pid_t host;
  } call{start, argv.data(), envp.data(), report[1], getpid()};
  result.pid = start_own(
      [](void* argument) {
        auto* the = static_cast<Call*>(argument);
        pid_t pid = fork();
        if (pid == 0) become_target(the->start, the->argv, the->envp, the->report, the->host);
        return pid;
      },
      &call);
  if (result.pid < 0) {
    result.error = errno;
    return result;
  }
  writer.reset();
  ssize_t got;
  do got = read(reader.get(), &result.error, sizeof result.error);
  while (got < 0 && errno == EINTR);
  if (got != sizeof result.error) {
    result.error = 0;
    return result;
  }
  while (waitpid(result.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  own_ended(result.pid);
  result.pid = -1;
  return result;
}

void adopt_leftovers() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

pid_t start_own(pid_t (*run)(void*), void* argument) {
  use_all_processors();
  std::lock_guard guard(own_lock);
  pid_t pid = run(argument);
  if (pid > 0) own.insert(pid);
  return pid;
}

void own_ended(pid_t pid) {
  std::lock_guard guard(own_lock);
  own.erase(pid);
}

int end_leftovers() {
  // Orphans become children of the main thread, whichever thread started their parents.
  static const std::string path = "/proc/self/task/" + std::to_string(getpid()) + "/children";
  std::lock_guard guard(own_lock);
  std::optional<std::string> children = read_file(path);
  int ended = 0;
  for (const char* at = children ? children->c_str() : ""; *at != '\0';) {
    char* end = nullptr;
    auto pid = static_cast<pid_t>(std::strtol(at, &end, 10));
    if (end == at) break;
    at = end + std::strspn(end, " ");
    if (pid <= 0 || own.count(pid) != 0) continue;
    if (waitpid(pid, nullptr, WNOHANG) == pid) continue;  // had ended by itself
    ++ended;
    kill(pid, SIGKILL);
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return ended;
}

}  // namespace duress::exec
