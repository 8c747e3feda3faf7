// SPDX-License-Identifier: Apache-2.0
//
// A race in an execution of duress::check, in words.
#include <string.h>

#include "check/races.h"
#include "check/source_lines.h"
#include "check/step_trace.h"
#include "runtime/runtime.h"

namespace duress {
namespace {

constexpr const char* kVerbs[] = {
    "reads", "writes", "reads atomically", "writes atomically", "updates atomically", "frees"};

const RaceSide& side_of(const FoundRace& found, int i) {
  return i ? found.race.later : found.race.earlier;
}

bool in_library(const char* file) {
  return memcmp(file, "/usr/", 5) == 0;
}

/// The innermost frame of a stack that is not the C++ library's: "file:line", or "".
const char* line_in(StackId stack) {
  const StackDepot& stacks = g_runtime->stacks;
  constexpr int kMost = 32;
  for (int i = 0; raw(stack) && i < kMost; ++i, stack = stacks.caller(stack)) {
    const char* line = source_line(stacks.return_address(stack));
    if (*line) return line;
  }
  return "";
}

void put_place(Text& text, const FoundRace& found, int i) {
  const char* line = "";
  SitePoints::Source source = {"", "", "", 0};
  if (found.sites[i]) source = g_runtime->points.source(found.sites[i]);
  if (!*source.file || in_library(source.file)) line = line_in(side_of(found, i).place.stack);
  if (*line) {
    text.put(line);
  } else if (*source.file) {
    text.put(base_name(source.file)).put(':').number(source.line);
  } else {
    text.put("a library function");
  }
}

/// How much a site's name of its variable says.
int worth_of(const DuressSite* site) {
  if (!site) return 0;
  switch (site->variable_kind) {
    case kDuressGlobal:
    case kDuressField:
    case kDuressArray:
      return 3;
    case kDuressLocal:
      return 2;
    case kDuressPointee:
      return 1;
    default:
      return 0;
  }
}

void put_race_variable(Text& text, const FoundRace& found) {
  const DuressSite* site = found.sites[worth_of(found.sites[1]) > worth_of(found.sites[0])];
  put_variable(text, worth_of(site) ? g_runtime->points.source(site).variable : "");
}

/// Which of the two comes first in a text that does not depend on the schedule.
int first_of(const FoundRace& found) {
  const Race& r = found.race;
  u64 names[2];
  for (int i = 0; i < 2; ++i) {
    const RaceSide& side = side_of(found, i);
    names[i] = u64{raw(side.place.site)} << 8 | static_cast<u64>(side.kind);
  }
  if (names[0] != names[1]) return names[1] < names[0];
  return raw(r.later.place.stack) < raw(r.earlier.place.stack);
}

}  // namespace

void put_race(Text& text, const FoundRace& found) {
  text.put("data race on ");
  put_race_variable(text, found);
  int first = first_of(found);
  for (int i : {first, 1 - first}) {
    text.put(i == first ? ": " : ", ");
    put_place(text, found, i);
    text.put(' ').put(kVerbs[static_cast<int>(side_of(found, i).kind)]);
  }
}

void put_race_lines(Text& text, const FoundRace& found) {
  for (int i : {0, 1}) {
    const RaceSide& side = side_of(found, i);
    text.put("  T").number(found.strands[i]).put(' ').put(kVerbs[static_cast<int>(side.kind)]).put("  ");
    if (found.sites[i]) {
      const char* function = g_runtime->points.source(found.sites[i]).function;
      if (*function) text.put(function).put("()  ");
    }
    put_place(text, found, i);
    text.put("  holds ");
    u32 count = 0;
    const HeldLock* held = g_runtime->lock_sets.locks(side.locks, &count);
    if (!count) text.put("nothing");
    for (u32 n = 0; n < count; ++n)
      text.put(n ? ", lock #" : "lock #").number(object_number(held[n].address));
    text.put('\n');
  }
  if (!found.block.start) return;
  const char* line = line_in(found.block.stack);
  text.put("  in a block of ").number(found.block.size).put(" bytes");
  if (*line) text.put(" that was allocated at ").put(line);
  text.put('\n');
}

}  // namespace duress
