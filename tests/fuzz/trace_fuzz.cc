// SPDX-License-Identifier: Apache-2.0
//
// Trace files of any bytes: read, and played to a chain as far as they can be.
#include "trace/offline.h"

using namespace duress;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto source = trace::memory_source({reinterpret_cast<const char*>(data), size});
  trace::EventReader reader(*source);
  if (!reader.open()) return 0;
  trace::Offline offline;
  offline.build("[FastTrack,DJIT+,Goldilocks,Velodrome]");
  u64 left = 1 << 14;  // bytes and events: a small file may hold large accesses
  reader.each([&](const Event& event) {
    u64 bytes = event.is_sync ? 1 : event.access.size;
    bool range = event.is_sync && (event.sync.kind == SyncKind::kAlloc || event.sync.kind == SyncKind::kMap);
    bool thread = event.is_sync && event.sync.kind >= SyncKind::kThreadCreate &&
                  event.sync.kind <= SyncKind::kThreadJoin;
    if (raw(event.thread) > 1000 || (thread && event.sync.object > 1000)) return;
    if (range && (event.sync.detail > 1 << 16 || event.sync.object >= u64{1} << 46)) return;
    if (bytes > left) return;
    left -= bytes;
    offline.play(event);
  });
  offline.finish(reader.text(), reader.stacks(), true);
  return 0;
}
