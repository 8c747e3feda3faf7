// SPDX-License-Identifier: Apache-2.0
//
// The count of a shared pointer: N threads take a reference each and drop it; who drops the last one frees.
//
// EXECUTIONS: sc 2: 6, 3: 90
// EXECUTIONS: rf 2: 6, 3: 90
// EXECUTIONS: rc11 2: 6, 3: 90
// SOURCE: (2N)! / 2^N: orders of two updates of each thread
#include "threads.h"

struct Counted {
  std::atomic<int> references{1};
};

int main(int argc, char** argv) {
  const int n = number(argc, argv, 2);
  auto* object = new Counted;
  auto drop = [](Counted* one) {
    if (one->references.fetch_sub(1) == 1) delete one;
  };
  together(n, [=](int) {
    object->references.fetch_add(1);
    drop(object);
  });
  drop(object);
}
