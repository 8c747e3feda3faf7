// SPDX-License-Identifier: Apache-2.0
//
// Which sites are schedule points, and which functions must therefore run their faithful body. Keys are made
// once for all sites of a module (before a fork server forks); a request then names a few of them.
#pragma once

#include "base/arena.h"
#include "duress/hooks.h"
#include "runtime/access_filter.h"
#include "runtime/element_sample.h"
#include "trail/execution.h"

namespace duress {

class SitePoints {
 public:
  /// A module came: its sites get keys.
  void add(const DuressModule& module);
  /// A site of code with ThreadSanitizer's hooks was seen; `first` is where such sites lie. Threads: under
  /// the lock of CodeSites.
  void add_code_site(const DuressSite* first, const DuressSite* site);
  /// Marks the sites that the request names, and sets the body of every function.
  void apply(const trail::Request& request);
  /// Whether a thread that passes only such sites for long must yield: they access racing variables, and it
  /// may be waiting for one of those to change.
  bool waits(const DuressSite* site) const {
    const Unit* u = find(site);
    return u && u->points[site - u->first] == kWait;
  }
  /// Accesses at sites that the request does not name are ignored, except at addresses that a memory model
  /// tracks.
  void begin_filter();
  /// For one module that came after apply().
  void set_bodies(const DuressModule& module) const;

  /// Sites of these variables, separated by commas, are marked too. The text must stay.
  void track(const char* names) { tracked_ = names; }
  /// Every function runs its faithful body, no site is a point but those that mark() names.
  void begin_learning(const trail::Request& request);
  /// The site is a point from the next promote() on: an execution's points must not change while it runs.
  /// False: it is no site of a known module.
  bool mark(const DuressSite* site);
  /// The same of every free().
  void mark_frees();
  /// True: there are new points.
  bool promote();
  void mark_keys(const u32* keys, u32 count);
  /// The keys of all sites that are points, each once.
  const u32* marked(Arena& arena, u32* count) const;
  /// Every function runs `body`.
  void set_all(u8 body) const;
  /// Where a site is in the source.
  struct Source {
    const char* file;
    const char* function;
    const char* variable;
    u32 line;
  };
  Source source(const DuressSite* site) const;
  bool empty() const { return count_ == 0; }
  /// Whether every free() is a point: trail::kFreeKey.
  bool frees() const { return frees_; }

  /// The key of a site; 0 if it is in no known module.
  u32 key(const DuressSite* site) const;
  /// The same, but 0 too if no request named it, or if it is of an array and this element is not in the
  /// sample.
  u32 point(const DuressSite* site, const void* p) {
    const Unit* u = find(site);
    if (!u || u->points[site - u->first] != kPoint) return 0;
    u32 key = u->keys[site - u->first];
    if (!request_ || !request_->sample ||
        (site->variable_kind != kDuressArray && site->variable_kind != kDuressPointee))
      return key;
    ElementSample::Answer answer = sample_.ask(site->variable, reinterpret_cast<uptr>(p));
    if (answer.taken) return key;
    if (answer.base && u->filter[site - u->first].load(std::memory_order_relaxed) != answer.base)
      observe_only_sample(*u, site, answer.base);
    return 0;
  }
  /// 0 if no request named the site.
  u32 point(const DuressSite* site) const {
    const Unit* u = find(site);
    return u && u->points[site - u->first] == kPoint ? u->keys[site - u->first] : 0;
  }

 private:
  struct Unit {  // a module
    const DuressSite* first;
    u32 count;
    u32* keys;
    u32* functions;             // a hash of each site's function and file; never 0
    u32* variables;             // a hash of the name of a global, a field or an array; 0: it has none
    u8* points;                 // kNoPoint, ...
    std::atomic<uptr>* filter;  // AccessFilter::kIgnored, ...
    DuressModule module;
  };
  enum : u8 { kNoPoint = 0, kPoint = 1, kSoon = 2, kWait = 3 };
  static constexpr u32 kMost = 1024;

  static bool has_to_be_seen(u8 point) { return point == kPoint || point == kWait; }
  const Unit* find(const DuressSite* site) const;
  Unit& unit_for(const DuressModule& module);
  void allocate(Unit& unit, u32 count);
  void make_keys(Unit& unit);
  void observe_only_sample(const Unit& unit, const DuressSite* site, uptr base);
  void mark_requested(Unit& unit, u32 first = 0);
  void mark_variables(Unit& unit);

  Unit units_[kMost] = {};
  u32 count_ = 0;
  bool any_soon_ = false, filtering_ = false, frees_ = false, frees_soon_ = false;
  const trail::Request* request_ = nullptr;
  const char* tracked_ = "";
  ElementSample sample_;
};

}  // namespace duress
