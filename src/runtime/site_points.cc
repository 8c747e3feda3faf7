// SPDX-License-Identifier: Apache-2.0
#include "runtime/site_points.h"

#include <string.h>

#include "base/check.h"
#include "base/prng.h"
#include "base/raw.h"
#include "catalog/models.h"
#include "trail/site_key.h"

namespace duress {

AccessFilter g_access_filter;

namespace {

/// Calls body(header, sites, strings, flags) for each translation unit's part of a module's sites.
template <typename Body>
void each_unit(const DuressModule& module, Body body) {
  const auto* at = reinterpret_cast<const char*>(module.sites_begin);
  const auto* end = reinterpret_cast<const char*>(module.sites_end);
  while (at + sizeof(DuressSiteHeader) <= end) {
    const auto* header = reinterpret_cast<const DuressSiteHeader*>(at);
    if (memcmp(header->magic, "DURS", 4) != 0) {  // padding between two units
      at += sizeof(DuressSite);
      continue;
    }
    const auto* sites = reinterpret_cast<const DuressSite*>(header + 1);
    const char* strings = reinterpret_cast<const char*>(&header->rel_strings) + header->rel_strings;
    u8* flags = const_cast<u8*>(reinterpret_cast<const u8*>(&header->rel_flags)) + header->rel_flags;
    body(*header, sites, strings, flags);
    at = reinterpret_cast<const char*>(sites + header->sites);
  }
}

/// Whether the request means the variables of the sites it names, not those sites alone: a model that looks
/// at plain accesses does, and the executions that its own are compared with (trial_runner.cc): with fewer
/// points they would be other schedules.
bool means_variables(const trail::Request& request) {
  bool tracks_plain = request.model != ModelId::kSc && request.model != ModelId::kRc11;
  return tracks_plain || request.sample;
}

bool is_atomic_site(const DuressSite& site) {
  return site.access >= kDuressAtomicRead && site.access <= kDuressFence;
}

bool has_key(const DuressSite& site) {
  return site.access != kDuressFrame && (is_atomic_site(site) || (site.flags & DURESS_SITE_FAITHFUL));
}

/// Counts how often a key was asked for: the ordinal of a site among its equals.
class Ordinals {
 public:
  explicit Ordinals(u32 sites) : mask_(1) {
    while (mask_ < sites * 2) mask_ *= 2;
    slots_ = static_cast<Slot*>(map_memory(mask_ * sizeof(Slot)));
    if (!slots_) fatal("out of memory for the keys of sites");
    --mask_;
  }
  ~Ordinals() { unmap_memory(slots_, (mask_ + u64{1}) * sizeof(Slot)); }
  Ordinals(const Ordinals&) = delete;
  Ordinals& operator=(const Ordinals&) = delete;

  u32 next(u64 name) {
    if (!name) name = 1;
    for (u64 i = mix(name) & mask_;; i = (i + 1) & mask_) {
      if (slots_[i].name == 0) slots_[i].name = name;
      if (slots_[i].name == name) return slots_[i].count++;
    }
  }

