// SPDX-License-Identifier: Apache-2.0
//
// An execution of duress::check that failed: made shorter, told, and named by a token.
#include <sys/syscall.h>

#include "check/execution.h"
#include "check/races.h"
#include "check/step_trace.h"
#include "runtime/runtime.h"
#include "trail/token.h"

namespace duress {

bool keep_trail() {
  trail::Request& r = *check.request;
  if (check.record->deviations * sizeof(trail::Deviation) + sizeof r > kRequestRoom) return false;
  r.strategy = raw(StrategyId::kReplay);
  r.sites = r.pairs = r.picks = 0;
  r.deviations = check.record->deviations;
  memcpy(r.trail(), check.record->trail(), r.deviations * sizeof(trail::Deviation));
  return true;
}

void minimise(u64 budget) {
  trail::Request& r = *check.request;
  char wanted[sizeof check.what];
  memcpy(wanted, check.what, sizeof wanted);
  auto* best = static_cast<trail::Deviation*>(map_memory(r.deviations * sizeof(trail::Deviation) + 1));
  if (!best) return;
  u64 room = r.deviations, count = r.deviations;
  memcpy(best, r.trail(), count * sizeof *best);
  for (u64 part = (count + 1) / 2; part > 0 && budget > 0; part = part == 1 ? 0 : (part + 1) / 2) {
    for (u64 at = 0; at < count && budget > 0; --budget) {
      u64 out = part < count - at ? part : count - at;
      r.deviations = count - out;
      memcpy(r.trail(), best, at * sizeof *best);
      memcpy(r.trail() + at, best + at + out, (count - at - out) * sizeof *best);
      bool same =
          check_execute() && strcmp(check.what, wanted) == 0 && check.record->deviations <= count - out;
      if (same) {
        count = check.record->deviations;
        memcpy(best, check.record->trail(), count * sizeof *best);
      } else {
        at += out;
      }
    }
  }
  r.deviations = count;
  memcpy(r.trail(), best, count * sizeof *best);
  memcpy(check.what, wanted, sizeof wanted);
  unmap_memory(best, room * sizeof(trail::Deviation) + 1);
}

void write_token(Text& text, bool learned) {
  const trail::Request& r = *check.request;
  // Which sites were found to be shared is part of the execution's name.
  u32 sites = 0;
  const u32* keys = learned ? g_runtime->points.marked(check_arena, &sites) : nullptr;
  trail::TokenView view;
  view.points = r.points;
  view.steps = r.steps != 0;
  view.model = r.model;
  view.spurious = r.spurious;
  view.timeouts = r.timeouts;
  view.fair = r.fair_after != 0;
  view.seed = r.seed;
  view.most_steps = r.most_steps;
  view.sites = keys;
  view.site_count = sites;
  view.trail = r.trail();
  view.trail_count = r.deviations;
  char name[4096];
  long n = raw_syscall(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"), reinterpret_cast<long>(name),
                       sizeof name - 1);
  name[n > 0 ? n : 0] = 0;
  u64 room = trail::token_room(view, name);
  auto* token = static_cast<char*>(check_arena.allocate(room));
  trail::write_token(view, name, token);
  text.put(token);
}

void report(DuressCheck& c, u64 found_in) {
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
  u64 switches = 0;
  {
    const DuressSite* sites[2] = {};
    if (!c.ignores_races) {
      watch_races(RaceWatch::kClocks, CheckTrace::access);
      check_execute();
      if (race_found()) memcpy(sites, race_found()->sites, sizeof sites);
    }
    CheckTrace trace(*check.request);
    trace.watch(sites[0], sites[1]);
    check_execute();
    const FoundRace* race = race_found();
    if (race) trace.race_was_at(race->race.address, race->race.size);
    Text columns(check_arena);
    trace.write(columns);
    switches = check.record->switches;
    message->put("duress::check: ").put(what);
    if (found_in) message->put(" in execution ").number(found_in);
    if (found_in && !c.exhaustive) message->put(" of ").number(c.runs);
    message->put("; shortest found: ")
        .number(switches)
        .put(switches == 1 ? " preemption\n" : " preemptions\n");
    if (race) {
      if (!check.raced) {
        message->put("and a ");
        put_race(*message, *race);
        message->put('\n');
      }
      put_race_lines(*message, *race);
    }
    message->put(columns.data(), columns.size());
  }
  message->put("replay: duress::replay(closure, \"").put(token->data()).put("\")\n");
  if (!c.quiet) write_all(2, message->data(), message->size());
  message->put('\0');
  c.what = what;
  c.raced = check.raced;
  c.report = message->data();
  c.found = token->data();
}

}  // namespace duress
