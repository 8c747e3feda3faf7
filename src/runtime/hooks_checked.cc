// SPDX-License-Identifier: Apache-2.0
//
// Hooks of checked bodies. Inline code has found that the access may be the first of its epoch; here
// is the way into FastTrack. preserve_most: the caller keeps its registers, so the cold call costs the
// hot path nothing.
#include "runtime/checked_access.h"
#include "runtime/runtime.h"

namespace duress {
namespace {

inline void check(const void* p, u64 size, bool write, const DuressSite* site) {
  Thread* t = current_thread_or_adopt();
  access_watch_missed();
  if (!t || t->in_runtime || !g_runtime->checking) return;
  t->in_runtime = true;
  Runtime& rt = *g_runtime;
  Place place{rt.modules.site_id(site), StackId{0}};
  if (!rt.known_context(*t, &place.stack)) place.stack = rt.context(*t);
  if (DURESS_UNLIKELY(rt.recorder != nullptr)) {
    rt.recorder->first_access(*t, reinterpret_cast<uptr>(p), size, write, place);
  } else {
    rt.fasttrack.access(t->fasttrack, reinterpret_cast<uptr>(p), size, write, place);
  }
  t->in_runtime = false;
}

void check_strided(const void* p, u64 count, u64 stride, u64 size, bool write, const DuressSite* site) {
  Thread* t = current_thread_or_adopt();
  access_watch_missed();
  if (!t || t->in_runtime || !g_runtime->checking) return;
  t->in_runtime = true;
  Runtime& rt = *g_runtime;
  Place place{rt.modules.site_id(site), rt.context(*t)};
  if (DURESS_UNLIKELY(rt.recorder != nullptr)) {
    rt.recorder->first_strided(*t, reinterpret_cast<uptr>(p), count, static_cast<i64>(stride),
                               static_cast<u32>(size), write, place);
  } else {
    rt.fasttrack.strided(t->fasttrack, reinterpret_cast<uptr>(p), count, static_cast<i64>(stride),
                         static_cast<u32>(size), write, place);
  }
  t->in_runtime = false;
}

}  // namespace
}  // namespace duress

#define DURESS_EXPORT extern "C" __attribute__((visibility("default")))
#define DURESS_CHECK_HOOKS(N)                                                                       \
  DURESS_EXPORT                                                                                     \
  __attribute__((preserve_most)) void __duress_check_read##N(const void* p, const DuressSite* s) {  \
    duress::check_one<N, false>(p, s);                                                              \
  }                                                                                                 \
  DURESS_EXPORT                                                                                     \
  __attribute__((preserve_most)) void __duress_check_write##N(const void* p, const DuressSite* s) { \
    duress::check_one<N, true>(p, s);                                                               \
  }
#define DURESS_TEST_HOOKS(N)                                                                       \
  DURESS_EXPORT                                                                                    \
  __attribute__((preserve_most)) void __duress_test_read##N(const void* p, const DuressSite* s) {  \
    if (DURESS_UNLIKELY((!duress::in_filter<N, false>(p)))) __duress_check_read##N(p, s);          \
  }                                                                                                \
  DURESS_EXPORT                                                                                    \
  __attribute__((preserve_most)) void __duress_test_write##N(const void* p, const DuressSite* s) { \
    if (DURESS_UNLIKELY((!duress::in_filter<N, true>(p)))) __duress_check_write##N(p, s);          \
  }
DURESS_CHECK_HOOKS(1)
DURESS_CHECK_HOOKS(2)
DURESS_CHECK_HOOKS(4)
DURESS_CHECK_HOOKS(8)
DURESS_CHECK_HOOKS(16)
DURESS_TEST_HOOKS(1)
DURESS_TEST_HOOKS(2)
DURESS_TEST_HOOKS(4)
DURESS_TEST_HOOKS(8)
DURESS_TEST_HOOKS(16)

DURESS_EXPORT void __duress_range_read(const void* p, duress::u64 n, const DuressSite* s) {
  duress::check(p, n, false, s);
}
DURESS_EXPORT void __duress_range_write(const void* p, duress::u64 n, const DuressSite* s) {
  duress::check(p, n, true, s);
}

DURESS_EXPORT void __duress_stride_read(const void* p, duress::u64 count, duress::u64 stride,
                                        duress::u64 size, const DuressSite* s) {
  duress::check_strided(p, count, stride, size, false, s);
}
DURESS_EXPORT void __duress_stride_write(const void* p, duress::u64 count, duress::u64 stride,
                                         duress::u64 size, const DuressSite* s) {
  duress::check_strided(p, count, stride, size, true, s);
}
