// SPDX-License-Identifier: Apache-2.0
//
// The names that need no debug information: module and address in its file. They are the same in every run of
// one build, which is all that a campaign itself needs.
#include "finding/names.h"

#include <cstdio>

namespace duress::finding {
namespace {

std::string hex(finding::Address address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

}  // namespace

std::vector<finding::Frame> Names::stack(const finding::ProcessLog& process,
                                         const std::vector<finding::Address>& addresses) {
  std::vector<finding::Frame> frames;
  for (finding::Address address : addresses) {
    finding::Frame frame;
    frame.module_offset = address;
    for (const finding::ModuleRecord& module : process.modules) {
      if (address < module.low || address >= module.high) continue;
      frame.module = module.path;
      frame.module_offset = address - module.base;
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

std::string Names::object(const finding::ProcessLog&, finding::Address address) {
  return hex(address);
}

NamedSite Names::site(const finding::ProcessLog&, const finding::SiteRecord& site) {
  return {{}, "site " + std::to_string(site.index)};
}

finding::Race Names::race(const finding::ProcessLog& process, const finding::RaceRecord& record) {
  finding::Race race;
  race.found_by = {record.analysis};
  for (std::size_t i : {0, 1}) {
    const finding::AccessRecord& access = i == 0 ? record.prev : record.cur;
    race.sites[i].access = access.access;
    race.sites[i].thread = access.thread;
    if (!access.site) continue;
    NamedSite named = site(process, *access.site);
    race.sites[i].stack = {named.frame};
    // Of two names the same one, whatever the order of the accesses.
    if (race.variable.empty() || named.variable < race.variable) race.variable = named.variable;
  }
  race.variable_key = race.variable;
  return race;
}

std::size_t blamed_frame(const std::vector<finding::Frame>& stack) {
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (!stack[i].library && (!stack[i].file.empty() || !stack[i].function.empty())) return i;
  }
  return 0;
}

}  // namespace duress::finding
