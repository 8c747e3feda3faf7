// SPDX-License-Identifier: Apache-2.0
//
// Three stores and a load: which store came first counts only for the load. Of 4! orders four differ in what is
// read.
//
// EXPECT-VERIFY: 24 none
// VERIFY-WITH: --equivalence rf: 4 none
// VERIFY-SUITE: fast
#include <atomic>
#include <thread>

std::atomic<int> x{0};

int main() {
  std::thread a([] { x = 1; }), b([] { x = 2; }), c([] { x = 3; }), reader([] { x.load(); });
  a.join();
  b.join();
  c.join();
  reader.join();
}
