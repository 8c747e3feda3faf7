// SPDX-License-Identifier: Apache-2.0
//
// A reader says which node it uses and then uses it; the owner replaces the node and frees the old one if no
// reader says that it uses it. Without a second look at the node the reader may say it too late.
//
// BUG hazard: -DROUNDS=2
// CORRECT hazard_checked: -DROUNDS=2 -DCHECKED
#include "../programs/parallel.h"

static std::atomic<int> current{1}, hazard, freed[ROUNDS + 2];

int main() {
  in_parallel(
      [] {
        for (int round = 1; round <= ROUNDS; ++round) {
          current = round + 1;
          if (hazard != round) freed[round] = 1;
        }
      },
      [] {
        int node = current;
        hazard = node;
#ifdef CHECKED
        while (node != current) {
          node = current;
          hazard = node;
        }
#endif
        assert(freed[node] == 0);
      });
}
