// SPDX-License-Identifier: Apache-2.0
//
// The winner and the score belong together.
//
// truth: winner destructive exit:1: the stores of two threads may mix
// truth: score destructive exit:1: as winner
#include <thread>

int winner = -1;
int score = 0;

void finish(int self) {
  winner = self;
  score = 100 + self;
}

int main() {
  std::thread first(finish, 0), second(finish, 1);
  first.join();
  second.join();
  return score == 100 + winner ? 0 : 1;
}
