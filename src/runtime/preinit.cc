// SPDX-License-Identifier: Apache-2.0
#include "runtime/startup.h"

// Before the constructors of any shared library: what they do is to be seen too.
static void duress_preinit(int, char**, char** environment) {
  duress_start(environment);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const duress_preinit_entry)(int, char**, char**) = duress_preinit;
