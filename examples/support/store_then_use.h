// SPDX-License-Identifier: Apache-2.0
//
// One thread performs `store`, then another `use`, in this order in every run, which no detector can see.
#ifndef DURESS_EXAMPLES_STORE_THEN_USE_H_
#define DURESS_EXAMPLES_STORE_THEN_USE_H_

#include <thread>

#include "invisible_barrier.h"

template <typename Store, typename Use>
void store_then_use(Store store, Use use) {
  static int stored = 0;
  std::thread one([&] {
    invisible_start(2);
    store();
    invisible_signal(&stored);
  });
  std::thread two([&] {
    invisible_start(2);
    invisible_wait(&stored, 1);
    use();
  });
  one.join();
  two.join();
}

#endif  // DURESS_EXAMPLES_STORE_THEN_USE_H_
