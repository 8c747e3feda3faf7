// SPDX-License-Identifier: Apache-2.0
//
// duress::nondet is drawn from the seed and is part of the token; a run whose assumption fails is no finding.
//
// EXPECT-FAILURE: assertion
// WITHIN: 500
#include <assert.h>
#include <duress/annotate.h>

#include <thread>

int main() {
  std::thread thread([] {
    unsigned number = duress::nondet(20);
    duress::assume(number > 3);
    assert(number > 3 && number != 17);
  });
  thread.join();
}
