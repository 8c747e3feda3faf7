// SPDX-License-Identifier: Apache-2.0
//
// The program `duress`. Its commands are another program, which it becomes when one is wanted: loading LLVM,
// which they need for names and lines, takes longer than all that `duress --version` does
// (docs/design/cli.md). Not a library that is loaded later: then thread-local memory would be allocated when
// a thread first uses it, and the C library ends a process in which that fails without asking anybody.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <initializer_list>

#include "exec/exit_code.h"

namespace {

int print_version() {
  if (printf("duress %s\n", DURESS_VERSION) > 0 && fflush(stdout) == 0) return duress::kExitOk;
  perror("duress: cannot write to standard output");
  return duress::kExitToolFailed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--version") == 0) return print_version();
  // Beside the folder of this program: in the build tree as in an installation. exec/layout.cc goes the way
  // back.
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  while (length > 0 && path[length - 1] != '/') --length;
  for (const char* folder : {"../" DURESS_LIBDIR "/duress/duress", "../lib/duress/duress"}) {
    if (length <= 0 || static_cast<size_t>(length) + strlen(folder) >= sizeof path) break;
    strcpy(path + length, folder);
    execv(path, argv);
    if (errno != ENOENT) break;
  }
  fprintf(stderr, "duress: cannot start its commands (lib/duress/duress): %s; install duress again\n",
          length > 0 ? strerror(errno) : "/proc cannot be read");
  return duress::kExitToolFailed;
}
