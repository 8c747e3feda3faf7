// SPDX-License-Identifier: Apache-2.0
//
// libduress_preload.so: the runtime for a program that is not instrumented and loads libraries that are. The
// host names it in LD_PRELOAD; the libraries' hooks then bind to it instead of their own stubs.
#include <stdlib.h>
#include <string.h>

#include "runtime/startup.h"

extern "C" __attribute__((visibility("default"))) void __duress_module_init(const DuressModule* module);

/// Programs that this one starts do not get it: they may have a runtime of their own.
static void leave_environment(char** environment) {
  constexpr char kName[] = "LD_PRELOAD=", kOwn[] = "libduress_preload.so";
  for (char** entry = environment; *entry; ++entry) {
    if (strncmp(*entry, kName, sizeof kName - 1) != 0) continue;
    char* value = *entry + sizeof kName - 1;
    char* own = strstr(value, kOwn);
    if (!own) continue;
    char* rest = own + sizeof kOwn - 1;  // the host puts it first
    if (*rest == ':') ++rest;
    memmove(value, rest, strlen(rest) + 1);
  }
}

__attribute__((constructor(101))) static void duress_preload(int, char**, char** environment) {
  leave_environment(environment);
  // The compiler takes two names for two functions.
  void (*volatile bound)(const DuressModule*) = __duress_module_init;
  void (*volatile own)(const DuressModule*) = duress_own_module_init;
  if (bound != own) return;  // the executable has the runtime
  duress::g_preloaded = true;
  duress_start(environment);
}
