// SPDX-License-Identifier: Apache-2.0
//
// One thread does all of it: the kernel takes ptrace requests from the thread that attached and from no
// other, and with one there is nothing to lock. It waits for stops of the target's threads, for hits of
// watchpoints and for the end of a delay, in that order of interest.
//
// It is a thread of its own so that it can end: when it does, the kernel lets go of every thread it still
// traces, without stopping it. So a thread that sleeps in a system call, and therefore cannot be at a
// breakpoint, is never disturbed, neither when we come nor when we leave.
#include "collide/tracer.h"

#include <fmt/format.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "collide/attach.h"
#include "collide/elf_file.h"

namespace duress::collide {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr Duration kGrace = std::chrono::seconds(5);  // between asking a program to end and ending it
constexpr Duration kHeartbeat = std::chrono::milliseconds(500);
constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

Registers from_user(const user_regs_struct& user) {
  Registers registers;
  registers.value = {user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi, user.rbp, user.rsp, user.r8,
                     user.r9,  user.r10, user.r11, user.r12, user.r13, user.r14, user.r15, user.rip};
  return registers;
}

std::string link_target(const std::string& path) {
  std::error_code ignored;
  return fs::read_symlink(path, ignored).string();
}

class Tracer {
 public:
  explicit Tracer(const TraceOptions& options) : options_(options) {}
  TraceResult run(const sigset_t& mask);

 private:
  struct Process {
    std::unique_ptr<Sampler> sampler;  // null until it has a program
    std::string exe, cwd;
    std::vector<std::string> argv;
    bool sampled = false;  // a program that can be
    int next_number = 0;
    Process* copied_from = nullptr;  // forked: breakpoints came along
  };

  bool begin(const sigset_t& mask);
  void loop();
  void wait_until(Time time);
  void read_signals();
  void reap();
  void stopped(pid_t tid, int status);
  void ended(pid_t tid, int status);
  void trapped(pid_t tid);
  void go_on(pid_t tid, int signal = 0) { ptrace(PTRACE_CONT, tid, 0, signal); }

  Process* process_of(pid_t tid);
  void new_image(pid_t pid);
  void close_image(pid_t pid);
  void born(pid_t parent, int event);
  void start_thread(pid_t tid);
  void sample(Time now);
  void end_sampling();
  void detach();
  bool in_flight(pid_t tid);

  TraceOptions options_;
  TraceResult result_;
  Hardware hardware_;
  std::unique_ptr<Guard> guard_;       // before the spaces that use it
  std::unique_ptr<Watch> keeps_warm_;  // the kernel's first event costs 10 ms, so it always has one
  std::map<pid_t, Process> processes_;
  std::map<pid_t, pid_t> process_of_thread_;
  std::set<pid_t> unborn_;  // known from their creators, but not stopped yet
  std::set<pid_t> early_;   // stopped before their creator said who they are
  int signals_ = -1, events_ = -1;
  bool sampling_ = true, leaving_ = false;
  Time start_;
  std::optional<Time> kill_at_;
  Duration cpu_{0};
};

Tracer::Process* Tracer::process_of(pid_t tid) {
  auto it = process_of_thread_.find(tid);
  if (it == process_of_thread_.end()) return nullptr;
  auto process = processes_.find(it->second);
  return process == processes_.end() ? nullptr : &process->second;
}

/// The process has a program: a new one, or, with `pid` just attached to, the one it runs.
void Tracer::new_image(pid_t pid) {
  Process& process = processes_[pid];
  process.copied_from = nullptr;
  process.next_number = 0;
  process.exe = link_target(fmt::format("/proc/{}/exe", pid));
  process.cwd = link_target(fmt::format("/proc/{}/cwd", pid));
  process.sampled = elf_class(fmt::format("/proc/{}/exe", pid)) == 64;
  process.sampler = std::make_unique<Sampler>(pid, std::make_shared<Space>(pid, guard_.get()),
                                              options_.sampling, hardware_, Clock::now());
}

void Tracer::close_image(pid_t pid) {
  auto it = processes_.find(pid);
  if (it == processes_.end() || !it->second.sampler) return;
  Process& process = it->second;
  finding::ProcessLog log = process.sampler->recorder().log();
  log.exe = process.exe;
  log.cwd = process.cwd;
  const Counts& counts = process.sampler->counts();
  result_.counts.samples += counts.samples;
  result_.counts.fired += counts.fired;
  result_.counts.armed += counts.armed;
  result_.counts.hits += counts.hits;
  result_.overhead = std::max(result_.overhead, process.sampler->budget().overhead(Clock::now()));
  result_.log.processes.push_back(std::move(log));
  process.sampler.reset();
}

bool Tracer::begin(const sigset_t& mask) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  for (int signal : kEndingSignals) sigaddset(&wanted, signal);
  signals_ = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  events_ = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(events_, EPOLL_CTL_ADD, signals_, &event);
  prctl(PR_SET_TIMERSLACK, 1000);

