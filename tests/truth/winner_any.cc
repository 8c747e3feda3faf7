// SPDX-License-Identifier: Apache-2.0
//
// Whoever writes last has won; any winner will do.
//
// truth: winner harmless: one of five valid numbers
#include <thread>

int winner = -1;

int main() {
  std::thread threads[5];
  for (int i = 0; i < 5; ++i) threads[i] = std::thread([i] { winner = i; });
  for (std::thread& thread : threads) thread.join();
  return winner >= 0 && winner < 5 ? 0 : 1;
}
