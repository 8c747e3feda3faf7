// SPDX-License-Identifier: Apache-2.0
//
// One thread does everything: the kernel accepts ptrace requests only from the thread that attached, and with
// one thread no locks are needed. It waits for stops of the target's threads, for hits of watchpoints and for
// the end of a delay, in this order.
//
// It is a separate thread so that it can end: then the kernel detaches from every thread that is still
// traced, without stopping it. So a thread that sleeps in a system call, and therefore cannot be at a
// breakpoint, is disturbed neither when we attach nor when we detach.
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
#include "collide/tracer_impl.h"

namespace duress::collide {
namespace {

namespace fs = std::filesystem;

constexpr Duration kGrace = std::chrono::seconds(5);  // between SIGTERM and SIGKILL
constexpr Duration kHeartbeat = std::chrono::milliseconds(500);
constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

std::string link_target(const std::string& path) {
  std::error_code ignored;
  return fs::read_symlink(path, ignored).string();
}

}  // namespace

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
    hardware_.problem = "switched off";
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

void Tracer::sample(Time now) {
  Duration cpu = own_cpu_time();
  for (auto& [pid, process] : processes_) {
    if (!process.sampler) continue;
    Sampler& sampler = *process.sampler;
    // While a thread is held there is a processor for us; at other times we take one from the target.
    if (!sampler.holds_any()) sampler.spend(cpu - cpu_);
    for (pid_t tid : sampler.due(now)) resume(tid);
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

/// No more samples; the target continues alone.
void Tracer::end_sampling() {
  if (!std::exchange(sampling_, false)) return;
  for (auto& [pid, process] : processes_) {
    if (!process.sampler) continue;
    for (pid_t tid : process.sampler->stop(Clock::now())) resume(tid);
  }
}

void Tracer::loop() {
  const bool started = !options_.program.empty();
  std::size_t asked = 0;  // collisions that `keeps` has been asked about
  // If the program ended, its remaining children are released; when the time is up all are killed.
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

/// Whether the thread may be between a breakpoint and its stop. In a system call it is not.
bool Tracer::in_flight(pid_t tid) {
  std::string text = read_file(fmt::format("/proc/{}/syscall", tid));
  return text.empty() || text.rfind("running", 0) == 0 || text.rfind("-1", 0) == 0;
}

/// Leaves every thread as it would be without us. REQUIRES: all breakpoints are removed.
void Tracer::detach() {
  reap();
  std::set<pid_t> waiting;
  for (const auto& [tid, pid] : process_of_thread_) {
    if (in_flight(tid) && ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0) waiting.insert(tid);
  }
  // Each of them stops: at once, or first for a trap that it had already reached.
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
        resume(tid);  // it stops again, with the trap, before it runs any instruction
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
