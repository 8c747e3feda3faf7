// SPDX-License-Identifier: Apache-2.0
//
// fork and exec, with a pipe that closes on exec so that "cannot start" is told apart from a program that
// exits with 127. The child stays in our process group: it must keep the terminal, and Ctrl-C reaches it
// from the kernel. So only signals that some process sent to us alone are passed on, else the target would
// see each Ctrl-C twice.
#include "exec/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>

#include "base/exec_words.h"

namespace duress::exec {
namespace {

volatile sig_atomic_t child_pid = 0;

void pass_on(int signal, siginfo_t* info, void*) {
  if (child_pid > 0 && info->si_code <= 0) kill(child_pid, signal);  // SI_KERNEL (the terminal) is positive
}

constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

}  // namespace

LaunchResult launch(const std::vector<std::string>& argv,
                    const std::vector<std::pair<std::string, std::string>>& environment) {
  LaunchResult result;
  std::vector<char*> arguments = exec_words(argv);

  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) {
    result.start_error = errno;
    return result;
  }
  // Blocked until the child's pid is known, so that no signal is lost in between.
  sigset_t blocked, before;
  sigemptyset(&blocked);
  for (int signal : kPassedOn) sigaddset(&blocked, signal);
  sigprocmask(SIG_BLOCK, &blocked, &before);

  auto start = std::chrono::steady_clock::now();
  pid_t host = getpid(), pid = fork();
  if (pid == 0) {
    // If this host is killed, so is the program: its findings would have no reader.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != host) _exit(127);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    signal(SIGXFSZ, SIG_DFL);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    execvp(arguments[0], arguments.data());
    int error = errno;
    ssize_t ignored = write(report[1], &error, sizeof error);
    (void)ignored;
    _exit(127);
  }
  close(report[1]);
  if (pid < 0) {
    result.start_error = errno;
    close(report[0]);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return result;
  }

  child_pid = pid;
  struct sigaction old[std::size(kPassedOn)];
  for (std::size_t i = 0; i < std::size(kPassedOn); ++i) {
    struct sigaction action{};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(kPassedOn[i], nullptr, &old[i]);
    if (old[i].sa_handler != SIG_IGN) sigaction(kPassedOn[i], &action, nullptr);  // nohup stays nohup
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);

  ssize_t got;
  do got = read(report[0], &result.start_error, sizeof result.start_error);
  while (got < 0 && errno == EINTR);
  close(report[0]);
  if (got != sizeof result.start_error) result.start_error = 0;

  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  child_pid = 0;
  for (std::size_t i = 0; i < std::size(kPassedOn); ++i) sigaction(kPassedOn[i], &old[i], nullptr);
  result.pid = pid;
  result.signalled = WIFSIGNALED(status);
  result.code = result.signalled ? WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

}  // namespace duress::exec
