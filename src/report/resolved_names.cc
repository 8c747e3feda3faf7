// SPDX-License-Identifier: Apache-2.0
#include "report/resolved_names.h"

#include <filesystem>

#include "report/path.h"

namespace duress::report {

ResolvedNames::ResolvedNames() {
  std::error_code ignored;
  cwd_ = std::filesystem::current_path(ignored).string();
}

std::vector<finding::Frame> ResolvedNames::stack(const finding::ProcessLog& process,
                                                 const std::vector<finding::Address>& addresses) {
  return resolver_.stack(process, addresses);
}

std::string ResolvedNames::object(const finding::ProcessLog& process, finding::Address address) {
  return resolver_.object(process, address);
}

void ResolvedNames::learn_locks(const finding::ProcessLog& process, const std::vector<finding::Step>& steps) {
  resolver_.learn_locks(process, steps);
}

finding::NamedSite ResolvedNames::site(const finding::ProcessLog& process, const finding::SiteRecord& where) {
  return resolver_.site(process, where, 0);
}

finding::NamedSite ResolvedNames::site_at(const finding::ProcessLog& process,
                                          const finding::SiteRecord& where, finding::Address address) {
  return resolver_.site(process, where, address);
}

finding::Race ResolvedNames::race(const finding::ProcessLog& process, const finding::RaceRecord& record) {
  return resolver_.race(process, record);
}

std::string ResolvedNames::shown(const std::string& path) {
  return shown_path(path, cwd_);
}

std::string ResolvedNames::clean(std::string_view text) {
  return printable(text);
}

}  // namespace duress::report
