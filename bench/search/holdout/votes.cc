// SPDX-License-Identifier: Apache-2.0
//
// Two participants vote, a coordinator decides when it has counted both. A participant may withdraw its vote
// until it sees the decision; between its look and the withdrawal the decision can be made.
//
// BUG votes: -DPARTICIPANTS=2
// BUG votes_4: -DPARTICIPANTS=4
#include "../programs/parallel.h"

static std::atomic<int> yes, decided, withdrawn;

int main() {
  in_parallel_each(PARTICIPANTS + 1, [](int me) {
    if (me == PARTICIPANTS) {
      if (yes == PARTICIPANTS) decided = 1;
      return;
    }
    ++yes;
    if (me == 0 && decided == 0) {
      --yes;
      withdrawn = 1;
    }
  });
  assert(decided + withdrawn < 2);
}
