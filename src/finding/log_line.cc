// SPDX-License-Identifier: Apache-2.0
#include "finding/log_line.h"

#include "finding/unseen_runtimes.h"

namespace duress::finding {
namespace {

AccessRecord to_access(const Json& object) {
  if (!object.is_object()) throw BadLine("an access is not an object");
  AccessRecord record;
  record.thread = need_number<int>(object, "thread");
  auto access = access_from_name(need_text(object, "access"));
  if (!access) throw BadLine("unknown kind of access");
  record.access = *access;
  record.address = need_address(object, "addr");
  record.size = number_or<std::uint64_t>(object, "size", 0);
  record.stack = stack_of(object);
  record.site = site_of(object);
  for (const Json& lock : list_or(object, "locks")) {
    if (!lock.is_object()) throw BadLine("a lock is not an object");
    record.locks.push_back(
        {need_address(lock, "addr"), text_or(lock, "kind"), text_or(lock, "mode") == "read"});
  }
  return record;
}

BlockKind block_kind(const std::string& name) {
  if (name == "heap") return BlockKind::kHeap;
  if (name == "global") return BlockKind::kGlobal;
  if (name == "stack") return BlockKind::kStack;
  if (name == "tls") return BlockKind::kTls;
  if (name == "mmap") return BlockKind::kMmap;
  return BlockKind::kUnknown;
}

BlockRecord block_of(const Json& line) {
  BlockRecord block;
  const Json* found = find(line, "block");
  if (found == nullptr || !found->is_object()) return block;
  const Json& object = *found;
  block.kind = block_kind(text_or(object, "kind"));
  block.start = address_or(object, "start", 0);
  block.size = number_or<std::uint64_t>(object, "size", 0);
  block.thread = number_or<int>(object, "thread", -1);
  block.stack = stack_of(object);
  return block;
}

ModuleRecord to_module(const Json& line) {
  return {need_number<int>(line, "id"), need_text(line, "path"),    need_address(line, "base"),
          need_address(line, "low"),    need_address(line, "high"), text_or(line, "build_id")};
}

ThreadRecord to_thread(const Json& line) {
  return {need_number<int>(line, "id"), number_or<int>(line, "parent", -1), text_or(line, "name"),
          stack_of(line), number_or<std::uint64_t>(line, "path", 0)};
}

RaceRecord to_race(const Json& line, std::size_t modules) {
  RaceRecord race;
  race.analysis = need_text(line, "analysis");
  race.address = need_address(line, "addr");
  race.size = number_or<std::uint64_t>(line, "size", 0);
  race.prev = to_access(need(line, "prev"));
  race.cur = to_access(need(line, "cur"));
  race.block = block_of(line);
  race.modules_loaded = modules;
  return race;
}

MemoryErrorRecord to_memory_error(const Json& line, std::size_t modules) {
  MemoryErrorRecord error;
  error.what = need_text(line, "what");
  error.accesses.address = need_address(line, "addr");
  error.accesses.size = number_or<std::uint64_t>(line, "size", 0);
  error.freed = line.contains("prev");
  if (error.freed) error.accesses.prev = to_access(need(line, "prev"));
  error.accesses.cur = to_access(need(line, "cur"));
  error.accesses.block = block_of(line);
  error.accesses.modules_loaded = modules;
  return error;
}

WarningRecord to_warning(const Json& line, std::size_t modules) {
  WarningRecord warning;
  warning.analysis = need_text(line, "analysis");
  warning.what = need_text(line, "what");
  warning.address = address_or(line, "addr", 0);
  need(line, "sites");
  for (const Json& site : list_or(line, "sites")) warning.sites.push_back(to_access(site));
  warning.block = block_of(line);
  warning.modules_loaded = modules;
  return warning;
}

Stuck to_stuck(const Json& line) {
  Stuck stuck;
  stuck.outcome = text_or(line, "outcome");
  for (const Json& entry : list_or(line, "strands")) {
    if (!entry.is_object()) throw BadLine("a strand is not an object");
    StuckStrand strand;
    strand.strand = need_number<int>(entry, "strand");
    strand.name = text_or(entry, "name");
    strand.state = text_or(entry, "state");
    strand.operation = text_or(entry, "op");
    strand.object = address_or(entry, "object", 0);
    for (const Json& holder : list_or(entry, "held_by")) {
      if (!holder.is_number_integer()) throw BadLine("'held_by' is not a list of numbers");
      strand.held_by.push_back(holder.get<int>());
    }
    strand.stack = stack_of(entry);
    if (Address place = address_or(entry, "place", 0); strand.stack.empty() && place != 0)
      strand.stack.push_back(place);
    stuck.strands.push_back(std::move(strand));
  }
  return stuck;
}

Step to_step(const Json& line) {
  Step step;
  step.number = number_or<std::uint64_t>(line, "n", 0);
  step.strand = need_number<int>(line, "strand");
  step.name = text_or(line, "name");
  step.operation = text_or(line, "op");
  step.object = address_or(line, "object", 0);
  step.size = number_or<std::uint64_t>(line, "size", 0);
  step.value = text_or(line, "value");
  step.joins = number_or<int>(line, "joins", -1);
  std::string as = text_or(line, "as");
  if (as == "float") step.type = trail::ValueType::kFloat;
  if (as == "pointer") step.type = trail::ValueType::kPointer;
  step.newest = text_or(line, "newest");
  step.site = site_of(line);
  step.place = address_or(line, "place", 0);
  step.stack = stack_of(line);
  step.plain = number_or<int>(line, "plain", 0) != 0;
  return step;
}

StaleRead to_stale(const Json& line) {
  return {need_number<int>(line, "strand"),          site_of(line),          address_or(line, "object", 0),
          number_or<std::uint64_t>(line, "size", 0), text_or(line, "value"), text_or(line, "newest")};
}

EarlyTimeout to_timeout(const Json& line) {
  return {number_or<int>(line, "strand", -1), text_or(line, "op"), number_or<std::uint64_t>(line, "ns", 0),
          stack_of(line)};
}

std::vector<SiteKey> to_keys(const Json& line) {
  std::vector<SiteKey> keys;
  for (const Json& entry : list_or(line, "sites")) {
    if (!entry.is_object()) throw BadLine("a site is not an object");
    auto site = site_of(entry);
    auto key = number_or<std::uint64_t>(entry, "key", 0);
    if (site && key != 0 && key <= 0xffffffffu) keys.push_back({*site, static_cast<std::uint32_t>(key)});
  }
  return keys;
}

}  // namespace

ProcessLog to_process(const Json& line, const std::string& file) {
  if (need_number<int>(line, "version") != 1) throw BadLine("a log of another version of duress");
  ProcessLog process;
  process.file = file;
  process.pid = need_number<int>(line, "pid");
  process.ppid = number_or<int>(line, "ppid", 0);
  process.exe = text_or(line, "exe");
  process.cwd = text_or(line, "cwd");
  process.chain = text_or(line, "chain");
  process.mode = text_or(line, "mode");
  process.preloaded = number_or<int>(line, "preloaded", 0) != 0;
  if (process.preloaded)
    process.incomplete.push_back(
        base_name(process.exe) +
        " is not instrumented: only the instrumented libraries that it loads are watched");
  for (const Json& arg : list_or(line, "argv")) {
    if (arg.is_string()) process.argv.push_back(arg.get<std::string>());
  }
  return process;
}

void add_line(const std::string& kind, const Json& line, ProcessLog& process) {
  const std::size_t modules = process.modules.size();
  if (kind == "module") {
    process.modules.push_back(to_module(line));
    const bool has_sites = line.contains("sites") && !line["sites"].is_null();
    process.has_sites = process.has_sites || has_sites;
    const ModuleRecord& module = process.modules.back();
    // The runtime of OpenMP may tell its order itself (runtime/openmp_tool.cc).
    bool ordered = number_or<int>(line, "ordered", 0) != 0;
    std::string what = ordered || has_sites ? "" : unseen_runtime(module.path);
    if (what.empty() && !ordered && !has_sites && modules != 0) what = unseen_library(module.path);
    if (!what.empty()) process.incomplete.push_back(what);
  } else if (kind == "thread") {
    ThreadRecord thread = to_thread(line);
    process.threads[thread.id] = std::move(thread);
  } else if (kind == "race") {
    process.races.push_back(to_race(line, modules));
  } else if (kind == "potential") {
    process.potentials.push_back(to_race(line, modules));
  } else if (kind == "warning") {
    process.warnings.push_back(to_warning(line, modules));
  } else if (kind == "crash") {
    process.crashes.push_back({need_text(line, "signal"), address_or(line, "addr", 0),
                               number_or<int>(line, "thread", 0), stack_of(line), modules});
  } else if (kind == "incomplete") {
    process.incomplete.push_back(need_text(line, "what"));
  } else if (kind == "stat") {
    process.stats.emplace_back(need_text(line, "name"), need_number<std::uint64_t>(line, "value"));
  } else if (kind == "event") {
    process.events.push_back(need_text(line, "text"));
  } else if (kind == "end") {
    process.exit = number_or<int>(line, "exit", 0);
  } else if (kind == "exec") {
    process.exit = 0;  // another program goes on under this pid
  } else if (kind == "stuck") {
    process.control.stuck = to_stuck(line);
  } else if (kind == "memory") {
    process.control.memory = to_memory_error(line, modules);
  } else if (kind == "step") {
    process.control.steps.push_back(to_step(line));
  } else if (kind == "stale") {
    process.control.stale.push_back(to_stale(line));
  } else if (kind == "timeout") {
    process.control.timeouts.push_back(to_timeout(line));
  } else if (kind == "points") {
    for (SiteKey& key : to_keys(line)) process.control.keys.push_back(key);
  }
}

}  // namespace duress::finding
