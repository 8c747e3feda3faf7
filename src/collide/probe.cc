// SPDX-License-Identifier: Apache-2.0
#include "collide/probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "collide/attach.h"
#include "collide/breakpoints.h"
#include "collide/decoder.h"
#include "collide/watch.h"

namespace duress::collide {
namespace {

constexpr int kCode = 42;
alignas(8) volatile std::uint64_t word;

__attribute__((noinline)) int touch() {
  word = kCode;
  return static_cast<int>(word);
}

/// A child that waits for a byte, touches `word`, and ends with kCode.
class Child {
 public:
  Child() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      char byte;
      close(ends[1]);
      _exit(read(ends[0], &byte, 1) == 1 ? touch() : 1);
    }
    close(ends[0]);
    go_ = ends[1];
  }
  ~Child() {
    if (go_ >= 0) close(go_);
    if (pid_ > 0 && !ended_) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, __WALL);
    }
  }
  pid_t pid() const { return pid_; }
  void go() {
    ssize_t ignored = write(go_, "", 1);
    (void)ignored;
  }
  int wait() {
    int status = -1;
    while (waitpid(pid_, &status, __WALL) < 0 && errno == EINTR) {
    }
    ended_ = WIFEXITED(status) || WIFSIGNALED(status);
    return status;
  }

 private:
  pid_t pid_ = -1;
  int go_ = -1;
  bool ended_ = false;
};

std::string failed(const char* what, int error) {
  return fmt::format("{}: {}", what, std::strerror(error));
}

}  // namespace

std::string probe_tracing() {
  Child child;
  if (child.pid() < 0) return failed("fork", errno);
  if (int error = seize(child.pid()); error != 0) return failed("ptrace", error);
  TargetMemory memory(child.pid());
  if (!memory.good()) return failed("/proc/PID/mem", errno);
  auto address = reinterpret_cast<Address>(&touch);
  std::string bytes(16, '\0');
  auto first = memory.read(address, bytes.data(), bytes.size()) > 0 ? decode(bytes, address) : std::nullopt;
  if (!first) return "code cannot be read through /proc/PID/mem";
  Breakpoints breakpoints(memory);
  if (!breakpoints.arm(address, bytes.substr(0, first->length)))
    return "code cannot be written through /proc/PID/mem";
  child.go();
  int status = child.wait();
  if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) return "a breakpoint was set but did not fire";
  breakpoints.disarm(address);
  ptrace(PTRACE_POKEUSER, child.pid(), offsetof(user_regs_struct, rip), address);
  ptrace(PTRACE_CONT, child.pid(), 0, 0);
  status = child.wait();
  return WIFEXITED(status) && WEXITSTATUS(status) == kCode
             ? ""
             : "a traced program did not continue correctly after a breakpoint";
}

std::string probe_watchpoints() {
  Child child;
  if (child.pid() < 0) return failed("fork", errno);
  auto watch = Watch::open(child.pid());
  if (!watch) return failed("perf_event_open", errno);
  if (!watch->set(reinterpret_cast<Address>(&word), 8, false))
    return failed("a watchpoint cannot be moved", errno);
  child.go();
  child.wait();
  auto hit = watch->take();
  if (!hit) return "a watchpoint was set but did not fire";
  return hit->detailed ? "" : "no memory for the stacks of hits (kernel.perf_event_mlock_kb)";
}

}  // namespace duress::collide
