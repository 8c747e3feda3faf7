// SPDX-License-Identifier: Apache-2.0
//
// Names from debug information, for the rooms that ask through finding::Names: the same as in every report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "finding/names.h"
#include "report/resolver.h"

namespace duress::report {

class ResolvedNames : public finding::Names {
 public:
  /// Paths below the current folder are shown relative to it.
  ResolvedNames();

  std::vector<finding::Frame> stack(const finding::ProcessLog& process,
                                    const std::vector<finding::Address>& addresses) override;
  std::string object(const finding::ProcessLog& process, finding::Address address) override;
  void learn_locks(const finding::ProcessLog& process, const std::vector<finding::Step>& steps) override;
  finding::NamedSite site(const finding::ProcessLog& process, const finding::SiteRecord& where) override;
  finding::NamedSite site_at(const finding::ProcessLog& process, const finding::SiteRecord& where,
                             finding::Address address) override;
  finding::Race race(const finding::ProcessLog& process, const finding::RaceRecord& record) override;
  std::string shown(const std::string& path) override;
  std::string clean(std::string_view text) override;

 private:
  Resolver resolver_;
  std::string cwd_;
};

}  // namespace duress::report
