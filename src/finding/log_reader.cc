// SPDX-License-Identifier: Apache-2.0
//
// The log is written by a process that may be killed, out of memory, or corrupting itself: every line
// is treated as hostile. Each is parsed alone, into fresh values that are moved into the result only
// when the whole line made sense; so one bad line costs one line.
#include "finding/log_reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "finding/unseen_runtimes.h"

namespace duress::finding {
namespace {

using Json = nlohmann::json;

struct BadLine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const Json& need(const Json& object, const char* key) {
  auto it = object.find(key);
  if (it == object.end()) throw BadLine(std::string("no field '") + key + "'");
  return *it;
}

Address to_address(const Json& value, const char* key) {
  if (value.is_number_unsigned()) return value.get<Address>();
  if (!value.is_string()) throw BadLine(std::string("'") + key + "' is not an address");
  const std::string& text = value.get_ref<const std::string&>();
  Address address = 0;
  const char* first = text.data();
  const char* last = first + text.size();
  if (text.size() < 3 || text[0] != '0' || text[1] != 'x')
    first = last;
  else
    first += 2;
  auto [end, error] = std::from_chars(first, last, address, 16);
  if (first == last || error != std::errc() || end != last) {
    throw BadLine(std::string("'") + key + "' is not an address");
  }
  return address;
}

Address need_address(const Json& object, const char* key) {
  return to_address(need(object, key), key);
}

Address address_or(const Json& object, const char* key, Address fallback) {
  auto it = object.find(key);
  return it == object.end() || it->is_null() ? fallback : to_address(*it, key);
}

template <typename Number>
Number need_number(const Json& object, const char* key) {
  const Json& value = need(object, key);
  if (!value.is_number_integer()) throw BadLine(std::string("'") + key + "' is not a number");
  return value.get<Number>();
}

template <typename Number>
Number number_or(const Json& object, const char* key, Number fallback) {
  auto it = object.find(key);
  if (it == object.end() || it->is_null()) return fallback;
  if (!it->is_number_integer()) throw BadLine(std::string("'") + key + "' is not a number");
  return it->get<Number>();
}

std::string text_or(const Json& object, const char* key) {
  auto it = object.find(key);
  if (it == object.end() || it->is_null()) return {};
  if (!it->is_string()) throw BadLine(std::string("'") + key + "' is not a string");
  return it->get<std::string>();
}

std::string need_text(const Json& object, const char* key) {
  need(object, key);
  return text_or(object, key);
}

std::vector<Address> stack_of(const Json& object) {
  std::vector<Address> stack;
  auto it = object.find("stack");
  if (it == object.end() || it->is_null()) return stack;
  if (!it->is_array()) throw BadLine("'stack' is not a list");
  for (const Json& entry : *it) stack.push_back(to_address(entry, "stack"));
  return stack;
}

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
  if (auto it = object.find("site"); it != object.end() && !it->is_null()) {
    if (!it->is_array() || it->size() != 2 || !(*it)[0].is_number_integer() ||
        !(*it)[1].is_number_unsigned()) {
      throw BadLine("'site' is not [module, index]");
    }
    record.site = SiteRecord{(*it)[0].get<int>(), (*it)[1].get<std::uint32_t>()};
  }
  if (auto it = object.find("locks"); it != object.end() && it->is_array()) {
    for (const Json& lock : *it) {
      if (!lock.is_object()) throw BadLine("a lock is not an object");
      record.locks.push_back(
          {need_address(lock, "addr"), text_or(lock, "kind"), text_or(lock, "mode") == "read"});
    }
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

BlockRecord to_block(const Json& object) {
  BlockRecord block;
  if (!object.is_object()) return block;
  block.kind = block_kind(text_or(object, "kind"));
  block.start = address_or(object, "start", 0);
  block.size = number_or<std::uint64_t>(object, "size", 0);
  block.thread = number_or<int>(object, "thread", -1);
  block.stack = stack_of(object);
  return block;
}

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
  if (auto it = line.find("argv"); it != line.end() && it->is_array()) {
    for (const Json& arg : *it) {
      if (arg.is_string()) process.argv.push_back(arg.get<std::string>());
    }
  }
  return process;
}

/// Bytes that JSON does not allow in a string become U+FFFD. Names in the target (threads, files, symbols)
/// may hold any byte, and a finding must not be lost for it.
std::string repaired(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    auto byte = static_cast<unsigned char>(text[i]);
    std::size_t length = byte < 0x80 ? 1 : byte >> 5 == 6 ? 2 : byte >> 4 == 14 ? 3 : byte >> 3 == 30 ? 4 : 0;
    bool good = length != 0 && byte >= 0x20 && i + length <= text.size();
    for (std::size_t k = 1; good && k < length; ++k)
      good = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
    if (good)
      out.append(text.substr(i, length));
    else
      out.append("\xef\xbf\xbd"), length = 1;
    i += length;
  }
  return out;
}

void parse_line(std::string_view text, const std::string& file, ProcessLog*& process, RunLog& into) {
  Json line = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (line.is_discarded()) line = Json::parse(repaired(text), nullptr, false);
  if (line.is_discarded() || !line.is_object()) throw BadLine("not a JSON object");
  const std::string kind = need_text(line, "t");
  if (kind == "start") {
    into.processes.push_back(to_process(line, file));
    process = &into.processes.back();
    return;
  }
  if (process == nullptr) throw BadLine("a line before 'start'");
  if (kind == "module") {
    ModuleRecord module;
    module.id = need_number<int>(line, "id");
    module.path = need_text(line, "path");
    module.base = need_address(line, "base");
    module.low = need_address(line, "low");
    module.high = need_address(line, "high");
    module.build_id = text_or(line, "build_id");
    if (std::string what = unseen_runtime(module.path); !what.empty()) process->incomplete.push_back(what);
    process->modules.push_back(std::move(module));
  } else if (kind == "thread") {
    ThreadRecord thread;
    thread.id = need_number<int>(line, "id");
    thread.parent = number_or<int>(line, "parent", -1);
    thread.name = text_or(line, "name");
    thread.path = number_or<std::uint64_t>(line, "path", 0);
    thread.stack = stack_of(line);
    process->threads[thread.id] = std::move(thread);
  } else if (kind == "race" || kind == "potential") {
    RaceRecord race;
    race.analysis = need_text(line, "analysis");
    race.address = need_address(line, "addr");
    race.size = number_or<std::uint64_t>(line, "size", 0);
    race.prev = to_access(need(line, "prev"));
    race.cur = to_access(need(line, "cur"));
    if (auto it = line.find("block"); it != line.end()) race.block = to_block(*it);
    race.modules_loaded = process->modules.size();
    (kind == "race" ? process->races : process->potentials).push_back(std::move(race));
  } else if (kind == "warning") {
    WarningRecord warning;
    warning.analysis = need_text(line, "analysis");
    warning.what = need_text(line, "what");
    warning.address = address_or(line, "addr", 0);
    const Json& sites = need(line, "sites");
    if (!sites.is_array()) throw BadLine("'sites' is not a list");
    for (const Json& site : sites) warning.sites.push_back(to_access(site));
    if (auto it = line.find("block"); it != line.end()) warning.block = to_block(*it);
    warning.modules_loaded = process->modules.size();
    process->warnings.push_back(std::move(warning));
  } else if (kind == "crash") {
    CrashRecord crash;
    crash.signal = need_text(line, "signal");
    crash.address = address_or(line, "addr", 0);
    crash.thread = number_or<int>(line, "thread", 0);
    crash.stack = stack_of(line);
    crash.modules_loaded = process->modules.size();
    process->crashes.push_back(std::move(crash));
  } else if (kind == "incomplete") {
    process->incomplete.push_back(need_text(line, "what"));
  } else if (kind == "stat") {
    process->stats.emplace_back(need_text(line, "name"), need_number<std::uint64_t>(line, "value"));
  } else if (kind == "event") {
    process->events.push_back(need_text(line, "text"));
  } else if (kind == "end") {
    process->exit = number_or<int>(line, "exit", 0);
  }
  // Any other kind is a newer runtime's: not for us, and no fault.
}

}  // namespace

