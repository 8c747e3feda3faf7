// SPDX-License-Identifier: Apache-2.0
//
// A setuid program that becomes its owner entirely and starts another instrumented program, which the kernel
// does not mark as one with raised privileges any more.
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc > 1) return 0;
  uid_t user = geteuid();
  if (setresuid(user, user, user) != 0) return 1;
  execl("/proc/self/exe", argv[0], "again", static_cast<char*>(nullptr));
  return 1;
}
