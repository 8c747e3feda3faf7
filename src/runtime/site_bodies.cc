// SPDX-License-Identifier: Apache-2.0
//
// The part of SitePoints that chooses the body of each function: plain, checked or faithful.
#include <string.h>

#include "base/check.h"
#include "base/prng.h"
#include "base/raw.h"
#include "runtime/site_points.h"
#include "runtime/site_units.h"

namespace duress {
namespace {

/// Functions of the source that have points. A plain body may hold a copy of such a function, inlined,
/// without a choice of bodies; its checked twin has sites of the copy, which name the function. Not every
/// one: the compiler may have joined two stores to one.
class Functions {
 public:
  explicit Functions(u32 most) {
    while (room_ < most * 2) room_ *= 2;
    slots_ = room_ <= kFew ? few_ : static_cast<u32*>(map_memory(room_ * sizeof(u32)));
    if (!slots_) fatal("out of memory for the functions of sites");
  }
  ~Functions() {
    if (slots_ != few_) unmap_memory(slots_, room_ * sizeof(u32));
  }
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

  static constexpr u64 kFew = 256;
  u64 room_ = 16;
  u32 few_[kFew] = {};  // most requests name few, and mapping memory takes longer than all else here
  u32* slots_;
};

}  // namespace

/// Plain bodies know nothing of atomics: a function that has one runs its checked body, where no check fails
/// while nothing is detected; one that has a point runs faithfully.
void SitePoints::set_bodies(const DuressModule& module) const {
  bool all = request_->points == trail::Points::kAll || request_->detect == trail::Detect::kRaces ||
             request_->memory || request_->trace_plain;
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

void SitePoints::set_all(u8 body) const {
  for (u32 i = 0; i < count_; ++i) {
    const DuressModule& m = units_[i].module;
    memset(m.flags_begin, body, static_cast<size_t>(m.flags_end - m.flags_begin));
  }
}

}  // namespace duress