  if (options_.watchpoints) {
    keeps_warm_ = Watch::open(0);
    if (!keeps_warm_) hardware_.problem = std::strerror(errno);
  } else {
    hardware_.problem = "not wanted";
  }
  if (!keeps_warm_) {
    hardware_.watches = 0;
    options_.say(fmt::format(
        "no hardware watchpoints ({}); races are seen only where a value changes; duress doctor says more",
        hardware_.problem));
  }
  guard_ = Guard::start();
  start_ = Clock::now();
  if (!options_.program.empty()) {
    pid_t pid = start_program(options_.program, mask, result_.start_error);
    if (pid < 0) return false;
    result_.pid = pid;
    process_of_thread_[pid] = pid;
    stopped(pid, PTRACE_EVENT_EXEC << 16 | SIGTRAP << 8 | 0x7f);
    return true;
  }
  std::vector<pid_t> threads;
  result_.pid = options_.pid;
  result_.problem = attach_to(options_.pid, threads);
  if (!result_.problem.empty()) return false;
  new_image(options_.pid);
  Process& process = processes_[options_.pid];
  process.sampler->thread_started(options_.pid, process.next_number++, -1);
  process_of_thread_[options_.pid] = options_.pid;
  for (pid_t tid : threads) {
    if (tid == options_.pid) continue;
    process_of_thread_[tid] = options_.pid;
    process.sampler->thread_started(tid, process.next_number++, -1);
  }
  return true;
}

void Tracer::read_signals() {
  signalfd_siginfo info;
  while (read(signals_, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGCHLD) continue;
    if (options_.program.empty()) {
      leaving_ = true;
    } else if (info.ssi_code <= 0) {
      // Sent to us alone. The terminal's go to the whole group, so the target has its own.
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
      go_on(tid);
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
      go_on(tid);
      return;
    }
    case PTRACE_EVENT_STOP:
      if (unborn_.count(tid) != 0) {
        start_thread(tid);
      } else if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
        ptrace(PTRACE_LISTEN, tid, 0, 0);  // stopped by the user, and stays so until SIGCONT
      } else {
        go_on(tid);
      }
      return;
    case 0:
      if (signal == SIGTRAP)
        trapped(tid);
      else
        go_on(tid, signal);
      return;
    default:
      go_on(tid);
  }
}

/// `parent` has made a thread or a process. That one stops too, before or after.
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

/// Both sides have stopped: the new thread can run.
void Tracer::start_thread(pid_t tid) {
  unborn_.erase(tid);
  Process& process = *process_of(tid);
  if (process.copied_from != nullptr && process.copied_from->sampler && process.sampler)
    process.copied_from->sampler->space().breakpoints().clean(process.sampler->space().memory());
  process.copied_from = nullptr;
  if (process.sampler) process.sampler->thread_started(tid, process.next_number++, -1);
  go_on(tid);
}

