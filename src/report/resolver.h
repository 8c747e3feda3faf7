// SPDX-License-Identifier: Apache-2.0
//
// Raw log records → findings with names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "finding/finding.h"
#include "finding/log_record.h"
#include "finding/names.h"
#include "report/address_names.h"
#include "report/collision.h"
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
  /// See finding::Names.
  void learn_locks(const finding::ProcessLog& process, const std::vector<finding::Step>& steps);
  /// `address`: what is accessed there, which may name the variable better; 0: not known.
  finding::NamedSite site(const finding::ProcessLog& process, const finding::SiteRecord& where,
                          finding::Address address);

  /// What was wrong with the binaries (rebuilt since the run, unreadable), each once, ready to print.
  const std::vector<std::string>& warnings() const { return names_.warnings(); }

 private:
  finding::AccessReport access(const LoadedModules& context, const finding::AccessRecord& record);
  finding::BlockReport block(const LoadedModules& context, const finding::BlockRecord& record,
                             finding::Address address);
  finding::ThreadReport thread(const LoadedModules& context, int id);
  std::string lock_name(const LoadedModules& context, const finding::AccessRecord& access,
                        const finding::LockRecord& lock);
  std::string lock_beside(const LoadedModules& context, const std::optional<finding::SiteRecord>& where,
                          finding::Address accessed, finding::Address lock);
  NamingSite naming_site(const LoadedModules& context, const finding::AccessRecord& record,
                         const finding::AccessReport& named);
  void name_by_declaration(const LoadedModules& context, const finding::RaceRecord& record,
                           finding::Race& race);
  void judge(const LoadedModules& context, const finding::RaceRecord& record, finding::Race& race);

  AddressNames names_;
  CollisionJudge judge_;
  std::map<std::string, TypeLayout> layouts_;
  std::map<std::string, DebugTypes> types_;  // by module
};

}  // namespace duress::report
