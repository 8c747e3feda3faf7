// SPDX-License-Identifier: Apache-2.0
//
// Raw log records → findings with names. Owns the caches: site tables per binary, frames per address.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "finding/finding.h"
#include "finding/log_record.h"
#include "finding/names.h"
#include "report/collision.h"
#include "report/site_table.h"
#include "report/symbolizer.h"
#include "report/type_layout.h"
#include "report/variable_name.h"

namespace duress::report {

class Resolver {
 public:
  finding::Race race(const finding::ProcessLog& process, const finding::RaceRecord& record);
  finding::Suspicion suspicion(const finding::ProcessLog& process, const finding::WarningRecord& record);
  finding::Crash crash(const finding::ProcessLog& process, const finding::CrashRecord& record);

  // Names without a finding; every module that the process loaded may explain an address.

  std::vector<finding::Frame> stack(const finding::ProcessLog& process,
                                    const std::vector<finding::Address>& addresses);
  /// The global, or the number, of what lies at `address`: "mu_", "M2".
  std::string object(const finding::ProcessLog& process, finding::Address address);
  /// `address`: what is accessed there, which may name the variable better; 0: not known.
  finding::NamedSite site(const finding::ProcessLog& process, const finding::SiteRecord& where,
                          finding::Address address);

  /// What was wrong with the binaries (rebuilt since the run, unreadable), each once, ready to print.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Context {  // what a record's addresses are to be read against
    const finding::ProcessLog& process;
    std::size_t modules_loaded;
  };

  const finding::ModuleRecord* module_at(const Context& context, finding::Address address) const;
  const finding::ModuleRecord* module_with_id(const Context& context, int id) const;
  const SiteTable& sites_of(const finding::ModuleRecord& module);
  const Site* site_of(const Context& context, const std::optional<finding::SiteRecord>& where);
  std::vector<finding::Frame> site_frames(const Context& context, const finding::SiteRecord& where);
  void add_code(const Context& context, finding::Address address, std::vector<finding::Frame>& frames);
  /// Entries are return addresses: the call is what lies before them. (The runtime writes the place of a
  /// crash one byte further, for the same rule to hold.)
  std::vector<finding::Frame> stack(const Context& context, const std::vector<finding::Address>& addresses);
  finding::AccessReport access(const Context& context, const finding::AccessRecord& record);
  finding::BlockReport block(const Context& context, const finding::BlockRecord& record,
                             finding::Address address);
  finding::ThreadReport thread(const Context& context, int id);
  std::string object_name(const Context& context, finding::Address address);
  std::string lock_name(const Context& context, const finding::AccessRecord& access,
                        const finding::LockRecord& lock);
  std::string lock_beside(const Context& context, const finding::AccessRecord& access, finding::Address lock);
  NamingSite naming_site(const Context& context, const finding::AccessRecord& record,
                         const finding::AccessReport& named);
  void warn(const std::string& text);

  void judge(const Context& context, const finding::RaceRecord& record, finding::Race& race);

  Symbolizer symbolizer_;
  CollisionJudge judge_;
  std::map<std::string, SiteTable> tables_;
  std::map<std::string, TypeLayout> layouts_;
  std::map<std::pair<std::string, std::uint64_t>, std::vector<finding::Frame>> frames_;
  std::map<std::pair<int, finding::Address>, int> object_numbers_;  // of those without a name: M1, M2, ...
  std::set<std::string> warned_;
  std::vector<std::string> warnings_;
};

}  // namespace duress::report
