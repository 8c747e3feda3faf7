// SPDX-License-Identifier: Apache-2.0
//
// What addresses and sites of a process are called: frames with function and line, names of globals. Owns the
// caches: site tables per binary, frames per address.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "finding/finding.h"
#include "finding/log_record.h"
#include "report/debug_types.h"
#include "report/site_table.h"
#include "report/symbolizer.h"

namespace duress::report {

/// What a record's addresses are to be read against.
struct LoadedModules {
  const finding::ProcessLog& process;
  std::size_t modules_loaded;
};

class AddressNames {
 public:
  const finding::ModuleRecord* module_at(const LoadedModules& loaded, finding::Address address) const;
  const finding::ModuleRecord* module_with_id(const LoadedModules& loaded, int id) const;
  /// Null if there is none.
  const Site* site_of(const LoadedModules& loaded, const std::optional<finding::SiteRecord>& where);
  /// The access itself, and the calls that were inlined around it.
  std::vector<finding::Frame> site_frames(const LoadedModules& loaded, const finding::SiteRecord& where);
  /// Entries are return addresses: the call is what lies before them. (The runtime writes the place of a
  /// crash one byte further, for the same rule to hold.)
  std::vector<finding::Frame> stack(const LoadedModules& loaded,
                                    const std::vector<finding::Address>& addresses);
  /// The global that lies at `address`, or a number: "mu_", "M2".
  std::string object_name(const LoadedModules& loaded, finding::Address address);
  /// Forgets what objects were called: the next are those of another execution.
  void forget_objects();
  /// From now on object_name() says so; of several objects of one name with a number, "Account::mutex #2".
  void learn_object(const LoadedModules& loaded, finding::Address address, const std::string& name);
  std::optional<DataSymbol> data(const finding::ModuleRecord& module, std::uint64_t offset);

  /// What was wrong with the binaries, each once, ready to print.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  const SiteTable& sites_of(const finding::ModuleRecord& module);
  void add_code(const LoadedModules& loaded, finding::Address address, std::vector<finding::Frame>& frames);
  void warn(const std::string& text);
  /// "table[2].mutex" of a global, "table+96" if debug information does not say.
  std::string part_of(const finding::ModuleRecord& module, std::uint64_t offset, const DataSymbol& symbol);
  /// "" or what was learned.
  std::string learned_name(const std::pair<int, finding::Address>& object) const;

  Symbolizer symbolizer_;
  std::map<std::string, SiteTable> tables_;
  std::map<std::string, DebugTypes> types_;
  std::map<std::pair<std::string, std::uint64_t>, std::vector<finding::Frame>> frames_;
  std::map<std::pair<int, finding::Address>, int> object_numbers_;  // M1, M2, ... by process and address
  std::map<std::pair<int, finding::Address>, std::string> learned_;
  std::map<std::string, std::vector<std::pair<int, finding::Address>>> objects_named_;
  std::set<std::string> warned_;
  std::vector<std::string> warnings_;
};

}  // namespace duress::report
