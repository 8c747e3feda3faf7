// SPDX-License-Identifier: Apache-2.0
//
// What clang makes of OpenMP constructs are functions of their own, whose names mean nothing to their author:
// `main.omp_outlined` at the line of the construct calls `main.omp_outlined_debug__`, which has the body; a
// task is `.omp_outlined.`.
#pragma once

#include <string>

namespace duress::report {

/// The name in the program's terms: `main` for the body, `parallel region in main` for the construct,
/// `(task)`; a variable of a body is one of its function. Other names are returned as they are.
std::string openmp_name(const std::string& function);

}  // namespace duress::report
