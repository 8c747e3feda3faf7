// SPDX-License-Identifier: Apache-2.0
#include "check/failure.h"

#include "check/execution.h"
#include "check/memory_errors.h"
#include "check/races.h"
#include "check/step_trace.h"
#include "runtime/control.h"
#include "trail/minimiser.h"

namespace duress {
namespace {

/// A trail in memory of its own, of which the kernel provides what is used.
class MappedTrail {
 public:
  static constexpr u64 kRoom = (kRequestRoom - sizeof(trail::Request)) / sizeof(trail::Deviation);

  MappedTrail() : deviations_(static_cast<trail::Deviation*>(map_memory(kRequestRoom))) {}
  ~MappedTrail() {
    if (deviations_) unmap_memory(deviations_, kRequestRoom);
  }
  MappedTrail(const MappedTrail&) = delete;
  MappedTrail& operator=(const MappedTrail&) = delete;

  u64 size() const { return size_; }
  trail::Deviation operator[](u64 i) const { return deviations_[i]; }
  const trail::Deviation* data() const { return deviations_; }
  void clear() { size_ = 0; }
  void push_back(trail::Deviation deviation) {
    if (deviations_ && size_ < kRoom) deviations_[size_++] = deviation;
  }
  void assign(const trail::Deviation* from, u64 count) {
    clear();
    for (u64 i = 0; i < count; ++i) push_back(from[i]);
  }

 private:
  trail::Deviation* deviations_;
  u64 size_ = 0;
};

void set_trail(const MappedTrail& trail) {
  check.request->deviation_count = trail.size();
  memcpy(check.request->trail().data(), trail.data(), trail.size() * sizeof(trail::Deviation));
}

}  // namespace

bool keep_trail() {
  trail::Request& r = *check.request;
  if (check.record->deviations * sizeof(trail::Deviation) + sizeof r > kRequestRoom) return false;
  r.strategy = StrategyId::kReplay;
  r.site_count = r.pair_count = r.pick_count = 0;
  r.deviation_count = check.record->deviations;
  memcpy(r.trail().data(), check.record->trail(), r.deviation_count * sizeof(trail::Deviation));
  return true;
}

void minimise() {
  // What stuck strands have allocated is lost: then few executions only.
  const u64 most_runs = check.abandoned ? 20 : 400;
  constexpr double kMostSeconds = 10;  // of a closure that is slow
  char wanted[sizeof check.what];
  memcpy(wanted, check.what, sizeof wanted);
  Deadline deadline(kMostSeconds);
  auto replay = [&](const MappedTrail& candidate, trail::MinimiserAttempt<MappedTrail>* attempt) {
    if (deadline.passed()) return false;
    set_trail(candidate);
    attempt->same = execute_closure() && strcmp(check.what, wanted) == 0 &&
                    check.record->deviations <= MappedTrail::kRoom;
    attempt->switches = check.record->switches;
    attempt->choices = check.record->choices;
    attempt->strands = check.record->strands;
    attempt->trail.assign(check.record->trail(), check.record->deviations);
    return true;
  };
  MappedTrail failing;
  failing.assign(check.request->trail().data(), check.request->deviation_count);
  trail::Minimiser<MappedTrail, decltype(replay)> minimiser(replay, most_runs);
  set_trail(minimiser.run(failing) ? minimiser.trail() : failing);
  memcpy(check.what, wanted, sizeof wanted);
}

namespace {

/// Executes the kept trail twice: to know which accesses race, and to write them into the columns. Writes all
/// of the report but the token.
void put_report(Text& message, const DuressCheck& c, const char* what, u64 found_in) {
  const DuressSite* sites[2] = {};
  // Clocks have call stacks, too, which a memory error is shown with.
  if (!c.ignores_races || memory_error_found()) {
    watch_races(RaceWatch::kClocks, StepTrace::access);
    execute_closure();
    if (!c.ignores_races && race_found()) memcpy(sites, race_found()->sites, sizeof sites);
  }
  StepTrace trace(*check.request);
  trace.watch(sites[0], sites[1]);
  execute_closure();
  const FoundRace* race = c.ignores_races ? nullptr : race_found();
  if (race) trace.set_race(race->race.address, race->race.size);
  Text columns(check_arena);
  put_interleaving(columns, trace);
  u64 switches = check.record->switches;
  message.put("duress::check: ").put(what);
  if (found_in) message.put(" in execution ").number(found_in);
  if (found_in && !c.exhaustive) message.put(" of ").number(c.runs);
  message.put("; shortest found: ").number(switches).put(switches == 1 ? " preemption\n" : " preemptions\n");
  if (race && !check.raced) {
    message.put("and a ");
    put_race(message, *race);
    message.put('\n');
  } else if (!race && check.other_race) {
    message.put("and a ").put(check.other_race).put('\n');
  }
  if (race) put_race_lines(message, *race);
  put_memory_lines(message);
  message.put(columns.data(), columns.size());
}

}  // namespace

void report_failure(DuressCheck& c, u64 found_in) {
  // They live until the next check.
  static Text* message = nullptr;
  static Text* token = nullptr;
  static char what[sizeof check.what];
  if (!message) {
    message = new (check_arena.allocate(sizeof(Text))) Text(check_arena);
    token = new (check_arena.allocate(sizeof(Text))) Text(check_arena);
  }
  message->clear();
  token->clear();
  memcpy(what, check.what, sizeof what);
  write_token(*token, check.request->points == trail::Points::kSync);
  token->put('\0');
  put_report(*message, c, what, found_in);
  message->put("replay: duress::replay(closure, \"").put(token->data()).put("\")\n");
  if (!c.quiet) write_all(2, message->data(), message->size());
  message->put('\0');
  c.what = what;
  c.raced = check.raced;
  c.report = message->data();
  c.found = token->data();
}

}  // namespace duress
