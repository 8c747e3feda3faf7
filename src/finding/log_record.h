// SPDX-License-Identifier: Apache-2.0
//
// The lines of a run's log (docs/design/log.md) as plain data, addresses still raw.
//
// Nothing here is interpreted: a race is two accesses with return addresses and a place in a site
// table. Turning that into names is src/report's work, which needs the binaries; keeping the two apart
// lets the reader be tested with hand-written lines and the report with hand-made records.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trail/execution.h"

namespace duress::finding {

using Address = std::uint64_t;

/// What an access did. `free` is the runtime's: giving memory back counts as a write to all of it.
enum class Access { kRead, kWrite, kAtomicRead, kAtomicWrite, kAtomicRmw, kFree };

/// "read", "atomic-rmw", ...: the spelling of the log and of --json.
const char* access_name(Access access);
std::optional<Access> access_from_name(const std::string& name);
/// Whether the access changes memory: everything but the two reads.
bool is_write(Access access);

struct ModuleRecord {
  int id = 0;
  std::string path;
  Address base = 0;  // load bias: run-time address minus address in the file
  Address low = 0;
  Address high = 0;
  std::string build_id;
};

struct ThreadRecord {
  int id = 0;
  int parent = -1;
  std::string name;
  std::vector<Address> stack;  // where it was created
  std::uint64_t path = 0;      // systematic executions: who it is in every interleaving; of main 0
};

struct LockRecord {
  Address address = 0;
  std::string kind;  // "mutex", "rwlock", ...
  bool shared = false;
};

struct SiteRecord {
  int module = 0;
  std::uint32_t index = 0;  // in 32-byte entries from the start of the section
};

/// A memory operand of a machine instruction. Registers by their DWARF numbers, -1: none.
struct OperandRecord {
  int base = -1;  // 16: the instruction pointer, and `displacement` is the address in the module's file
  int index = -1;
  int scale = 1;
  std::int64_t displacement = 0;
};

/// What a machine instruction does, where an access was seen as one and not as instrumented source.
struct InstructionRecord {
  Address address = 0;
  std::string text;
  OperandRecord operand;
  bool atomic = false;     // a lock prefix or its like
  bool updates = false;    // new value from old value, in this instruction or with its neighbours
  bool direct = false;     // ... in this one alone
  bool adds = false;       // ... by adding or subtracting
  bool wide = false;       // no atomic object is accessed so: more than 8 bytes, or not aligned
  bool only_gcc = false;   // GCC compiled it: no atomic operation becomes a plain update
  std::uint64_t bits = 0;  // those that a constant picks out, from the access's first byte; 0: not known
};

struct AccessRecord {
  int thread = 0;  // -1: not known, as the access was only seen by what it changed
  Access access = Access::kRead;
  Address address = 0;
  std::uint64_t size = 0;
  std::optional<SiteRecord> site;
  std::vector<Address> stack;
  std::vector<LockRecord> locks;
  std::optional<InstructionRecord> instruction;
};

/// Two threads at the same memory at the same time, seen by holding one of them (`cur`) just before its
/// access.
struct CollisionRecord {
  std::string before;  // the bytes at the race's address, when the thread was stopped
  std::string after;   // ... and when it went on
  std::uint64_t held_microseconds = 0;
};

enum class BlockKind { kUnknown, kHeap, kGlobal, kStack, kTls, kMmap };

struct BlockRecord {
  BlockKind kind = BlockKind::kUnknown;
  Address start = 0;
  std::uint64_t size = 0;
  int thread = -1;
  std::vector<Address> stack;
};

struct RaceRecord {
  std::string analysis;
  Address address = 0;
  std::uint64_t size = 0;
  AccessRecord prev;
  AccessRecord cur;
  BlockRecord block;
  std::size_t modules_loaded = 0;  // how many `module` lines came before: later ones cannot explain it
  std::optional<CollisionRecord> collision;
};

/// What an analysis suspects beyond races: places that belong together.
struct WarningRecord {
  std::string analysis;
  std::string what;
  Address address = 0;  // 0: none
  std::vector<AccessRecord> sites;
  BlockRecord block;
  std::size_t modules_loaded = 0;
};

/// A memory error, in the shape of a race: `prev` is the free, if there was one, `cur` what was wrong.
struct MemoryErrorRecord {
  std::string what;  // the word of trail/outcome.h
  bool freed = false;
  RaceRecord accesses;
};

struct CrashRecord {
  std::string signal;
  Address address = 0;
  int thread = 0;
  std::vector<Address> stack;
  std::size_t modules_loaded = 0;
};

/// A thread at the end of a run that got stuck.
struct StuckStrand {
  int strand = 0;
  std::string name;
  std::string state;  // "blocked", "runnable", "ended"
  std::string operation;
  Address object = 0;
  std::vector<int> held_by;
  std::vector<Address> stack;  // innermost first
};

struct Stuck {
  std::string outcome;  // "deadlock", "livelock", "step-limit", "stuck"
  std::vector<StuckStrand> strands;
};

/// One step of a traced run.
struct Step {
  std::uint64_t number = 0;
  int strand = 0;
  std::string name;  // of the strand
  std::string operation;
  Address object = 0;
  std::uint64_t size = 0;
  int joins = -1;  // of a join: the strand
  std::string value;
  trail::ValueType type = trail::ValueType::kInteger;
  std::string newest;  // "": the value is the newest
  std::optional<SiteRecord> site;
  Address place = 0;           // a return address, if there is no site
  std::vector<Address> stack;  // from that place on, if it is known
  bool plain = false;  // not a step: an access at which nobody can be switched (trail::Request::trace_plain)
};

/// A load that did not return the newest value.
struct StaleRead {
  int strand = 0;
  std::optional<SiteRecord> site;
  Address object = 0;
  std::uint64_t size = 0;
  std::string value, newest;
};

/// A wait, or a timer of the program, that timed out although threads could run.
struct EarlyTimeout {
  int strand = -1;        // -1: a timer
  std::string operation;  // "wait", "sleep", "system call", ...; "timer"
  std::uint64_t nanoseconds = 0;
  std::vector<Address> stack;  // innermost first
};

struct SiteKey {
  SiteRecord site;
  std::uint32_t key = 0;
};

/// The lines that only controlled executions write.
struct ControlLines {
  std::optional<Stuck> stuck;
  std::optional<MemoryErrorRecord> memory;
  std::vector<Step> steps;
  std::vector<SiteKey> keys;
  std::vector<StaleRead> stale;  // the first of them
  std::vector<EarlyTimeout> timeouts;
};

/// One process image: from a `start` line to the next one of the same file (after `exec`) or its end.
struct ProcessLog {
  std::string file;
  int pid = 0;
  int ppid = 0;
  std::string exe;
  std::vector<std::string> argv;
  std::string cwd;
  std::string chain;
  std::string mode;
  bool preloaded = false;             // the executable is not instrumented
  bool has_sites = false;             // an instrumented module was loaded
  std::vector<ModuleRecord> modules;  // in order of loading; an id may come back after dlclose
  std::map<int, ThreadRecord> threads;
  std::vector<RaceRecord> races;
  std::vector<RaceRecord> potentials;  // what analyses that may be wrong suspect
  std::vector<WarningRecord> warnings;
  std::vector<CrashRecord> crashes;
  std::vector<std::string> incomplete;
  std::vector<std::pair<std::string, std::uint64_t>> stats;
  std::vector<std::string> events;
  ControlLines control;
  std::optional<int> exit;
};

/// A line that could not be understood; the rest of the log is kept.
struct LogProblem {
  std::string file;
  std::size_t line = 0;
  std::string what;
};

struct RunLog {
  std::vector<ProcessLog> processes;
  std::vector<LogProblem> problems;
};

}  // namespace duress::finding
