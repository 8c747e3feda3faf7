// SPDX-License-Identifier: Apache-2.0
//
// The class behind trace() (tracer.h); shared by tracer.cc and tracer_events.cc.
#pragma once

#include <signal.h>
#include <sys/ptrace.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collide/guard.h"
#include "collide/tracer.h"
#include "collide/watch.h"

namespace duress::collide {

using Clock = std::chrono::steady_clock;

class Tracer {
 public:
  explicit Tracer(const TraceOptions& options) : options_(options) {}
  TraceResult run(const sigset_t& mask);

 private:
  struct Process {
    std::unique_ptr<Sampler> sampler;  // null until it has a program
    std::string exe, cwd;
    std::vector<std::string> argv;
    bool sampled = false;  // its program can be sampled
    int next_number = 0;
    Process* copied_from = nullptr;  // forked: it has a copy of the breakpoints
  };

  bool begin(const sigset_t& mask);
  void loop();
  void wait_until(Time time);
  void read_signals();
  void reap();
  void stopped(pid_t tid, int status);
  void ended(pid_t tid, int status);
  void trapped(pid_t tid);
  void resume(pid_t tid, int signal = 0) { ptrace(PTRACE_CONT, tid, 0, signal); }

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
  std::unique_ptr<Watch> keeps_warm_;  // the first event costs the kernel 10 ms, so one is always open
  std::map<pid_t, Process> processes_;
  std::map<pid_t, pid_t> process_of_thread_;
  std::set<pid_t> unborn_;  // announced by their creators, but not stopped yet
  std::set<pid_t> early_;   // stopped before their creators announced them
  int signals_ = -1, events_ = -1;
  bool sampling_ = true, leaving_ = false;
  Time start_;
  std::optional<Time> kill_at_;
  Duration cpu_{0};
};

}  // namespace duress::collide
