// SPDX-License-Identifier: Apache-2.0
//
// Print shows every event that reaches it, as it comes.
#include "analysis/analysis.h"

namespace duress {
namespace {

const char* const kAccessNames[] = {"read", "write", "atomic-read", "atomic-write", "atomic-rmw", "free"};
const char* const kSyncNames[] = {"lock",    "unlock", "read-lock",   "read-unlock",  "release",
                                  "acquire", "forget", "atomic-load", "atomic-store", "atomic-rmw",
                                  "fence",   "create", "start",       "end",          "join",
                                  "alloc",   "free",   "map",         "begin",        "end-of-block"};
static_assert(sizeof kSyncNames / sizeof *kSyncNames == kSyncKinds);

class Print final : public Analysis {
 public:
  Print(Arena& arena, LineSink& out) : arena_(arena), out_(out) {}
  const char* name() const override { return "Print"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    Text text(arena_);
    text.put('T').number(raw(thread.tid)).put(' ').put(kAccessNames[static_cast<int>(access.kind)]).put(' ');
    text.hex(access.address).put(' ').number(access.size);
    out_.line(text.data(), text.size());
    return Pass::kForward;
  }

  void sync(AnalysisThread& thread, const Sync& sync) override {
    Text text(arena_);
    text.put('T').number(raw(thread.tid)).put(' ').put(kSyncNames[static_cast<int>(sync.kind)]);
    switch (sync.kind) {
      case SyncKind::kThreadCreate:
      case SyncKind::kThreadJoin:
        text.put(" T").number(sync.object);
        break;
      case SyncKind::kThreadStart:
      case SyncKind::kThreadEnd:
        break;
      case SyncKind::kFence:
        text.put(" order ").number(sync.detail);
        break;
      case SyncKind::kAtomicLoad:
      case SyncKind::kAtomicStore:
      case SyncKind::kAtomicRmw:
        text.put(' ').hex(sync.object).put(" order ").number(atomic_order(sync.detail));
        break;
      case SyncKind::kAlloc:
      case SyncKind::kFree:
      case SyncKind::kMap:
        text.put(' ').hex(sync.object).put(' ').number(sync.detail);
        break;
      default:
        text.put(' ').hex(sync.object);
        break;
    }
    out_.line(text.data(), text.size());
  }

 private:
  Arena& arena_;
  LineSink& out_;
};

}  // namespace

DURESS_DEFINE_ANALYSIS(Print, context.arena, context.lines);

}  // namespace duress
