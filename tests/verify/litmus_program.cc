// SPDX-License-Identifier: Apache-2.0
//
// Runs the litmus test that its first argument spells (litmus.h), for litmus.py. What came of it is added as
// a line to the file of the second argument.
#include <fcntl.h>
#include <unistd.h>

#include "litmus.h"

int main(int, char** arguments) {
  std::string line = litmus::run(arguments[1]) + '\n';
  int file = open(arguments[2], O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (file < 0 || write(file, line.data(), line.size()) < 0) return 1;
  close(file);
}
