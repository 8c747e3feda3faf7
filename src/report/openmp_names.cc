// SPDX-License-Identifier: Apache-2.0
#include "report/openmp_names.h"

#include <llvm/Demangle/Demangle.h>

#include <cstdlib>

namespace duress::report {

namespace {

constexpr const char* kOutlined = ".omp_outlined";
constexpr const char* kBody = "_debug__";

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
  const std::size_t at = function.find(kOutlined);
  if (at == std::string::npos || at == 0) return function;
  std::size_t end = at + std::string(kOutlined).size();
  const bool body = function.compare(end, std::string(kBody).size(), kBody) == 0;
  if (body) end += std::string(kBody).size();
  if (end + 1 < function.size() && function[end] == '.')
    end = function.find_first_not_of("0123456789", end + 1);
  const std::string rest = end == std::string::npos ? "" : function.substr(end);
  if (!rest.empty() && rest != ")") return short_name(function.substr(0, at)) + rest;  // a lambda in a region
  return (body ? "" : "parallel region in ") + short_name(function.substr(0, at));
}

}  // namespace duress::report
