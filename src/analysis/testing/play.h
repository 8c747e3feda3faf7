// SPDX-License-Identifier: Apache-2.0
//
// Plays a test's trace to a chain and keeps what it found. Event i of the trace has site kFirstSite + i.
#ifndef DURESS_ANALYSIS_TESTING_PLAY_H_
#define DURESS_ANALYSIS_TESTING_PLAY_H_

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

/// The events of the runtime that stand for one of a test's trace.
std::vector<duress::Event> to_events(const Event& event, size_t index);

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
  const Found& of(const std::string& analysis) { return by_analysis[analysis]; }

  std::map<std::string, Found> by_analysis;
  std::map<u32, size_t> first;                // byte → the first event that an analysis called racy
  std::set<std::pair<size_t, size_t>> pairs;  // of events
  std::vector<Warning> warnings;
  std::vector<std::string> lines;
  std::map<std::string, u64> counters;
};

/// `shadow` is used again from trace to trace.
Played play(const Trace& trace, const char* chain, ShadowMap& shadow);

}  // namespace duress::testing

#endif  // DURESS_ANALYSIS_TESTING_PLAY_H_
