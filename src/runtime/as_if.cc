// SPDX-License-Identifier: Apache-2.0
#include "runtime/as_if.h"

#include "runtime/control.h"
#include "runtime/runtime.h"
#include "trail/as_if.h"

namespace duress {

bool g_as_if = false;

namespace {

constexpr u32 kKnown = 1024;
constexpr int kNear = 64;  // sites of one function are near each other

const trail::Request* request = nullptr;
trail::Record* record = nullptr;
AsIfSite known[kKnown];
HeldBack waiting[256];

bool same_function(const DuressSite& a, const DuressSite& b) {
  return a.function_index == b.function_index && a.function == b.function &&
         (a.flags & DURESS_SITE_FAITHFUL) == (b.flags & DURESS_SITE_FAITHFUL);
}

/// A site of the same function near this one. Whatever has a key is a site.
template <typename Test>
bool near(const DuressSite* site, Test test) {
  for (int i = -kNear; i <= kNear; ++i) {
    const DuressSite* other = site + i;
    u32 key = g_runtime->points.key(other);
    if (key && same_function(*site, *other) && test(*other, key)) return true;
  }
  return false;
}

AsIfSite look_up(const DuressSite* site) {
  AsIfSite result = {site, nullptr, false, false, false, false};
  u32 key = g_runtime->points.key(site);
  if (!key) return result;
  for (u32 i = 0; i < request->sites; ++i) result.atomic |= request->site_keys()[i] == key;
  for (u32 i = 0; i < request->predictions; ++i) {
    const trail::Prediction& asked = request->predicted()[i];
    if (asked.strand == raw(trail::AsIf::kLocked) && asked.site == key) {
      result.lock = reinterpret_cast<pthread_mutex_t*>(asked.value[0]);
    }
    if (asked.strand != raw(trail::AsIf::kPublishedAfter)) continue;
    result.publishes |= asked.site == key;
    result.held_back |=
        site->access == kDuressAtomicWrite && near(site, [&](const DuressSite& other, u32 other_key) {
          return other_key == asked.site && other.line > site->line;
        });
  }
  result.updates = site->access == kDuressRead && near(site, [&](const DuressSite& other, u32) {
                     return other.access == kDuressWrite && other.line == site->line &&
                            other.column == site->column && other.variable == site->variable;
                   });
  return result;
}

}  // namespace

void as_if_begin(const trail::Request& asked, trail::Record& told) {
  request = &asked;
  record = &told;
  g_as_if = trail::asks_as_if(asked);
  for (AsIfSite& entry : known) entry.site = nullptr;
}

const AsIfSite& as_if(const DuressSite* site) {
  AsIfSite& entry = known[reinterpret_cast<uptr>(site) / sizeof(DuressSite) % kKnown];
  if (entry.site != site) entry = look_up(site);
  return entry;
}

MemoryOrder as_if_order(MemoryOrder side) {
  auto order = static_cast<MemoryOrder>(request->depth);
  return order == MemoryOrder::kAcqRel ? side : order;
}

HeldBack& held_back() {
  return waiting[scheduler().running()->number % 256];
}

void note_held_back(const DuressSite* site) {
  trail::held_back_line(*record) = site->line;
}

}  // namespace duress
