// SPDX-License-Identifier: Apache-2.0
//
// Two threads at once, for the lists, queues and stacks here. Each has its own nodes, so that the same node
// lies at the same place in every interleaving, and nothing is freed while another thread may look at it.
#ifndef DURESS_EXAMPLES_TWO_THREADS_H_
#define DURESS_EXAMPLES_TWO_THREADS_H_

#undef NDEBUG
#include <cassert>
#include <thread>

template <typename First, typename Second>
void two_threads(First first, Second second) {
  std::thread a(first), b(second);
  a.join();
  b.join();
}

#endif  // DURESS_EXAMPLES_TWO_THREADS_H_
