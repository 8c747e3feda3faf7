// SPDX-License-Identifier: Apache-2.0
//
// A poller gives up after a fixed number of looks; the answer is taken after the join.
//
// truth: finished harmless: seen early, late or never, only the number of looks differs
#include <thread>

bool finished = false;
int answer = 0;

int main() {
  std::thread worker([] {
    answer = 3;
    finished = true;
  });
  int looks = 0;
  while (looks < 8 && !finished) ++looks;
  worker.join();
  return answer == 3 && looks <= 8 ? 0 : 1;
}
