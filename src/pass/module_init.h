// SPDX-License-Identifier: Apache-2.0
#ifndef DURESS_PASS_MODULE_INIT_H_
#define DURESS_PASS_MODULE_INIT_H_

#include "pass/unit.h"

namespace duress::pass {

/// Adds the constructor that tells the runtime about this executable or shared library.
void add_module_constructor(Unit& unit);

}  // namespace duress::pass

#endif  // DURESS_PASS_MODULE_INIT_H_