 private:
  struct Slot {
    u64 name;
    u32 count;
  };
  u64 mask_;
  Slot* slots_;
};

}  // namespace

const SitePoints::Unit* SitePoints::find(const DuressSite* site) const {
  for (u32 i = 0; i < count_; ++i) {
    if (site >= units_[i].first && site < units_[i].first + units_[i].count) return &units_[i];
  }
  return nullptr;
}

u32 SitePoints::key(const DuressSite* site) const {
  const Unit* u = find(site);
  return u ? u->keys[site - u->first] : 0;
}

void SitePoints::add(const DuressModule& module) {
  if (count_ == kMost) return;
  Unit& unit = units_[count_++];
  unit.module = module;
  unit.first = module.sites_begin;
  unit.count = static_cast<u32>(module.sites_end - module.sites_begin);
  unit.keys = static_cast<u32*>(map_memory(unit.count * sizeof(u32) + 1));
  unit.functions = static_cast<u32*>(map_memory(unit.count * sizeof(u32) + 1));
  unit.points = static_cast<u8*>(map_memory(unit.count + 1));
  unit.filter = static_cast<std::atomic<uptr>*>(map_memory((unit.count + 1) * sizeof(uptr)));
  if (!unit.keys || !unit.functions || !unit.points || !unit.filter)
    fatal("out of memory for the keys of sites");
  make_keys(unit);
  if (request_) {
    mark_requested(unit);
    if (means_variables(*request_)) mark_variables(unit);
    set_bodies(module);
    if (filtering_) begin_filter();
  }
}

void SitePoints::make_keys(Unit& unit) {
  Ordinals ordinals(unit.count + 1);
  each_unit(unit.module, [&](const DuressSiteHeader& header, const DuressSite* sites, const char* strings,
                             u8*) {
    for (u32 i = 0; i < header.sites; ++i) {
      const DuressSite& site = sites[i];
      u32 in_file = trail::hash_text(strings + site.file);
      unit.functions[&site - unit.first] = trail::hash_text(strings + site.function, in_file) | 1;
      if (!has_key(site)) continue;
      const char* function = strings + site.function;
      const char* variable = strings + site.variable;
      u64 name = u64{trail::hash_text(function)} << 32 | trail::hash_text(variable);
      name = mix(name ^ site.access);
      unit.keys[&site - unit.first] = trail::site_key(function, variable, site.access, ordinals.next(name));
    }
  });
}

void SitePoints::mark_requested(Unit& unit) {
  memset(unit.points, 0, unit.count);
  if (!request_->site_count && !request_->wait_site_count) return;
  for (u32 i = 0; i < unit.count; ++i) {
    if (!unit.keys[i]) continue;
    for (u32 key : request_->sites()) {
      if (unit.keys[i] == key) unit.points[i] = kPoint;
    }
    for (u32 key : request_->wait_sites()) {
      if (unit.keys[i] == key) unit.points[i] = kWait;
    }
  }
}

/// A variable is attacked at all places that name it: a race report has only the first pair.
void SitePoints::mark_variables(Unit& unit) {
  constexpr u32 kMostNames = 256;
  u32 names[kMostNames];
  u32 count = 0;
  auto named = [](const DuressSite& site) {
    return site.variable_kind == kDuressGlobal || site.variable_kind == kDuressField ||
           site.variable_kind == kDuressArray;
  };
  auto known = [&](u32 name) {
    for (u32 i = 0; i < count; ++i) {
      if (names[i] == name) return true;
    }
    return false;
  };
  for (const char* name = tracked_; *name && count < kMostNames;) {
    char text[512];
    size_t length = strcspn(name, ",");
    size_t kept = length < sizeof text ? length : sizeof text - 1;
    memcpy(text, name, kept);
    text[kept] = 0;
    names[count++] = trail::hash_text(text);
    name += length + (name[length] == ',');
  }
  for (bool collect : {true, false}) {
    each_unit(unit.module,
              [&](const DuressSiteHeader& header, const DuressSite* sites, const char* strings, u8*) {
                for (u32 i = 0; i < header.sites; ++i) {
                  if (!has_key(sites[i]) || !named(sites[i])) continue;
                  u8& point = unit.points[&sites[i] - unit.first];
                  u32 name = trail::hash_text(strings + sites[i].variable);
                  if (collect && point == kPoint && !known(name) && count < kMostNames) names[count++] = name;
                  if (!collect && known(name)) point = kPoint;
                }
              });
  }
}

void SitePoints::apply(const trail::Request& request) {
  request_ = &request;
  frees_ = false;
  for (u32 key : request.sites()) frees_ |= key == trail::kFreeKey;
  for (u32 i = 0; i < count_; ++i) {
    mark_requested(units_[i]);
    if (means_variables(request)) mark_variables(units_[i]);
    set_bodies(units_[i].module);
  }
  // Await loops are recognised by what they write: every write must be seen.
  if (request.systematic && (request.detect != trail::Detect::kNothing || request.site_count))
    set_all(DURESS_BODY_FAITHFUL);
}

/// One module is enough: others' accesses just take longer.
void SitePoints::begin_filter() {
  filtering_ = true;
  const Unit* best = nullptr;
  u32 most = 0;
  for (u32 i = 0; i < count_; ++i) {
    u32 points = 0;
    for (u32 s = 0; s < units_[i].count; ++s) points += units_[i].points[s] != kNoPoint;
    if (points <= most) continue;
    best = &units_[i];
    most = points;
  }
  if (!best) return;
  for (u32 s = 0; s < best->count; ++s)
    best->filter[s].store(best->points[s] == kNoPoint ? AccessFilter::kIgnored : AccessFilter::kObserved,
                          std::memory_order_relaxed);
  g_access_filter.begin(best->first, best->count, best->filter);
}

void SitePoints::begin_learning(const trail::Request& request) {
  request_ = &request;
  frees_ = frees_soon_ = any_soon_ = false;
  for (u32 i = 0; i < count_; ++i) memset(units_[i].points, 0, units_[i].count);
  set_all(DURESS_BODY_FAITHFUL);
}

bool SitePoints::mark(const DuressSite* site) {
  const Unit* u = find(site);
  if (!u) return false;
  if (u->points[site - u->first] != kNoPoint) return true;
  u->points[site - u->first] = kSoon;
  return any_soon_ = true;
}

void SitePoints::mark_frees() {
  if (!frees_) any_soon_ = frees_soon_ = true;
}

bool SitePoints::promote() {
  if (!any_soon_) return false;
  frees_ |= frees_soon_;
  any_soon_ = frees_soon_ = false;
  for (u32 i = 0; i < count_; ++i) {
    for (u32 s = 0; s < units_[i].count; ++s) {
      if (units_[i].points[s] == kSoon) units_[i].points[s] = kPoint;
    }
  }
  return true;
}

void SitePoints::mark_keys(const u32* keys, u32 count) {
  for (u32 k = 0; k < count; ++k) frees_ |= keys[k] == trail::kFreeKey;
  for (u32 i = 0; i < count_; ++i) {
    for (u32 s = 0; s < units_[i].count; ++s) {
      for (u32 k = 0; k < count && units_[i].keys[s]; ++k) {
        if (units_[i].keys[s] == keys[k]) units_[i].points[s] = kPoint;
      }
    }
  }
}

const u32* SitePoints::marked(Arena& arena, u32* count) const {
  u32 all = 0;
  for (u32 i = 0; i < count_; ++i) {
    for (u32 s = 0; s < units_[i].count; ++s) all += units_[i].points[s] == kPoint;
  }
  auto* keys = static_cast<u32*>(arena.allocate((all + 1) * sizeof(u32)));
  u32 n = 0;
  if (frees_) keys[n++] = trail::kFreeKey;
  for (u32 i = 0; i < count_; ++i) {
    for (u32 s = 0; s < units_[i].count; ++s) {
      u32 key = units_[i].points[s] == kPoint ? units_[i].keys[s] : 0;
      for (u32 k = 0; k < n && key; ++k) key = keys[k] == key ? 0 : key;
      if (key) keys[n++] = key;
    }
  }
  *count = n;
  return keys;
}

void SitePoints::set_all(u8 body) const {
  for (u32 i = 0; i < count_; ++i) {
    const DuressModule& m = units_[i].module;
    memset(m.flags_begin, body, static_cast<size_t>(m.flags_end - m.flags_begin));
  }
}

SitePoints::Source SitePoints::source(const DuressSite* site) const {
  Source result = {"", "", "", 0};
  const Unit* u = find(site);
  if (!u) return result;
  each_unit(u->module,
            [&](const DuressSiteHeader& header, const DuressSite* sites, const char* strings, u8*) {
              if (site < sites || site >= sites + header.sites) return;
              result = {strings + site->file, strings + site->function, strings + site->variable, site->line};
            });
  return result;
}

namespace {

/// Functions of the source that have points. A plain body may hold a copy of such a function, inlined,
/// without a choice of bodies; its checked twin has sites of the copy, which name the function. Not every
/// one: the compiler may have joined two stores to one.
class Functions {
 public:
  explicit Functions(u32 most) {
    while (room_ < most * 2) room_ *= 2;
    slots_ = static_cast<u32*>(map_memory(room_ * sizeof(u32)));
    if (!slots_) fatal("out of memory for the functions of sites");
  }
  ~Functions() { unmap_memory(slots_, room_ * sizeof(u32)); }
  Functions(const Functions&) = delete;
  Functions& operator=(const Functions&) = delete;

