// SPDX-License-Identifier: Apache-2.0
#include "exec/processor.h"

#include <sched.h>

namespace duress::exec {
namespace {

/// Those of the command, before any of its threads kept to one.
struct Allowed {
  Allowed() { known = sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0; }
  cpu_set_t set;
  bool known;
};

const Allowed& allowed() {
  static const Allowed all;
  return all;
}

thread_local int shared = -1;

}  // namespace

int own_processor() {
  int here = sched_getcpu(), number = 0;
  if (!allowed().known || here < 0 || here >= CPU_SETSIZE || !CPU_ISSET(here, &allowed().set)) return -1;
  for (int i = 0; i < here; ++i) number += CPU_ISSET(i, &allowed().set) ? 1 : 0;
  return number;
}

void share_processor(int number) {
  if (number == shared) return;
  if (number < 0) return use_all_processors();
  if (!allowed().known) return;
  int left = number % CPU_COUNT(&allowed().set);
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &allowed().set) || left-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(i, &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) shared = number;
    return;
  }
}

void use_all_processors() {
  if (allowed().known) sched_setaffinity(0, sizeof allowed().set, &allowed().set);
  shared = -1;
}

}  // namespace duress::exec
