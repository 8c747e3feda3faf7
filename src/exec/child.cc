// SPDX-License-Identifier: Apache-2.0
#include "exec/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/exec_words.h"
#include "exec/files.h"
#include "exec/target_start.h"

namespace duress::exec {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> environment_of(const ChildStart& start) {
  std::vector<std::string> all = start.environment, names = start.unset;
  for (const std::string& variable : start.environment)
    names.push_back(variable.substr(0, variable.find('=')));
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool ours = true;
    for (const std::string& name : names)
      ours = ours && !(std::strncmp(*entry, name.c_str(), name.size()) == 0 && (*entry)[name.size()] == '=');
    if (ours) all.emplace_back(*entry);
  }
  return all;
}

}  // namespace

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::stringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    std::error_code ignored;  // folders of PATH need not be readable
    if (fs::is_regular_file(candidate, ignored) && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

std::string program_path(const std::string& program) {
  return program.find('/') == std::string::npos ? find_program(program) : program;
}

pid_t start_child(const ChildStart& start) {
  std::vector<std::string> variables = environment_of(start);
  std::vector<char*> argv = exec_words(start.argv), envp = exec_words(variables);
  int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  Descriptor input(open(start.input.empty() ? "/dev/null" : start.input.c_str(), O_RDONLY | O_CLOEXEC));
  Descriptor output(start.output.empty() ? dup(STDOUT_FILENO) : open(start.output.c_str(), flags, 0666));
  int errors_fd = start.output.empty()   ? dup(STDERR_FILENO)
                  : start.errors.empty() ? dup(output.get())
                                         : open(start.errors.c_str(), flags, 0666);
  Descriptor errors(errors_fd);
  int report[2];
  if (!input || !output || !errors || pipe2(report, O_CLOEXEC) != 0) return -1;
  Descriptor reader(report[0]), writer(report[1]);
  pid_t parent = getpid();
  auto run = [&]() -> pid_t {
    pid_t child = fork();
    if (child != 0) return child;
    setpgid(0, 0);
    signal(SIGXFSZ, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);
    dup2(input.get(), STDIN_FILENO);
    dup2(output.get(), STDOUT_FILENO);
    dup2(errors.get(), STDERR_FILENO);
    if (start.folder.empty() || chdir(start.folder.c_str()) == 0) execvpe(argv[0], argv.data(), envp.data());
    int error = errno;
    ssize_t ignored = write(report[1], &error, sizeof error);
    (void)ignored;
    _exit(127);
  };
  pid_t pid = start_own([](void* call) { return (*static_cast<decltype(run)*>(call))(); }, &run);
  if (pid < 0) return -1;
  writer.reset();
  int error = 0;
  ssize_t got;
  do got = read(reader.get(), &error, sizeof error);
  while (got < 0 && errno == EINTR);
  if (got != sizeof error) return pid;
  child_code(pid, true);
  errno = error;
  return -1;
}

int child_code(pid_t pid, bool wait) {
  int status = 0;
  pid_t done;
  do done = waitpid(pid, &status, wait ? 0 : WNOHANG);
  while (done < 0 && errno == EINTR);
  if (done != pid) return -1;
  own_ended(pid);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// False: there is no memory for it.
static bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

ChildOutput run_child(ChildStart start, double seconds, std::string_view input) {
  Descriptor output(memfd_create("output", MFD_CLOEXEC)), errors(memfd_create("errors", MFD_CLOEXEC));
  auto path = [](const Descriptor& file) {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file.get());
  };
  start.output = path(output);
  start.errors = path(errors);
  ChildOutput result;
  Descriptor text;
  if (!input.empty()) {
    text = Descriptor(memfd_create("input", MFD_CLOEXEC));
    if (!text || !write_all(text.get(), input)) return result;
    start.input = path(text);
  }
  pid_t pid = start_child(start);
  if (pid < 0) return result;
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while ((result.code = child_code(pid, false)) < 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(-pid, SIGKILL);
      child_code(pid, true);
      result.code = 124;
      break;
    }
    usleep(2000);
  }
  result.output = read_file(path(output)).value_or("");
  result.errors = read_file(path(errors)).value_or("");
  return result;
}

}  // namespace duress::exec
