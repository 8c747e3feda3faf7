// SPDX-License-Identifier: Apache-2.0
//
// libstdc++ loads both counts of a shared pointer as one number. Atomics of several sizes are beyond rc11, so
// nothing is proved there; but all orders are looked at, and the one in which the owner comes late is found.
//
// EXPECT-VERIFY: * failure exit:1
// VERIFY-RC11: bounded failure exit:1
#include <memory>
#include <thread>

int main() {
  auto owner = std::make_shared<int>(1);
  std::weak_ptr<int> observer = owner;
  bool alive = false;
  std::thread other([observer, &alive] { alive = observer.lock() != nullptr; });
  owner.reset();
  other.join();
  return alive ? 1 : 0;
}
