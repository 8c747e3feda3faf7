// SPDX-License-Identifier: Apache-2.0
//
// Tokens of duress::check: writing that of a failing execution, and duress::replay, which executes one.
#include <sys/syscall.h>

#include "check/execution.h"
#include "check/failure.h"
#include "check/races.h"
#include "runtime/control.h"
#include "runtime/memory_guard.h"
#include "runtime/runtime.h"
#include "trail/token.h"

namespace duress {
namespace {

void write_request(const trail::TokenView& view) {
  trail::Request& r = *check.request;
  r = trail::Request();
  r.points = view.points;
  r.systematic = view.systematic;
  r.model = view.model;
  r.spurious = view.spurious;
  r.timeouts = view.timeouts;
  if (!view.fair) r.fair_after = 0;
  r.seed = view.seed;
  r.most_steps = view.most_steps;
  r.deviation_count = view.trail_count;
  memcpy(r.trail().data(), view.trail, view.trail_count * sizeof(trail::Deviation));
}

bool refuse_token(DuressCheck& c) {
  static char problem[] = "the token is not one of this version of duress, or was damaged";
  c.what = problem;
  if (!c.quiet) {
    write_all(2, "duress::replay: ", 16);
    write_all(2, problem, sizeof problem - 1);
    write_all(2, "\n", 1);
  }
  return true;
}

}  // namespace

void write_token(Text& text, bool learned) {
  const trail::Request& r = *check.request;
  // Which sites were schedule points is part of the execution's name.
  u32 sites = 0;
  const u32* keys = learned ? g_runtime->points.marked(check_arena, &sites) : nullptr;
  trail::TokenView view;
  view.points = r.points;
  view.systematic = r.systematic;
  view.model = r.model;
  view.spurious = r.spurious;
  view.timeouts = r.timeouts;
  view.fair = r.fair_after != 0;
  view.seed = r.seed;
  view.most_steps = r.most_steps;
  view.sites = keys;
  view.site_count = sites;
  view.trail = r.trail().data();
  view.trail_count = r.deviation_count;
  char name[4096];
  long n = raw_syscall(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"), reinterpret_cast<long>(name),
                       sizeof name - 1);
  name[n > 0 ? n : 0] = 0;
  u64 room = trail::token_room(view, name);
  auto* token = static_cast<char*>(check_arena.allocate(room));
  trail::write_token(view, name, token);
  text.put(token);
}

bool replay(DuressCheck& c) {
  trail::TokenHead head;
  trail::TokenView view;
  u64 length = strlen(c.token), room = trail::token_memory(length) + 1;
  void* memory = map_memory(room);
  if (!memory || trail::read_token(c.token, length, memory, head, view) != trail::TokenError::kNone)
    return refuse_token(c);
  write_request(view);
  watch_races(c.ignores_races && view.model == ModelId::kSc ? RaceWatch::kNone : RaceWatch::kClocks, nullptr);
  g_runtime->points.mark_keys(view.sites, view.site_count);
  g_note_caller = (view.systematic && view.site_count != 0) || g_memory_guard;
  unmap_memory(memory, room);
  bool failed = execute_closure();
  c.executions = 1;
  if (failed) report_failure(c, 0);
  return failed;
}

}  // namespace duress
