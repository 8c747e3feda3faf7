// SPDX-License-Identifier: Apache-2.0
//
// The program `duress`. Its commands are in a library that is loaded when one is wanted: loading LLVM, which
// they need for names and lines, takes longer than all that `duress --version` does (docs/design/cli.md).
#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "exec/exit_code.h"

namespace {

/// Beside the folder of this program: in the build tree as in an installation.
std::string commands_path() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  std::string own = length <= 0 ? "." : std::string(path, static_cast<std::size_t>(length));
  own.resize(own.rfind('/') == std::string::npos ? own.size() : own.rfind('/'));
  for (const char* folder : {"/../" DURESS_LIBDIR "/duress/", "/../lib/duress/", "/../lib/"}) {
    std::string file = own + folder + "duress_commands.so";
    if (access(file.c_str(), R_OK) == 0) return file;
  }
  return "";
}

int print_version() {
  std::printf("duress %s\n", DURESS_VERSION);
  if (std::fflush(stdout) == 0) return duress::kExitOk;
  std::perror("duress: cannot write to standard output");
  return duress::kExitToolFailed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) return print_version();
  std::string path = commands_path();
  if (path.empty()) {
    std::fputs("duress: duress_commands.so is missing; install duress again\n", stderr);
    return duress::kExitToolFailed;
  }
  void* commands = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* entry = commands != nullptr ? dlsym(commands, "duress_main") : nullptr;
  if (entry == nullptr) {
    std::fprintf(stderr, "duress: cannot load its commands: %s\n", dlerror());
    return duress::kExitToolFailed;
  }
  return reinterpret_cast<int (*)(int, char**)>(entry)(argc, argv);
}
