// SPDX-License-Identifier: Apache-2.0
#include "report/site_keys.h"

#include <fmt/format.h>

#include <tuple>

#include "duress/hooks.h"
#include "finding/text.h"
#include "trail/site_key.h"

namespace duress::report {
namespace {

bool has_key(const Site& site) {
  bool atomic = site.access >= kDuressAtomicRead && site.access <= kDuressFence;
  return site.access != kDuressFrame && (atomic || site.faithful);
}

/// By index; 0: it has none. A site of a checked body has its key from the faithful one at the same place.
std::vector<std::uint32_t> keys_of_sites(const SiteTable& table) {
  std::vector<std::uint32_t> keys(table.entries());
  std::map<std::tuple<std::string, std::string, int>, std::uint32_t> ordinals;
  std::map<std::tuple<std::string, std::string, std::uint32_t, std::uint32_t, int>, std::uint32_t> at_place;
  auto place = [](const Site& s) {
    return std::tuple(s.file, s.function, s.line, std::uint32_t{s.column}, int{s.access});
  };
  for (std::uint32_t i = 0; i < table.entries(); ++i) {
    const Site* site = table.find(i);
    if (!site || !has_key(*site)) continue;
    std::uint32_t ordinal = ordinals[{site->function, site->variable, site->access}]++;
    keys[i] = trail::site_key(site->function.c_str(), site->variable.c_str(), site->access, ordinal);
    at_place.emplace(place(*site), keys[i]);
  }
  for (std::uint32_t i = 0; i < table.entries(); ++i) {
    const Site* site = table.find(i);
    if (!site || keys[i] != 0) continue;
    auto it = at_place.find(place(*site));
    if (it != at_place.end()) keys[i] = it->second;
  }
  return keys;
}

}  // namespace

KeyedSite SiteKeys::find(const std::optional<finding::SiteRecord>& site) {
  if (!site) return {};
  if (trail::is_code_site(site->index))
    return {trail::code_site_key(trail::code_site_offset(site->index)), ""};
  for (const finding::ModuleRecord& module : process_.modules) {
    if (module.id != site->module) continue;
    auto [it, fresh] = loaded_.try_emplace(module.id);
    if (fresh) {
      it->second.table = SiteTable::load(module.path);
      it->second.keys = keys_of_sites(it->second.table);
    }
    const Site* known = it->second.table.find(site->index);
    if (!known) return {};
    return {it->second.keys[site->index], fmt::format("{}:{}", finding::base_name(known->file), known->line)};
  }
  return {};
}

}  // namespace duress::report
