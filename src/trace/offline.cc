// SPDX-License-Identifier: Apache-2.0
#include "trace/offline.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "finding/log_reader.h"
#include "trace/json_lines.h"

namespace duress::trace {
namespace {

constexpr std::size_t kLocationsPerPair = 16;  // as the runtime's reporter

/// Which numbers the sites of a module have.
struct SiteRange {
  int module;
  u32 first, count;
  u32 index;  // of the first
};

std::vector<SiteRange> site_ranges(const std::string& text) {
  std::vector<SiteRange> ranges;
  each_json_line(text, "sites", [&](const nlohmann::json& line) {
    auto number = [&](const char* key) -> u32 {
      auto it = line.find(key);
      return it != line.end() && it->is_number_unsigned() ? it->get<u32>() : 0;
    };
    ranges.push_back({static_cast<int>(number("module")), number("first"), number("count"), number("index")});
  });
  return ranges;
}

finding::Access access_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return finding::Access::kRead;
    case AccessKind::kWrite:
      return finding::Access::kWrite;
    case AccessKind::kAtomicRead:
      return finding::Access::kAtomicRead;
    case AccessKind::kAtomicWrite:
      return finding::Access::kAtomicWrite;
    case AccessKind::kAtomicRmw:
      return finding::Access::kAtomicRmw;
    case AccessKind::kFree:
      return finding::Access::kFree;
  }
  return finding::Access::kRead;
}

}  // namespace

Offline::Offline() {
  if (!shadow_.open(0)) throw std::runtime_error("cannot map the shadow table; 'ulimit -v' is too low");
  player_ = std::make_unique<Player>(arena_, shadow_, *this, *this);
  // 64 MiB of records instead of the runtime's 12: a process of its own has room for fewer collections.
  player_->fasttrack().set_chunk_budget(16384);
  player_->fasttrack().use_huge_pages();
}

Offline::~Offline() {
  player_.reset();
  shadow_.close();
  arena_.release_all();
}

std::string Offline::build(const std::string& chain) {
  const char* bad = nullptr;
  if (player_->build(chain.c_str(), &bad)) return {};
  return fmt::format("the chain '{}' is wrong at '{}'", chain, bad);
}

void Offline::show_steps(const Namer& names) {
  player_->show_steps(names);
}

void Offline::play(Tid thread, const Access* accesses, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (DURESS_LIKELY(accesses[i].kind != AccessKind::kFree)) continue;
    player_->play(thread, accesses, i);
    heap_.remove(accesses[i].address);  // the runtime's table has lost it too when it looks at the free
    accesses += i, count -= i, i = 0;
  }
  player_->play(thread, accesses, count);
}

void Offline::follow_memory(const Event& event) {
  const Sync& s = event.sync;
  switch (s.kind) {
    case SyncKind::kAlloc:
      heap_.add({s.object, s.detail, event.thread, s.place.stack});
      break;
    case SyncKind::kMap:
      if (event.thread == started_ || (raw(started_) == ~0u && raw(event.thread) == 0))
        thread_stacks_[s.object] = {s.object + s.detail, event.thread};
      break;
    default:
      break;
  }
  started_ = s.kind == SyncKind::kThreadStart ? event.thread : Tid{~0u - 1};
}

Offline::Side Offline::side_of(const RaceSide& side) {
  Tid thread =
      side.slot == RaceSide::kByThread ? static_cast<Tid>(side.clock) : player_->owner(side.slot, side.clock);
  Side result{side.kind, side.place, thread, {}};
  u32 count;
  const HeldLock* held = player_->lock_sets().locks(side.locks, &count);
  result.locks.assign(held, held + count);
  return result;
}

void Offline::find_block(uptr address, Kept& kept) {
  if (auto block = heap_.find(address)) {
    kept.block = {
        finding::BlockKind::kHeap, block->start, block->size, static_cast<int>(raw(block->thread)), {}};
    kept.block_stack = block->stack;
    return;
  }
  if (auto it = thread_stacks_.upper_bound(address); it != thread_stacks_.begin()) {
    --it;
    if (address < it->second.first) {
      kept.block = {finding::BlockKind::kStack,
                    it->first,
                    it->second.first - it->first,
                    static_cast<int>(raw(it->second.second)),
                    {}};
    }
  }
}

