// SPDX-License-Identifier: Apache-2.0
//
// The files of src/report/html, taken into the program when it is built.
#pragma once

#include <string_view>
#include <vector>

namespace duress::report {

std::string_view html_body();
std::string_view html_style();
/// The modules, each after those that it imports.
std::vector<std::string_view> html_modules();

}  // namespace duress::report
