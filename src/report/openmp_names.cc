// SPDX-License-Identifier: Apache-2.0
#include "report/openmp_names.h"

#include <llvm/Demangle/Demangle.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace duress::report {

namespace {

constexpr std::string_view kOutlined = ".omp_outlined";
constexpr std::string_view kBody = "_debug__";
constexpr std::string_view kRegion = "parallel region in ";

/// The function that the construct is in, without its parameters.
std::string short_name(std::string linkage) {
  if (linkage.ends_with(" (")) linkage.resize(linkage.size() - 2);  // demangled: `f(int) (.omp_outlined)`
  if (!linkage.starts_with("_Z")) return linkage.substr(0, linkage.find('('));
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(linkage.c_str()) || !demangler.isFunction()) return linkage;
  std::size_t size = 0;
  char* name = demangler.getFunctionName(nullptr, &size);
  if (name == nullptr) return linkage;
  std::string result = name;
  std::free(name);
  return result;
}

}  // namespace

std::string openmp_name(const std::string& function) {
  if (function.starts_with(".omp_task_entry.") || function.starts_with(".omp_outlined.")) return "(task)";
  const std::size_t at = function.rfind(kOutlined);  // the innermost of nested constructs
  if (at == std::string::npos || at == 0) return function;
  std::size_t end = at + kOutlined.size();
  const bool body = function.compare(end, kBody.size(), kBody) == 0;
  if (body) end += kBody.size();
  if (end < function.size() && function[end] == '.')
    end = std::min(function.size(), function.find_first_not_of("0123456789", end + 1));
  std::string outside = openmp_name(function.substr(0, at));
  if (outside.starts_with(kRegion)) outside.erase(0, kRegion.size());
  const std::string rest = function.substr(end);
  if (!rest.empty() && rest != ")") return short_name(outside) + rest;  // a lambda or a variable in a region
  return (body ? "" : std::string(kRegion)) + short_name(outside);
}

}  // namespace duress::report
