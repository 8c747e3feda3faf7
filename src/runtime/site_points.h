// SPDX-License-Identifier: Apache-2.0
//
// Which sites are schedule points, and which functions must therefore run their faithful body. Keys are made
// once for all sites of a module (before a fork server forks); a request then names a few of them.
#ifndef DURESS_RUNTIME_SITE_POINTS_H_
#define DURESS_RUNTIME_SITE_POINTS_H_

#include "base/types.h"
#include "duress/hooks.h"
#include "trail/execution.h"

namespace duress {

class SitePoints {
 public:
  /// A module came: its sites get keys.
  void add(const DuressModule& module);
  /// Marks the sites that the request names, and sets the body of every function.
  void apply(const trail::Request& request);
  /// For one module that came after apply().
  void set_bodies(const DuressModule& module) const;

  /// The key of a site; 0 if it is in no known module.
  u32 key(const DuressSite* site) const;
  /// The same, but 0 too if no request named it.
  u32 point(const DuressSite* site) const {
    const Unit* u = find(site);
    return u && u->points[site - u->first] ? u->keys[site - u->first] : 0;
  }

 private:
  struct Unit {  // a module
    const DuressSite* first;
    u32 count;
    u32* keys;
    u8* points;  // 1: a schedule point
    DuressModule module;
  };
  static constexpr u32 kMost = 1024;

  const Unit* find(const DuressSite* site) const;
  void make_keys(Unit& unit);
  void mark(Unit& unit);

  Unit units_[kMost] = {};
  u32 count_ = 0;
  const trail::Request* request_ = nullptr;
};

}  // namespace duress

#endif  // DURESS_RUNTIME_SITE_POINTS_H_
