// SPDX-License-Identifier: Apache-2.0
//
// The part of SitePoints for points that are not requested but learned: an execution marks the sites of its
// races, and the next one has them as points.
#include <string.h>

#include "runtime/site_points.h"
#include "trail/site_key.h"

namespace duress {

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

}  // namespace duress
