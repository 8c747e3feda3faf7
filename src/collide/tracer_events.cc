// SPDX-License-Identifier: Apache-2.0
//
// What the kernel reports of the target's threads: they stop, end, create others, or reach a breakpoint.
#include <fmt/format.h>
#include <linux/kcmp.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "collide/tracer_impl.h"

namespace duress::collide {
namespace {

Registers from_user(const user_regs_struct& user) {
  Registers registers;
  registers.value = {user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi, user.rbp, user.rsp, user.r8,
                     user.r9,  user.r10, user.r11, user.r12, user.r13, user.r14, user.r15, user.rip};
  return registers;
}

}  // namespace

void Tracer::read_signals() {
  signalfd_siginfo info;
  while (read(signals_, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGCHLD) continue;
    if (options_.program.empty()) {
      leaving_ = true;
    } else if (info.ssi_code <= 0) {
      // Sent to us alone. Signals of the terminal go to the whole group, so the target gets its own.
      kill(result_.pid, static_cast<int>(info.ssi_signo));
    }
  }
}

void Tracer::reap() {
  for (;;) {
    int status = 0;
    pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);
    if (tid < 0 && errno == EINTR) continue;
    if (tid <= 0) return;
    if (WIFSTOPPED(status))
      stopped(tid, status);
    else
      ended(tid, status);
  }
}

void Tracer::ended(pid_t tid, int status) {
  early_.erase(tid);
  unborn_.erase(tid);
  if (Process* process = process_of(tid); process != nullptr && process->sampler)
    process->sampler->thread_ended(tid);
  if (processes_.count(tid) != 0) {
    close_image(tid);
    for (auto& [pid, process] : processes_) {
      if (process.copied_from == &processes_[tid]) process.copied_from = nullptr;
    }
    processes_.erase(tid);
  }
  process_of_thread_.erase(tid);
  if (tid != result_.pid) return;
  result_.ended = true;
  result_.signalled = WIFSIGNALED(status);
  result_.code = result_.signalled ? WTERMSIG(status) : WEXITSTATUS(status);
}

void Tracer::stopped(pid_t tid, int status) {
  const int signal = WSTOPSIG(status), event = status >> 16;
  if (process_of(tid) == nullptr && event != PTRACE_EVENT_EXEC) {
    if (process_of_thread_.count(tid) == 0) {
      early_.insert(tid);
      return;
    }
  }
  switch (event) {
    case PTRACE_EVENT_CLONE:
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
      born(tid, event);
      resume(tid);
      return;
    case PTRACE_EVENT_EXEC: {
      // All other threads of the process are gone, and this one has the leader's id.
      close_image(tid);
      for (auto it = process_of_thread_.begin(); it != process_of_thread_.end();)
        it = it->second == tid && it->first != tid ? process_of_thread_.erase(it) : std::next(it);
      process_of_thread_[tid] = tid;
      new_image(tid);
      Process& process = processes_[tid];
      process.sampler->thread_started(tid, process.next_number++, -1);
      resume(tid);
      return;
    }
    case PTRACE_EVENT_STOP:
      if (unborn_.count(tid) != 0) {
        start_thread(tid);
      } else if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
        ptrace(PTRACE_LISTEN, tid, 0, 0);  // stopped by the user until SIGCONT
      } else {
        resume(tid);
      }
      return;
    case 0:
      if (signal == SIGTRAP)
        trapped(tid);
      else
        resume(tid, signal);
      return;
    default:
      resume(tid);
  }
}

/// `parent` has created a thread or a process, which stops too, before or after this event.
void Tracer::born(pid_t parent, int event) {
  unsigned long message = 0;
  if (ptrace(PTRACE_GETEVENTMSG, parent, 0, &message) != 0) return;
  auto child = static_cast<pid_t>(message);
  Process* process = process_of(parent);
  if (process == nullptr) return;
  pid_t pid = process_of_thread_[parent];
  bool thread =
      event == PTRACE_EVENT_CLONE && access(fmt::format("/proc/{}/task/{}", pid, child).c_str(), F_OK) == 0;
  process_of_thread_[child] = thread ? pid : child;
  unborn_.insert(child);
  if (!thread) {
    Process& made = processes_[child];
    made.exe = process->exe;
    made.cwd = process->cwd;
    made.sampled = process->sampled;
    made.copied_from = process;
    bool shares = event == PTRACE_EVENT_VFORK;
    if (long same = syscall(SYS_kcmp, pid, child, KCMP_VM, 0, 0); same >= 0) shares = same == 0;
    if (process->sampler) {
      std::shared_ptr<Space> space;
      if (shares) {
        made.copied_from = nullptr;
        space = process->sampler->shared_space();
      } else {
        space = std::make_shared<Space>(child, guard_.get());
      }
      made.sampler =
          std::make_unique<Sampler>(child, std::move(space), options_.sampling, hardware_, Clock::now());
    }
  }
  if (early_.erase(child) != 0) start_thread(child);
}

/// Creator and new thread have both stopped: the new one can run.
void Tracer::start_thread(pid_t tid) {
  unborn_.erase(tid);
  Process& process = *process_of(tid);
  if (process.copied_from != nullptr && process.copied_from->sampler && process.sampler)
    process.copied_from->sampler->space().breakpoints().clean(process.sampler->space().memory());
  process.copied_from = nullptr;
  if (process.sampler) process.sampler->thread_started(tid, process.next_number++, -1);
  resume(tid);
}

void Tracer::trapped(pid_t tid) {
  siginfo_t info{};
  user_regs_struct user{};
  Process* process = process_of(tid);
  if (process == nullptr || !process->sampler || ptrace(PTRACE_GETSIGINFO, tid, 0, &info) != 0 ||
      info.si_code != SI_KERNEL || ptrace(PTRACE_GETREGS, tid, 0, &user) != 0) {
    resume(tid, SIGTRAP);
    return;
  }
  Sampler& sampler = *process->sampler;
  Breakpoints& breakpoints = sampler.space().breakpoints();
  const Address address = user.rip - 1;
  bool fired = breakpoints.armed(address);
  if (fired) breakpoints.disarm(address);
  if (!fired && !breakpoints.late(address)) {
    resume(tid, SIGTRAP);  // a trap of the program itself
    return;
  }
  ptrace(PTRACE_POKEUSER, tid, offsetof(user_regs_struct, rip), address);
  // A trap unblocks SIGTRAP. A thread that blocks all other signals is assumed to have blocked it too.
  std::uint64_t mask = 0;
  constexpr std::uint64_t kTrap = 1u << (SIGTRAP - 1), kNever = 1u << (SIGKILL - 1) | 1u << (SIGSTOP - 1);
  if (ptrace(PTRACE_GETSIGMASK, tid, sizeof mask, &mask) == 0 && (mask & kTrap) == 0 &&
      ((mask | kTrap | kNever) & 0x7fffffff) == 0x7fffffff) {
    mask |= kTrap;
    ptrace(PTRACE_SETSIGMASK, tid, sizeof mask, &mask);
  }
  user.rip = address;
  bool hold = fired && sampling_ && sampler.reached(tid, address, from_user(user), Clock::now());
  if (!hold) resume(tid);
}

}  // namespace duress::collide
