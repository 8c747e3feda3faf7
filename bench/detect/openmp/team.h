// SPDX-License-Identifier: Apache-2.0
//
// What the OpenMP kernels share: the size of the team, and the time of what it does.
#pragma once

#include <omp.h>

#include "../kernel.h"

namespace bench {

/// Runs work(), whose regions have so many threads. The time of it is what is measured.
template <typename Work>
void with_team(int threads, Work work) {
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  Times begin;
  work();
  Times end;
  measured.wall += end.wall - begin.wall;
  measured.cpu += end.cpu - begin.cpu;
}

}  // namespace bench
