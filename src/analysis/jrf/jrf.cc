// SPDX-License-Identifier: Apache-2.0
//
// JRF, Java RaceFinder's summary function (Kim, Yavuz-Kahveci and Sanders): h(v) is the set of locations
// whose last write happens before what was last released through v, be v a thread, a lock or an atomic.
//   acquire(t, v)     h(t) := h(t) ∪ h(v)
//   release(t, v)     h(v) := h(t), or h(v) ∪ h(t) where releases add up
//   invalidate(x, t)  x leaves every h but h(t): a write
//   norace(x, t)      x ∈ h(t), or x was never written: a read or write of it is neither a write-write
//                     nor a write-read race
// Read-write races, where the write comes later, are not seen; atomic accesses are synchronisation.
#include "analysis/access_note.h"
#include "analysis/growing_array.h"
#include "analysis/location_table.h"
#include "analysis/sync_flow.h"

namespace duress {
namespace {

/// A set of numbers, a bit each.
class BitSet {
 public:
  bool has(u32 i) const { return i / 64 < words_ && (bits_[i / 64] >> (i % 64) & 1); }
  void add(Arena& arena, u32 i) {
    reserve(arena, i / 64 + 1);
    bits_[i / 64] |= u64{1} << (i % 64);
  }
  void remove(u32 i) {
    if (i / 64 < words_) bits_[i / 64] &= ~(u64{1} << (i % 64));
  }
  void unite(Arena& arena, const BitSet& other) {
    reserve(arena, other.words_);
    for (u32 i = 0; i < other.words_; ++i) bits_[i] |= other.bits_[i];
  }
  void assign(Arena& arena, const BitSet& other) {
    clear();
    unite(arena, other);
  }
  void clear() {
    if (words_) memset(bits_, 0, words_ * sizeof(u64));
  }
  void drop(Arena& arena) { arena.free(bits_, words_ * sizeof(u64)); }

 private:
  void reserve(Arena& arena, u32 words) {
    if (words <= words_) return;
    u32 more = words_ ? words_ : 1;
    while (more < words) more *= 2;
    auto* grown = static_cast<u64*>(arena.allocate(more * sizeof(u64)));
    memset(grown, 0, more * sizeof(u64));
    if (words_) memcpy(grown, bits_, words_ * sizeof(u64));
    arena.free(bits_, words_ * sizeof(u64));
    bits_ = grown, words_ = more;
  }

  u64* bits_ = nullptr;
  u32 words_ = 0;
};

struct Written {
  u32 number = 0;               // 1 + its bit; 0: never written
  mutable bool shared = false;  // a piece was split off and has the same number
  AccessNote last = {};
  Written copy(Arena&) const {
    shared = true;
    return *this;
  }
};

class Jrf final : public Analysis, private FlowSink {
 public:
  explicit Jrf(const AnalysisContext& context)
      : arena_(context.arena),
        findings_(context.findings),
        lines_(context.lines),
        steps_(context.steps),
        flow_(context.arena),
        h_(context.arena),
        unused_(context.arena),
        addresses_(context.arena),
        table_(context.arena) {}
  ~Jrf() override {
    for (BitSet& set : h_) set.drop(arena_);
  }
  const char* name() const override { return "JRF"; }

  Pass access(AnalysisThread& thread, const Access& access) override {
    if (is_atomic(access.kind)) return Pass::kKeep;
    AccessNote note = AccessNote::of(thread, access);
    bool raced = false;
    SpinGuard guard(lock_);
    Element self = flow_.thread(thread.tid);
    table_.access(access.address, access.size, [&](Written& x, uptr at, u32 size) {
      ++noraces_;
      if (x.number && !h_[raw(self)].has(x.number - 1)) {
        raced = true;
        findings_.race({"JRF", at, size, x.last.side(), note.side()});
      }
      if (is_write(access.kind)) invalidate(x, self, at, note);
    });
    if (steps_) print_step(thread, access, raced);
    return raced ? Pass::kGive : Pass::kKeep;
  }
  void sync(AnalysisThread& thread, const Sync& sync) override {
    SpinGuard guard(lock_);
    u64 before = acquires_ + releases_;
    flow_.apply(thread, sync, *this);
    if (steps_ && acquires_ + releases_ != before) print_step(thread, sync);
  }
  void fresh(uptr begin, uptr end) override {
    SpinGuard guard(lock_);
    table_.existing(begin, end - begin, [&](Written& x) {
      if (x.number) forget(x);
    });
    table_.forget(begin, end);
  }
  void counters(CounterSink& out) const override {
    out.counter("JRF: norace", noraces_);
    out.counter("JRF: invalidate", invalidates_);
    out.counter("JRF: acquire", acquires_);
    out.counter("JRF: release", releases_);
  }

