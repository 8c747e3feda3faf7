// SPDX-License-Identifier: Apache-2.0
#include "runtime/site_points.h"

#include <string.h>

#include "base/check.h"
#include "base/prng.h"
#include "base/raw.h"
#include "catalog/models.h"
#include "runtime/code_sites.h"
#include "runtime/site_units.h"
#include "trail/site_key.h"

namespace duress {

extern "C" {
__attribute__((
    visibility("default"))) constinit AccessFilter::Watched __duress_watched[AccessFilter::kWatchedSize] = {};
}
constinit AccessFilter g_access_filter(__duress_watched);

namespace {

/// Whether the request means the variables of the sites it names, not those sites alone: a model that looks
/// at plain accesses does, and the executions that its own are compared with (trial_runner.cc): with fewer
/// points they would be other schedules.
bool means_variables(const trail::Request& request) {
  bool tracks_plain = request.model != ModelId::kSc && request.model != ModelId::kRc11;
  return tracks_plain || request.sample || request.variables;
}

bool has_key(const DuressSite& site) {
  return site.access != kDuressFrame && (is_atomic_site(site) || (site.flags & DURESS_SITE_FAITHFUL));
}

bool names_variable(const DuressSite& site) {
  return site.variable_kind == kDuressGlobal || site.variable_kind == kDuressField ||
         site.variable_kind == kDuressArray;
}

u32 name_hash(const char* name) {
  u32 hash = trail::hash_text(name);
  return hash ? hash : 1;
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
  Unit& unit = unit_for(module);
  make_keys(unit);
  if (request_) {
    mark_requested(unit);
    if (means_variables(*request_)) mark_variables(unit);
    set_bodies(module);
    if (filtering_) begin_filter();
  }
}

/// That of a library that was at the same place before, or a new one.
SitePoints::Unit& SitePoints::unit_for(const DuressModule& module) {
  auto count = static_cast<u32>(module.sites_end - module.sites_begin);
  for (u32 i = 0; i < count_; ++i) {
    Unit& old = units_[i];
    if (old.first != module.sites_begin || old.count != count) continue;
    memset(old.keys, 0, count * sizeof(u32));
    memset(old.variables, 0, count * sizeof(u32));
    old.module = module;
    return old;
  }
  if (count_ == kMost) fatal("too many instrumented modules were loaded");
  Unit& unit = units_[count_++];
  unit.module = module;
  unit.first = module.sites_begin;
  unit.count = count;
  allocate(unit, count);
  return unit;
}

void SitePoints::allocate(Unit& unit, u32 count) {
  unit.keys = static_cast<u32*>(map_memory(count * sizeof(u32) + 1));
  unit.functions = static_cast<u32*>(map_memory(count * sizeof(u32) + 1));
  unit.variables = static_cast<u32*>(map_memory(count * sizeof(u32) + 1));
  unit.points = static_cast<u8*>(map_memory(count + 1));
  unit.filter = static_cast<std::atomic<uptr>*>(map_memory((count + 1) * sizeof(uptr)));
  if (!unit.keys || !unit.functions || !unit.variables || !unit.points || !unit.filter)
    fatal("out of memory for the keys of sites");
}

/// Its key is where the code lies in its module: nothing else is known of it here.
void SitePoints::add_code_site(const DuressSite* first, const DuressSite* site) {
  Unit* unit = const_cast<Unit*>(find(first));
  if (!unit) {
    if (count_ == kMost) fatal("too many instrumented modules were loaded");
    unit = &units_[count_];
    allocate(*unit, CodeSites::kMost);
    unit->module = {DURESS_HOOK_VERSION, 0, first, first, nullptr, nullptr};
    unit->first = first;
    ++count_;
  }
  auto index = static_cast<u32>(site - first);
  unit->keys[index] = trail::code_site_key(site->line);
  unit->count = index + 1;
  if (request_) mark_requested(*unit, index);
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
      if (names_variable(site)) unit.variables[&site - unit.first] = name_hash(variable);
    }
  });
}

void SitePoints::mark_requested(Unit& unit, u32 first) {
  memset(unit.points + first, 0, unit.count - first);
  if (!request_->site_count && !request_->wait_site_count) return;
  for (u32 i = first; i < unit.count; ++i) {
    if (!unit.keys[i]) continue;
    for (u32 key : request_->sites()) {
      if (unit.keys[i] == key) unit.points[i] = kPoint;
    }
    for (u32 key : request_->wait_sites()) {
      if (unit.keys[i] == key) unit.points[i] = kWait;
    }
  }
}

/// A variable is attacked, and threads are preempted, at all places that name it: a race report has only the
/// first pair.
void SitePoints::mark_variables(Unit& unit) {
  constexpr u32 kMostNames = 256;
  u32 names[kMostNames];
  u32 count = 0;
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
    names[count++] = name_hash(text);
    name += length + (name[length] == ',');
  }
  for (u32 i = 0; i < unit.count && count < kMostNames; ++i) {
    u32 name = unit.variables[i];
    if (name && unit.points[i] == kPoint && !known(name)) names[count++] = name;
  }
  if (!count) return;
  for (u32 i = 0; i < unit.count; ++i) {
    if (unit.variables[i] && known(unit.variables[i])) unit.points[i] = kPoint;
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

/// Of all modules but one the code's own test must do: what it lets through takes longer.
void SitePoints::begin_filter() {
  filtering_ = true;
  for (u32 i = 0; i < count_; ++i) {
    const Unit& unit = units_[i];
    each_unit(unit.module, [&](const DuressSiteHeader& header, const DuressSite* sites, const char*, u8*) {
      u8* quiet = quiet_bytes(header);
      for (u32 s = 0; s < header.sites; ++s) quiet[s] = unit.points[&sites[s] - unit.first] == kNoPoint;
    });
  }
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

/// Of an array, when its first elements are taken.
void SitePoints::observe_only_sample(const Unit& unit, const DuressSite* site, uptr base) {
  g_access_filter.watch_sample(base);
  unit.filter[site - unit.first].store(base, std::memory_order_relaxed);
  if (!filtering_) return;
  each_unit(unit.module, [&](const DuressSiteHeader& header, const DuressSite* sites, const char*, u8*) {
    if (site >= sites && site < sites + header.sites)
      __atomic_store_n(&quiet_bytes(header)[site - sites], 1, __ATOMIC_RELEASE);
  });
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

}  // namespace duress
