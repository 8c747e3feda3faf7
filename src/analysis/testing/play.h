// SPDX-License-Identifier: Apache-2.0
//
// Plays a test's trace to a chain and keeps what it found. Event i of the trace has site kFirstSite + i.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analysis/player.h"
#include "analysis/testing/trace.h"

namespace duress::testing {

constexpr uptr kArena = 0x7f1234560000;  // where the traces' arena pretends to be
constexpr u32 kFirstSite = 16;

/// The events of the runtime that stand for one of a test's trace. Its threads are numbered from `first`.
std::vector<duress::Event> to_events(const Event& event, size_t index, u32 first = 0);

class Played final : public RaceSink, public LineSink {
 public:
  virtual ~Played() = default;
  void race(const Race& race) override;
  void warning(const Warning& warning) override { warnings.push_back(warning); }
  void line(const char* text, size_t size) override { lines.emplace_back(text, size); }

  struct Found {
    std::map<u32, size_t> first;                // byte → the first event that the analysis called racy
    std::set<std::pair<size_t, size_t>> pairs;  // of events
  };
  /// What one analysis of the chain found.
  const Found& of(const std::string& analysis) const {
    static const Found kNothing;
    auto it = by_analysis.find(analysis);
    return it == by_analysis.end() ? kNothing : it->second;
  }

  std::map<std::string, Found> by_analysis;
  std::map<u32, size_t> first;                // byte → the first event that an analysis called racy
  std::set<std::pair<size_t, size_t>> pairs;  // of events
  std::vector<Warning> warnings;
  std::vector<std::string> lines;
  std::map<std::string, u64> counters;
};

/// `shadow` is used again from trace to trace.
Played play(const Trace& trace, const char* chain, ShadowMap& shadow);

/// Plays one trace after another to the same chain. A thread outside of the traces creates the first thread
/// of each and joins all of them, and memory is fresh, so that nothing of one trace is concurrent with
/// another. Most of the time of play() is mapping and unmapping tables; here it is shared by kMostTraces.
class Stage {
 public:
  Stage(const char* chain, ShadowMap& shadow) : chain_(chain), shadow_(shadow) {}
  ~Stage() { close(); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Valid until the next one.
  const Played& play(const Trace& trace);

 private:
  static constexpr u32 kMostTraces = 64;

  void close();

  const char* chain_;
  ShadowMap& shadow_;
  Played played_;
  Arena arena_;
  std::unique_ptr<Player> player_;
  u32 traces_ = 0, threads_ = 0;  // since open()
};

}  // namespace duress::testing