 private:
  void learn(Element who, Element from) override {
    if (from == Element::kNobody) return;
    count(who);
    BitSet known = h_[raw(from)];  // its words stay where they are when h_ grows
    h_[raw(who)].unite(arena_, known);
  }
  void become(Element who, Element from) override {
    if (from == Element::kNobody) return h_[raw(who)].clear();
    count(who);
    BitSet known = h_[raw(from)];
    h_[raw(who)].assign(arena_, known);
  }
  void count(Element who) { ++(flow_.name(who).role == ElementRole::kThread ? acquires_ : releases_); }

  void forget(Written& x) {
    if (!x.shared) {
      for (BitSet& set : h_) set.remove(x.number - 1);
      unused_.push() = x.number;
    }
    x = {};
  }

  void invalidate(Written& x, Element self, uptr at, const AccessNote& note) {
    ++invalidates_;
    if (!x.number || x.shared) {
      x.number = unused_.size() ? unused_.pop() : static_cast<u32>(addresses_.size()) + 1;
      x.shared = false;
    }
    addresses_[x.number - 1] = at;
    for (BitSet& set : h_) set.remove(x.number - 1);
    h_[raw(self)].add(arena_, x.number - 1);
    x.last = note;
  }

  // ---- step by step -------------------------------------------------------------------------------------

  void put_h(Text& text) {
    for (u32 e = 1; e < flow_.count(); ++e) {
      const SyncFlow::Name& n = flow_.name(static_cast<Element>(e));
      if (n.role != ElementRole::kThread && n.role != ElementRole::kReleased) continue;
      text.put("  h(");
      if (n.role == ElementRole::kThread) {
        steps_->thread(static_cast<Tid>(n.address), text);
      } else {
        steps_->location(n.address, text);
      }
      text.put(") = {");
      bool first = true;
      for (u32 i = 0; i < addresses_.size(); ++i) {
        if (!h_[e].has(i)) continue;
        if (!first) text.put(", ");
        first = false;
        steps_->location(addresses_.at(i), text);
      }
      text.put("}");
    }
    lines_.line(text.data(), text.size());
  }
  void print_step(AnalysisThread& thread, const Access& access, bool raced) {
    Text text(arena_);
    text.put(is_write(access.kind) ? "norace, invalidate(" : "norace(");
    steps_->location(access.address, text);
    text.put(", ");
    steps_->thread(thread.tid, text);
    text.put(raced ? ") FAIL" : ")");
    put_h(text);
  }
  void print_step(AnalysisThread& thread, const Sync& sync) {
    bool acquire = sync.kind == SyncKind::kMutexLock || sync.kind == SyncKind::kReadLock ||
                   sync.kind == SyncKind::kAcquire || sync.kind == SyncKind::kAtomicLoad ||
                   sync.kind == SyncKind::kThreadJoin;
    Text text(arena_);
    text.put(acquire ? "acquire(" : "release(");
    steps_->thread(thread.tid, text);
    text.put(", ");
    if (sync.kind == SyncKind::kThreadCreate || sync.kind == SyncKind::kThreadJoin) {
      steps_->thread(static_cast<Tid>(sync.object), text);
    } else {
      steps_->location(sync.object, text);
    }
    text.put(')');
    put_h(text);
  }

  Arena& arena_;
  RaceSink& findings_;
  LineSink& lines_;
  const Namer* steps_;
  SpinLock lock_;  // everything below
  SyncFlow flow_;
  GrowingArray<BitSet> h_;        // by element
  GrowingArray<u32> unused_;      // numbers of locations that are gone
  GrowingArray<uptr> addresses_;  // by number: the location's first byte
  LocationTable<Written> table_;
  u64 noraces_ = 0, invalidates_ = 0, acquires_ = 0, releases_ = 0;
};

}  // namespace

DURESS_DEFINE_ANALYSIS(Jrf, context);

}  // namespace duress
