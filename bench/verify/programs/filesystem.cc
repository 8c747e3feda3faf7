// SPDX-License-Identifier: Apache-2.0
//
// Each thread gives an inode its first block. From the 14th thread on two of them begin at the same block.
//
// EXECUTIONS: sc 13: 1, 14: 2, 16: 8
// EXECUTIONS: rf 13: 1, 14: 2, 16: 8
// SOURCE: 2^(N-13), by brute force too (brute_force.py); the tables of DPOR (POPL 2005) and Optimal DPOR
// (POPL 2014) have this family
#include <mutex>

#include "threads.h"

constexpr int kInodes = 32, kBlocks = 26;
std::mutex inode_locks[kInodes], block_locks[kBlocks];
int inodes[kInodes];
bool busy[kBlocks];

int main(int argc, char** argv) {
  together(number(argc, argv, 14), [](int thread) {
    const int i = thread % kInodes;
    std::lock_guard inode(inode_locks[i]);
    if (inodes[i] != 0) return;
    for (int b = i * 2 % kBlocks;; b = (b + 1) % kBlocks) {
      std::lock_guard block(block_locks[b]);
      if (busy[b]) continue;
      busy[b] = true;
      inodes[i] = b + 1;
      return;
    }
  });
}
