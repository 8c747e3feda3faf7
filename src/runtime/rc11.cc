// SPDX-License-Identifier: Apache-2.0
#include "runtime/rc11.h"

#include <string.h>

#include "runtime/control.h"

namespace duress {

Rc11Adversary* g_rc11 = nullptr;

namespace {

memory::Rc11Model::Options options_of(const trail::Request& request) {
  memory::Rc11Model::Options options;
  options.fair_after = request.fair_after;
  if (request.systematic) options.most_stores = ~0u;
  return options;
}

}  // namespace

// Failures that need one old value among a thousand loads are found by runs in which few are old, those that
// need several together by runs in which most are: so runs differ in that, by their seed.
Rc11Adversary::Rc11Adversary(Runtime& runtime, const trail::Request& request, trail::Record& record)
    : runtime_(runtime),
      record_(record),
      heuristic_(request.heuristic),
      prng_(mix(request.seed ^ 0x5c11)),
      rarity_(1u << 2 * prng_.below(3)),
      reverses_(prng_.chance(1, 8)),
      explores_(request.strategy == StrategyId::kExhaustive),
      model_(runtime.arena, *this, options_of(request)) {}

const VectorClock* Rc11Adversary::next(u32* cursor) {
  // One strand runs at a time: the list stands still. It is always asked for as a whole.
  if ((*cursor)++ == 0) {
    next_ = runtime_.live;
  } else if (next_) {
    next_ = next_->next;
  }
  return next_ ? &next_->clock.clock() : nullptr;
}

u32 Rc11Adversary::read(const memory::Legal& legal) {
  if (newest_) return 0;
  u32 wanted = 0;
  if (explores_) {
    u32 age = scheduler().wanted_age();
    for (u32 i = 0; i < legal.count; ++i) wanted = legal.values[i].age == age ? i : wanted;
  } else if (interested()) {
    memory::Legal rest;
    u32 indexes[memory::Legal::kMost];
    for (u32 i = 0; i < legal.count; ++i) {
      if (legal.values[i].reversed && !reverses_) continue;
      indexes[rest.count] = i;
      rest.values[rest.count++] = legal.values[i];
    }
    if (rest.count > 1) wanted = indexes[memory::pick_value(heuristic_, rest, *this)];
  }
  return scheduler().decide(sched::ValueKind::kStoredValue, legal.count, wanted);
}

u32 Rc11Adversary::place(u32 places, u32 forward) {
  if (newest_) return 0;
  u32 most = reverses_ ? places : forward, wanted = 0;
  if (explores_) {
    u32 age = scheduler().wanted_age(), i = 0;
    for (u64 rest = model_.open().legal; rest; rest &= rest - 1, ++i) {
      wanted = static_cast<u32>(__builtin_ctzll(rest)) == age ? i : wanted;
    }
  } else if (most > 1 && interested() && prng_.chance(1, 2)) {
    bool oldest = heuristic_ == HeuristicId::kOldest || heuristic_ == HeuristicId::kOldestButDifferent;
    wanted = oldest ? most - 1 : choose(most);
  }
  return scheduler().decide(sched::ValueKind::kStorePlace, places, wanted);
}

/// libstdc++ implements waits on atomics by a table of its own, whose protocol relies on more than the
/// standard promises; the program that waits cannot change that.
bool Rc11Adversary::trusts(const DuressSite* site) {
  Trusted& known = trusted_[reinterpret_cast<uptr>(site) / sizeof(DuressSite) % 256];
  if (known.site != site)
    known = {site, strstr(runtime_.points.source(site).function, "__waiter") != nullptr};
  return known.trusted;
}

void Rc11Adversary::begin(Thread& t, const DuressSite* site) {
  newest_ = trusts(site);
  if (newest_) model_.fence(t.clock, MemoryOrder::kSeqCst);
}

void Rc11Adversary::note(const SyncObject& object, const DuressSite* site,
                         const memory::Rc11Model::Read& read, u128 memory) {
  if (!read.stale) return;
  ++record_.stale_loads;
  control_trace_stale(static_cast<u64>(memory));
  u64 number = record_.replaced++;
  if (number >= trail::Record::kMostReplaced) return;
  trail::Replaced& replaced = record_.first_replaced[number];
  replaced = {scheduler().running()->number,
              runtime_.points.key(site),
              object.size,
              0,
              trail::ValueType::kInteger,
              0,
              {},
              {}};
  memcpy(replaced.value, &read.value, sizeof replaced.value);
  memcpy(replaced.newest, &memory, sizeof replaced.newest);
  bool has_log = *runtime_.options.log_dir_ != 0;  // duress::check has none
  if (has_log && scheduler().request().strategy == StrategyId::kReplay) log_stale(object, site, replaced);
}

/// Only in replays: a search has thousands of runs, and few of them are reported.
void Rc11Adversary::log_stale(const SyncObject& object, const DuressSite* site,
                              const trail::Replaced& replaced) {
  Uncontrolled here;
  runtime_.modules.log_new();
  Text text(runtime_.arena);
  text.put('{').key("t").quoted("stale").key("strand").number(replaced.strand).key("site");
  runtime_.modules.put_site(text, runtime_.modules.site_id(site));
  text.key("object")
      .address(object.address)
      .key("size")
      .number(replaced.size)
      .key("value")
      .address(replaced.value[0]);
  text.key("newest").address(replaced.newest[0]).put('}');
  runtime_.log.write(text);
}

void Rc11Adversary::drop(uptr begin, uptr end) {
  const u64 dropped = model_.statistics().dropped, settled = model_.order().settled();
  model_.drop({begin, end});
  if (!runtime_.live || runtime_.live->next) return;
  dropped_harmlessly_ += model_.statistics().dropped - dropped;
  settled_harmlessly_ += model_.order().settled() - settled;
}

/// What the model has not covered so far. Whenever it drops a history it settles the order of S, too.
void Rc11Adversary::tell_limits() {
  using exhaustive::StepLog;
  const memory::Rc11Statistics& statistics = model_.statistics();
  u32 limits = statistics.remove_oldest ? StepLog::kHistory : 0;
  if (statistics.unseen) limits |= StepLog::kUnseenWrite;
  if (statistics.dropped != dropped_harmlessly_) limits |= StepLog::kMixedSizes;
  if (!limits && model_.order().settled() != settled_harmlessly_) limits |= StepLog::kScOrder;
  if (DURESS_UNLIKELY(limits != 0)) scheduler().limit(limits, scheduler().running()->next);
}

/// Systematic executions: what the operation did and could have done.
void Rc11Adversary::tell_step(bool wrote) {
  if (!scheduler().is_systematic()) return;
  exhaustive::StepLog& log = scheduler().step_log();
  const memory::Rc11Model::Open& open = model_.open();
  tell_limits();
  if (explores_ && open.picked != scheduler().wanted_age()) log.limits |= exhaustive::StepLog::kIllegal;
  if (newest_) log.limits |= exhaustive::StepLog::kNotExplored;
  exhaustive::Step* step = scheduler().last_step();
  if (!step) return;
  step->value = static_cast<u8>(open.picked);
  step->choices = newest_ ? u64{1} << open.picked : open.legal;
  step->expected = newest_ ? step->choices : open.readable;
  step->touch[0].before = open.floor;
  step->touch[0].mode = wrote ? exhaustive::Mode::kWrite : exhaustive::Mode::kRead;
}

u128 Rc11Adversary::load(Thread& t, SyncObject& object, const DuressSite* site, MemoryOrder order,
                         u128 memory) {
  begin(t, site);
  memory::Rc11Model::Read read = model_.load(t.clock, object_of(object, site), order, memory, *this);
  tell_step(false);
  note(object, site, read, memory);
  return read.value;
}

bool Rc11Adversary::store(Thread& t, SyncObject& object, const DuressSite* site, MemoryOrder order,
                          u128 memory, u128 value) {
  begin(t, site);
  bool newest = model_.store(t.clock, object_of(object, site), order, memory, value, *this).newest;
  tell_step(true);
  record_.early_stores += !newest;
  return newest;
}

memory::Rc11Model::Updated Rc11Adversary::update(Thread& t, SyncObject& object, const DuressSite* site,
                                                 MemoryOrder success, MemoryOrder failure, u128 memory,
                                                 memory::Update& update) {
  begin(t, site);
  memory::Rc11Model::Updated updated =
      model_.update(t.clock, object_of(object, site), success, failure, memory, update, *this);
  tell_step(updated.wrote);
  note(object, site, updated.read, memory);
  record_.early_stores += updated.wrote && !updated.written.newest;
  return updated;
}

void Rc11Adversary::futex(Thread& t, const void* waits_on) {
  model_.fence(t.clock, MemoryOrder::kSeqCst);
  if (!waits_on) return;
  SyncObject* object = runtime_.syncs.find(reinterpret_cast<uptr>(waits_on), 4);
  if (!object) return;
  u32 memory = __atomic_load_n(static_cast<const u32*>(waits_on), __ATOMIC_RELAXED);
  newest_ = true;
  model_.load(t.clock, {object->address, 4, SiteId{0}, object->released}, MemoryOrder::kRelaxed, memory,
              *this);
}

}  // namespace duress
