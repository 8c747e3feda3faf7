// SPDX-License-Identifier: Apache-2.0
//
// Runs a chain on the events of a trace and makes of what it finds the same records that a running target's
// log gives, so that everything behind it (names, grouping, reports) is the same.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "analysis/player.h"
#include "finding/log_record.h"
#include "trace/heap_blocks.h"
#include "trace/rapid.h"
#include "trace/trace_file.h"

namespace duress::trace {

class Offline final : public RaceSink, public LineSink, public CounterSink {
 public:
  Offline();
  ~Offline();
  Offline(const Offline&) = delete;
  Offline& operator=(const Offline&) = delete;

  /// "" or what is wrong.
  std::string build(const std::string& chain);
  /// Before build(): analyses that support it print their state after each event, with these names.
  void show_steps(const Namer& names);

  void play(const Event& event) {
    if (!event.is_sync) return play(event.thread, &event.access, 1);
    follow_memory(event);
    player_->play(event);
  }
  /// Accesses of one thread with nothing between them.
  void play(Tid thread, const Access* accesses, std::size_t count);
  /// An access to this address comes soon.
  void soon(uptr address) { player_->fasttrack().prefetch(address); }
  /// The trace is over. `text` and `stacks` are the trace's; both may be empty.
  finding::RunLog finish(const std::string& text, const Stacks& stacks, bool counters);

  void race(const Race& race) override;
  void warning(const Warning& warning) override;
  void line(const char* text, size_t size) override {
    if (on_line) {
      on_line(std::string(text, size));
    } else {
      events_.emplace_back(text, size);
    }
  }
  void counter(const char* name, u64 value) override { counters_.emplace_back(name, value); }

  std::function<void(const std::string&)> on_line;  // takes lines as they come; else they are kept
  Player& player() { return *player_; }

 private:
  struct Side {
    AccessKind kind;
    Place place;
    Tid thread;
    std::vector<HeldLock> locks;
  };
  struct Kept {
    std::string analysis, what;  // what: of a warning
    uptr address;
    u64 size;
    bool potential;
    std::vector<Side> sides;
    finding::BlockRecord block;
    StackId block_stack;
  };

  void follow_memory(const Event& event);
  Side side_of(const RaceSide& side);
  void find_block(uptr address, Kept& kept);
  bool worth_keeping(const Race& race);

  Arena arena_;
  ShadowMap shadow_;
  std::unique_ptr<Player> player_;
  HeapBlocks heap_;
  std::map<uptr, std::pair<uptr, Tid>> thread_stacks_;  // begin → end, thread
  Tid started_{~0u};                                    // the last event was the start of this thread
  std::vector<Kept> kept_;
  std::map<std::tuple<std::string, u64, u64>, std::set<uptr>> locations_;  // of a pair of places
  std::set<std::vector<u32>> warned_;
  std::vector<std::string> events_;
  std::vector<std::pair<std::string, u64>> counters_;
};

}  // namespace duress::trace
