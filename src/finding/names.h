// SPDX-License-Identifier: Apache-2.0
//
// Addresses of a target → names. The campaign must tell failures apart and show them, and what can read a
// binary's debug information (src/report) is not below it: the command hands it in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"
#include "finding/log_record.h"

namespace duress::finding {

/// What a site is: where, and of which variable.
struct NamedSite {
  finding::Frame frame;
  std::string variable;
};

/// Threads: one at a time.
class Names {
 public:
  virtual ~Names() = default;
  /// The frames of a stack of return addresses, innermost first, with those of libraries marked.
  virtual std::vector<finding::Frame> stack(const finding::ProcessLog& process,
                                            const std::vector<finding::Address>& addresses);
  /// The global, or the number, of what lies at `address`: "mu_", "M2".
  virtual std::string object(const finding::ProcessLog& process, finding::Address address);
  /// Names locks inside objects after the members that they are, from here on: accesses among the steps say
  /// of which type the memory around a lock is. Names and numbers of another execution's are forgotten.
  virtual void learn_locks(const finding::ProcessLog& process, const std::vector<finding::Step>& steps) {}
  virtual NamedSite site(const finding::ProcessLog& process, const finding::SiteRecord& site);
  /// A race as reports show it, without its id.
  virtual finding::Race race(const finding::ProcessLog& process, const finding::RaceRecord& record);
  /// The same of an access to that address, which may name the variable better.
  virtual NamedSite site_at(const finding::ProcessLog& process, const finding::SiteRecord& where,
                            finding::Address address) {
    return site(process, where);
  }
  /// `path` as users want to see it.
  virtual std::string shown(const std::string& path) { return path; }
  /// `text` safe for a terminal.
  virtual std::string clean(std::string_view text) { return std::string(text); }
};

/// Index of the innermost frame of the user's own code; 0 if there is none.
std::size_t blamed_frame(const std::vector<finding::Frame>& stack);

}  // namespace duress::finding