bool Offline::worth_keeping(const Race& race) {
  auto where = [](const RaceSide& side) {
    u64 library = raw(side.place.site) < kFirstModuleSite ? raw(side.place.stack) : 0;
    return library << 40 | u64{raw(side.place.site)} << 8 | static_cast<u64>(side.kind);
  };
  auto& known = locations_[{race.analysis, where(race.earlier), where(race.later)}];
  return known.size() < kLocationsPerPair && known.insert(race.address).second;
}

void Offline::race(const Race& race) {
  if (!worth_keeping(race)) return;
  Kept kept{race.analysis,
            {},
            race.address,
            race.size,
            race.potential,
            {side_of(race.earlier), side_of(race.later)},
            {},
            {}};
  find_block(race.address, kept);
  kept_.push_back(std::move(kept));
}

void Offline::warning(const Warning& warning) {
  std::vector<u32> key;
  for (const char* c = warning.analysis; *c != '\0'; ++c) key.push_back(static_cast<u32>(*c));
  for (u32 i = 0; i < warning.count; ++i) key.push_back(raw(warning.sides[i].place.site));
  if (!warned_.insert(key).second) return;
  Kept kept{warning.analysis, warning.what, warning.address, 0, true, {}, {}, {}};
  for (u32 i = 0; i < warning.count; ++i) kept.sides.push_back(side_of(warning.sides[i]));
  if (warning.address != 0) find_block(warning.address, kept);
  kept_.push_back(std::move(kept));
}

finding::RunLog Offline::finish(const std::string& text, const Stacks& stacks, bool counters) {
  player_->finish();
  if (counters) player_->chain().counters(*this);
  finding::RunLog log;
  finding::parse_log(text, "trace", log);
  if (log.processes.empty()) log.processes.emplace_back();
  finding::ProcessLog& process = log.processes.front();
  process.races.clear(), process.potentials.clear(), process.warnings.clear();
  std::vector<SiteRange> ranges = site_ranges(text);

  auto record = [&](const Side& side, const Kept& kept) {
    finding::AccessRecord r;
    r.thread = static_cast<int>(raw(side.thread));
    r.access = access_of(side.kind);
    r.address = kept.address;
    r.size = kept.size;
    u32 site = raw(side.place.site);
    for (const SiteRange& range : ranges) {
      if (site >= range.first && site - range.first < range.count)
        r.site = finding::SiteRecord{range.module, range.index + (site - range.first)};
    }
    r.stack = stacks.frames(raw(side.place.stack));
    for (const HeldLock& lock : side.locks) r.locks.push_back({lock.address, "mutex", lock.shared});
    return r;
  };
  for (const Kept& kept : kept_) {
    finding::BlockRecord block = kept.block;
    block.stack = stacks.frames(raw(kept.block_stack));
    if (block.kind == finding::BlockKind::kUnknown) {
      block.start = kept.address;
      for (const finding::ModuleRecord& module : process.modules) {
        if (kept.address >= module.low && kept.address < module.high)
          block.kind = finding::BlockKind::kGlobal;
      }
      block.thread = 0;
    }
    if (!kept.what.empty()) {
      finding::WarningRecord warning{kept.analysis,         kept.what, kept.address, {}, block,
                                     process.modules.size()};
      for (const Side& side : kept.sides) warning.sites.push_back(record(side, kept));
      process.warnings.push_back(std::move(warning));
      continue;
    }
    finding::RaceRecord race{kept.analysis,
                             kept.address,
                             kept.size,
                             record(kept.sides[0], kept),
                             record(kept.sides[1], kept),
                             block,
                             process.modules.size(),
                             {}};
    (kept.potential ? process.potentials : process.races).push_back(std::move(race));
  }
  process.events = events_;
  process.stats = counters_;
  return log;
}

}  // namespace duress::trace