  void add(u32 function) { *slot(function) = function; }
  bool has(u32 function) const { return *slot(function) == function; }

 private:
  u32* slot(u32 function) const {
    u64 i = mix(function) % room_;
    while (slots_[i] && slots_[i] != function) i = (i + 1) % room_;
    return &slots_[i];
  }

  u64 room_ = 16;
  u32* slots_;
};

}  // namespace

/// Plain bodies know nothing of atomics: a function that has one runs its checked body, where no check fails
/// while nothing is detected; one that has a point runs faithfully.
void SitePoints::set_bodies(const DuressModule& module) const {
  bool all = request_->points == trail::Points::kAll || request_->detect == trail::Detect::kRaces;
  memset(module.flags_begin, all ? DURESS_BODY_FAITHFUL : DURESS_BODY_PLAIN,
         static_cast<size_t>(module.flags_end - module.flags_begin));
  const Unit* unit = all ? nullptr : find(module.sites_begin);
  if (!unit) return;
  u32 points = 0;
  for (u32 i = 0; i < unit->count; ++i) points += has_to_be_seen(unit->points[i]);
  Functions functions(points + 1);
  for (u32 i = 0; i < unit->count; ++i) {
    if (has_to_be_seen(unit->points[i])) functions.add(unit->functions[i]);
  }
  each_unit(module, [&](const DuressSiteHeader& header, const DuressSite* sites, const char*, u8* flags) {
    for (u32 i = 0; i < header.sites; ++i) {
      if (sites[i].function_index >= header.functions) continue;
      u8& body = flags[sites[i].function_index];
      if (points && functions.has(unit->functions[&sites[i] - unit->first])) {
        body = DURESS_BODY_FAITHFUL;
      } else if (is_atomic_site(sites[i]) && body == DURESS_BODY_PLAIN) {
        body = DURESS_BODY_CHECKED;
      }
    }
  });
}

}  // namespace duress
