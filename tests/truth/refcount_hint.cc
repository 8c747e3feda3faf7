// SPDX-License-Identifier: Apache-2.0
//
// The count changes under a lock; copy-on-write looks at it without, and is right either way.
//
// truth: Shared::owners harmless: the glance only chooses between copying and asking again under the lock
#include <mutex>
#include <thread>

struct Shared {
  std::mutex mutex;
  int owners = 2;
  int value = 5;
};

int copy_of(Shared& shared) {
  if (shared.owners > 1) {
    std::lock_guard guard(shared.mutex);
    return shared.value;
  }
  std::lock_guard guard(shared.mutex);
  return shared.owners >= 0 ? shared.value : 0;
}

int main() {
  Shared* shared = new Shared;
  int copy = 0;
  std::thread leaver([shared] {
    std::lock_guard guard(shared->mutex);
    --shared->owners;
  });
  std::thread copier([shared, &copy] { copy = copy_of(*shared); });
  leaver.join();
  copier.join();
  int owners = shared->owners;
  delete shared;
  return copy == 5 && owners == 1 ? 0 : 1;
}