const char* access_name(Access access) {
  switch (access) {
    case Access::kRead:
      return "read";
    case Access::kWrite:
      return "write";
    case Access::kAtomicRead:
      return "atomic-read";
    case Access::kAtomicWrite:
      return "atomic-write";
    case Access::kAtomicRmw:
      return "atomic-rmw";
    case Access::kFree:
      return "free";
  }
  return "read";
}

std::optional<Access> access_from_name(const std::string& name) {
  for (Access access : {Access::kRead, Access::kWrite, Access::kAtomicRead, Access::kAtomicWrite,
                        Access::kAtomicRmw, Access::kFree}) {
    if (name == access_name(access)) return access;
  }
  return std::nullopt;
}

bool is_write(Access access) {
  return access != Access::kRead && access != Access::kAtomicRead;
}

void parse_log(std::string_view text, const std::string& file, RunLog& into) {
  ProcessLog* process = nullptr;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return;  // torn: the process was killed in mid-write
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.empty()) continue;
    try {
      parse_line(line, file, process, into);
    } catch (const std::exception& error) {
      into.problems.push_back({file, number, error.what()});
    }
  }
}

RunLog read_log_dir(const std::string& dir) {
  namespace fs = std::filesystem;
  std::vector<std::pair<long, fs::path>> files;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".jsonl") continue;
    const std::string stem = it->path().stem().string();
    long pid = 0;
    std::from_chars(stem.data(), stem.data() + stem.size(), pid);
    files.emplace_back(pid, it->path());
  }
  std::sort(files.begin(), files.end());
  RunLog log;
  for (const auto& [pid, path] : files) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
      log.problems.push_back({path.string(), 0, "cannot be read"});
      continue;
    }
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    parse_log(text, path.string(), log);
  }
  return log;
}

}  // namespace duress::finding
