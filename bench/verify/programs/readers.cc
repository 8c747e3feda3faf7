// SPDX-License-Identifier: Apache-2.0
//
// A writer and N readers of one variable.
//
// EXECUTIONS: sc 2: 4, 5: 32
// EXECUTIONS: rf 2: 4, 5: 32
// EXECUTIONS: rc11 2: 4, 5: 32
// EXECUTIONS: symmetry 2: 3, 5: 6
// SOURCE: 2^N (each reader comes before or after the store), the count in the table of Optimal DPOR (POPL
// 2014); symmetry: N + 1
#include "threads.h"

std::atomic<int> x;

int main(int argc, char** argv) {
  const int n = number(argc, argv, 2);
  std::thread writer([] { x.store(1); });
  std::vector<std::thread> readers;
  for (int i = 0; i < n; ++i) readers.emplace_back([] { (void)x.load(); });
  writer.join();
  for (std::thread& reader : readers) reader.join();
}
