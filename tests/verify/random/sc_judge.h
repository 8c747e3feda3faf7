// SPDX-License-Identifier: Apache-2.0
//
// The judge under sequential consistency: every interleaving of a random program, one step after the other, and
// C++20's happens-before for races. Slow and simple.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>

#include "small_program.h"

namespace duress::small {

struct Judged {
  std::set<std::string> outcomes;
  bool race = false, deadlock = false;  // in an execution that counts
  bool perhaps = false;                 // in one whose assumption fails
  std::set<int> exits;                  // codes, of programs with kExit; 0: it came to its end
  unsigned long interleavings = 0;
};

class ScJudge {
 public:
  explicit ScJudge(const Program& program) : program_(program) {}
  Judged judge() {
    State first;
    for (int t = 0; t < program_.threads; ++t) first.thread[t].clock[t] = 1;
    for (int t = 0; t < program_.threads; ++t) go_on(first, t);
    visit(first);
    return result_;
  }

 private:
  using Clock = std::array<int, kMostThreads>;
  struct Variable {
    int value = 0;
    Clock released = {};
  };
  struct Plain {
    int value = 0;
    Clock wrote = {}, read = {};
  };
  struct Lock {
    int holder = -1;
    Clock released = {};
  };
  struct Running {
    int at = 0, last = 0;
    bool again[kMostInstructions] = {}, stopped = false;
    Clock clock = {}, fence = {}, seen = {};
    std::string reads;
  };
  struct State {
    Variable variable[kVariables];
    Plain plain[kVariables];
    Lock lock[kVariables];
    Running thread[kMostThreads];
    bool failed_assumption = false, race = false;
    int exit = -1;
  };

  static void join(Clock& into, const Clock& from) {
    for (int i = 0; i < kMostThreads; ++i) into[i] = into[i] < from[i] ? from[i] : into[i];
  }
  static bool acquires(int order) { return order == 2 || order >= 4; }
  static bool releases(int order) { return order >= 3; }

  void visit(const State& state) {
    bool any = false;
    for (int t = 0; t < program_.threads && state.exit < 0; ++t) {
      const Running& thread = state.thread[t];
      if (thread.stopped || thread.at >= program_.thread[t].count) continue;
      const Instruction& i = program_.thread[t].code[thread.at];
      if (i.what == kLock && state.lock[i.where].holder >= 0) continue;
      any = true;
      State next = state;
      step(next, t, i);
      go_on(next, t);
      visit(next);
    }
    if (!any) end(state);
  }

  void end(const State& state) {
    ++result_.interleavings;
    if (state.exit >= 0) {
      result_.exits.insert(state.exit);
      return;
    }
    bool stuck = false;
    for (int t = 0; t < program_.threads; ++t) stuck |= state.thread[t].at < program_.thread[t].count;
    if (state.failed_assumption) {
      result_.perhaps |= state.race || stuck;
      return;
    }
    result_.race |= state.race;
    result_.deadlock |= stuck;
    if (stuck) return;
    result_.exits.insert(0);
    std::string text;
    for (int t = 0; t < program_.threads; ++t) text += state.thread[t].reads + "| ";
    for (const Variable& one : state.variable) text += std::to_string(one.value) + " ";
    for (const Plain& one : state.plain) text += std::to_string(one.value) + " ";
    result_.outcomes.insert(text);
  }

  /// What no other thread can observe, up to the next step.
  void go_on(State& state, int t) {
    Running& thread = state.thread[t];
    while (!thread.stopped && thread.at < program_.thread[t].count) {
      const Instruction& i = program_.thread[t].code[thread.at];
      switch (i.what) {
        case kFence:
          if (acquires(i.order)) join(thread.clock, thread.seen);
          if (releases(i.order)) {
            thread.fence = thread.clock;
            ++thread.clock[t];
          }
          break;
        case kPlainLoad:
        case kPlainStore:
          plain(state, t, i);
          break;
        case kAssume:
          if (thread.last != i.value) thread.stopped = state.failed_assumption = true;
          break;
        case kAgain:
          if (thread.last != i.value && !thread.again[thread.at]) {
            thread.again[thread.at] = true;
            thread.at -= i.expected + 1;
          }
          break;
        default:
          return;
      }
      ++thread.at;
    }
  }

  void plain(State& state, int t, const Instruction& i) {
    Running& thread = state.thread[t];
    Plain& place = state.plain[i.where];
    bool writes = i.what == kPlainStore;
    for (int other = 0; other < program_.threads; ++other) {
      if (other == t) continue;
      state.race |=
          place.wrote[other] > thread.clock[other] || (writes && place.read[other] > thread.clock[other]);
    }
    if (writes) {
      place.value = i.value;
      place.wrote[t] = thread.clock[t];
    } else {
      place.read[t] = thread.clock[t];
      read(thread, place.value);
    }
  }

  static void read(Running& thread, int value) {
    thread.last = value;
    thread.reads += std::to_string(value) + " ";
  }

  void step(State& state, int t, const Instruction& i) {
    Running& thread = state.thread[t];
    ++thread.at;
    if (i.what == kLock || i.what == kUnlock) {
      Lock& lock = state.lock[i.where];
      lock.holder = i.what == kLock ? t : -1;
      if (i.what == kLock) {
        join(thread.clock, lock.released);
      } else {
        lock.released = thread.clock;
        ++thread.clock[t];
      }
      return;
    }
    if (i.what == kExit) {
      if (thread.last == i.expected) state.exit = i.value;
      return;
    }
    Variable& place = state.variable[i.where];
    const int old = place.value;
    const bool updates = i.what == kAdd || i.what == kExchange || (i.what == kCompare && old == i.expected);
    const int order = i.what == kCompare && !updates ? i.failure : i.order;
    if (i.what != kStore) {
      join(acquires(order) ? thread.clock : thread.seen, place.released);
      read(thread, old);
    }
    if (i.what != kStore && !updates) return;
    place.value = i.what == kAdd ? old + i.value : i.value;
    if (!updates) place.released = {};
    join(place.released, releases(order) ? thread.clock : thread.fence);
    ++thread.clock[t];
  }

  const Program& program_;
  Judged result_;
};

}  // namespace duress::small
