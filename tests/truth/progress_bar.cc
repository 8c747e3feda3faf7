// SPDX-License-Identifier: Apache-2.0
//
// A progress bar reads how far the worker is.
//
// truth: progress harmless: any of the numbers is a possible display
#include <thread>

int progress = 0;

int main() {
  std::thread worker([] {
    for (int i = 1; i <= 5; ++i) progress = i * 20;
  });
  bool shown = true;
  for (int i = 0; i < 3; ++i) {
    int percent = progress;
    shown = shown && percent >= 0 && percent <= 100;
  }
  worker.join();
  return shown && progress == 100 ? 0 : 1;
}