void Tracer::trapped(pid_t tid) {
  siginfo_t info{};
  user_regs_struct user{};
  Process* process = process_of(tid);
  if (process == nullptr || !process->sampler || ptrace(PTRACE_GETSIGINFO, tid, 0, &info) != 0 ||
      info.si_code != SI_KERNEL || ptrace(PTRACE_GETREGS, tid, 0, &user) != 0) {
    go_on(tid, SIGTRAP);
    return;
  }
  Sampler& sampler = *process->sampler;
  Breakpoints& breakpoints = sampler.space().breakpoints();
  const Address address = user.rip - 1;
  bool fired = breakpoints.armed(address);
  if (fired) breakpoints.disarm(address);
  if (!fired && !breakpoints.late(address)) {
    go_on(tid, SIGTRAP);  // the program's own
    return;
  }
  ptrace(PTRACE_POKEUSER, tid, offsetof(user_regs_struct, rip), address);
  // A trap unblocks SIGTRAP. A thread that blocks every other signal had blocked this one as well.
  std::uint64_t mask = 0;
  constexpr std::uint64_t kTrap = 1u << (SIGTRAP - 1), kNever = 1u << (SIGKILL - 1) | 1u << (SIGSTOP - 1);
  if (ptrace(PTRACE_GETSIGMASK, tid, sizeof mask, &mask) == 0 && (mask & kTrap) == 0 &&
      ((mask | kTrap | kNever) & 0x7fffffff) == 0x7fffffff) {
    mask |= kTrap;
    ptrace(PTRACE_SETSIGMASK, tid, sizeof mask, &mask);
  }
  user.rip = address;
  bool hold = fired && sampling_ && sampler.reached(tid, address, from_user(user), Clock::now());
  if (!hold) go_on(tid);
}

void Tracer::sample(Time now) {
  Duration cpu = own_cpu_time();
  for (auto& [pid, process] : processes_) {
    if (!process.sampler) continue;
    Sampler& sampler = *process.sampler;
    // While a thread is held there is a processor for us; at other times we take one from the target.
    if (!sampler.holds_any()) sampler.spend(cpu - cpu_);
    for (pid_t tid : sampler.due(now)) go_on(tid);
    if (process.sampled && sampling_) sampler.pace(now);
    for (int fd : sampler.new_descriptors()) {
      epoll_event event{};
      event.events = EPOLLIN | EPOLLET;
      epoll_ctl(events_, EPOLL_CTL_ADD, fd, &event);
    }
  }
  cpu_ = cpu;
}

void Tracer::wait_until(Time time) {
  Duration left = time - Clock::now();
  if (left < Duration::zero()) left = Duration::zero();
  timespec timeout{};
  timeout.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(left).count();
  timeout.tv_nsec = (left % std::chrono::seconds(1)).count();
  pollfd wanted{events_, POLLIN, 0};
  if (ppoll(&wanted, 1, &timeout, nullptr) > 0) {
    epoll_event ready[64];
    while (epoll_wait(events_, ready, 64, 0) == 64) {
    }
  }
}

/// No more samples; the target runs on by itself.
void Tracer::end_sampling() {
  if (!std::exchange(sampling_, false)) return;
  for (auto& [pid, process] : processes_) {
    if (!process.sampler) continue;
    for (pid_t tid : process.sampler->stop(Clock::now())) go_on(tid);
  }
}

void Tracer::loop() {
  const bool started = !options_.program.empty();
  std::size_t asked = 0;  // how many collisions `keeps` has been asked about
  // When the program has ended by itself, what it left running is let go; when time is up all of it is ended.
  while ((!result_.ended || (result_.cut && started)) && !processes_.empty() && !leaving_) {
    read_signals();
    reap();
    if (processes_.empty() || (result_.ended && !result_.cut)) break;
    Time now = Clock::now();
    sample(now);
    Time wake = now + kHeartbeat;
    std::size_t races = 0;
    for (auto& [pid, process] : processes_) {
      if (!process.sampler) continue;
      if (process.sampled && sampling_) wake = std::min(wake, process.sampler->wake(now));
      races += process.sampler->recorder().races();
    }
    bool over = options_.duration && now - start_ >= *options_.duration;
    if (options_.halt && races != std::exchange(asked, races)) {
      for (auto& [pid, process] : processes_) {
        if (!process.sampler) continue;
        finding::ProcessLog log = process.sampler->recorder().log();
        log.exe = process.exe;
        log.cwd = process.cwd;
        over = over || options_.keeps(log);
      }
    }
    if (options_.duration) wake = std::min(wake, start_ + *options_.duration);
    if (over && !result_.cut) {
      result_.cut = true;
      end_sampling();
      if (!started) break;
      for (const auto& [pid, process] : processes_) kill(pid, SIGTERM);
      kill_at_ = now + kGrace;
    }
    if (kill_at_ && now >= *kill_at_) {
      for (const auto& [pid, process] : processes_) kill(pid, SIGKILL);
      kill_at_ = now + kGrace;
    }
    if (result_.cut) wake = now + kHeartbeat;
    wait_until(wake);
  }
}

/// Whether the thread may be on its way from a breakpoint into a stop. Once it is in a system call it is not.
bool Tracer::in_flight(pid_t tid) {
  std::string text = read_file(fmt::format("/proc/{}/syscall", tid));
  return text.empty() || text.rfind("running", 0) == 0 || text.rfind("-1", 0) == 0;
}

/// Leaves every thread as it would be without us. REQUIRES: every byte is back.
void Tracer::detach() {
  reap();
  std::set<pid_t> waiting;
  for (const auto& [tid, pid] : process_of_thread_) {
    if (in_flight(tid) && ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0) waiting.insert(tid);
  }
  // Each of them stops: at once, or first for a trap that it had already run into.
  while (!waiting.empty()) {
    int status = 0;
    pid_t tid = waitpid(-1, &status, __WALL);
    if (tid < 0) {
      if (errno == EINTR) continue;
      break;
    }
    if (!WIFSTOPPED(status)) {
      ended(tid, status);
      waiting.erase(tid);
      continue;
    }
    const int event = status >> 16;
    bool is_child = process_of_thread_.count(tid) == 0 || unborn_.count(tid) != 0;
    if (event == PTRACE_EVENT_STOP && !is_child) {
      std::uint64_t pending = 0;
      std::string text = read_file(fmt::format("/proc/{}/status", tid));
      if (std::size_t at = text.find("\nSigPnd:\t"); at != std::string::npos)
        pending = std::strtoull(text.c_str() + at + 9, nullptr, 16);
      if ((pending >> (SIGTRAP - 1) & 1) != 0) {
        go_on(tid);  // it stops again, with the trap, before it runs any instruction
        continue;
      }
      ptrace(PTRACE_DETACH, tid, 0, 0);
      waiting.erase(tid);
      process_of_thread_.erase(tid);
      continue;
    }
    stopped(tid, status);
    if (process_of_thread_.count(tid) != 0 && unborn_.count(tid) == 0 &&
        ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0)
      waiting.insert(tid);
  }
}

TraceResult Tracer::run(const sigset_t& mask) {
  if (begin(mask)) {
    loop();
    result_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    end_sampling();
    while (!processes_.empty() && std::any_of(processes_.begin(), processes_.end(), [](const auto& entry) {
      return entry.second.sampler != nullptr;
    })) {
      detach();
      for (auto& [pid, process] : processes_) close_image(pid);
    }
  }
  close(signals_);
  close(events_);
  return std::move(result_);
}

}  // namespace

TraceResult trace(const TraceOptions& options) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD);
  for (int signal : kEndingSignals) sigaddset(&blocked, signal);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  TraceResult result;
  std::thread([&] { result = Tracer(options).run(before); }).join();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

}  // namespace duress::collide
