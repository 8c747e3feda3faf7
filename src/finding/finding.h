// SPDX-License-Identifier: Apache-2.0
//
// What a finding is once it has names: the thing that is grouped, suppressed, printed and compared
// between runs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "finding/log_record.h"

namespace duress::finding {

/// One line of a stack. Empty strings and zeros mean "not known": a stripped binary still gives a
/// module and an address.
struct Frame {
  std::string function;   // without parameters, e.g. "Cache::get"
  std::string signature;  // with them, if the symbol had them; suppressions may be written against either
  std::string file;       // absolute
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string module;         // path
  Address module_offset = 0;  // address in the module's file
  std::uint64_t function_offset = 0;
  bool library = false;  // not the user's code: folded in text, skipped when a place to blame is chosen
};

/// One of the two accesses of a race.
struct AccessReport {
  Access access = Access::kRead;
  std::uint64_t size = 0;
  int thread = 0;
  std::string thread_name;
  std::vector<std::string> locks;
  std::string instruction;   // where it was seen as one
  std::vector<Frame> stack;  // innermost first; stack[0] is the access itself
  std::size_t blamed = 0;    // index in `stack` of the frame reported as the site: the innermost one of the
                             // user's code, so that a race inside std::vector is charged to its user
  Frame site() const { return blamed < stack.size() ? stack[blamed] : Frame{}; }
};

struct ThreadReport {
  int id = 0;
  int parent = -1;
  std::string name;
  std::vector<Frame> stack;
};

struct BlockReport {
  BlockKind kind = BlockKind::kUnknown;
  std::uint64_t size = 0;
  std::int64_t offset = 0;  // of the racy address in it
  int thread = -1;
  std::string name;  // of the global, if it is one
  std::vector<Frame> stack;
};

/// What two accesses that were caught in the act probably are, from debug information and the instructions.
/// The first has the most to say; of several for one pair of places the first counts.
enum class Category {
  kOther,        // a data race, and nothing speaks for it
  kCounter,      // both only count
  kFlag,         // they care for different bits of a word
  kSameValue,    // the write changed nothing
  kSpecialName,  // the variable is called debug or stats
  kVolatile,     // declared so
  kUntyped,      // without debug information it cannot be told from an atomic access
  kAtomic,       // no race
};
inline constexpr std::size_t kCategories = 8;

/// "race", "counter", ...: the spelling of the command line and of --json.
const char* category_name(Category category);

struct Collision {
  Category category = Category::kOther;
  std::string before, after;  // values of the bytes that both touch
  std::uint64_t held_microseconds = 0;
};

struct Race {
  std::string unconfirmed;   // why the accesses may be ordered all the same; "": no reason is known
  std::string id;            // "R-7f3a"; given by assign_ids
  std::string variable;      // for people
  std::string variable_key;  // the same without what changes from run to run (addresses, sizes, lines)
  std::array<AccessReport, 2> sites;  // previous, current
  std::vector<std::string> found_by;
  Address address = 0;
  BlockReport block;
  std::vector<ThreadReport> threads;  // of the two sites and of the block, each once
  int pid = 0;
  std::string exe;
  std::uint64_t count = 1;             // how often this pair was seen
  std::optional<Collision> collision;  // duress collide

  /// "write-write", "write-read" or "read-write": previous, then current.
  const char* kind() const;
  /// Index of the access whose place opens the report: the write; of two writes the earlier place.
  std::size_t headline() const;
};

/// What an analysis suspects beyond races: a block that may not be atomic, locks taken in a cycle.
struct Suspicion {
  std::string analysis;
  std::string what;
  std::string variable;  // or lock; "" if it is about neither
  std::vector<AccessReport> sites;
  int pid = 0;
};

struct Crash {
  std::string signal;
  Address address = 0;
  int thread = 0;
  std::string thread_name;
  std::vector<Frame> stack;
  std::size_t blamed = 0;
  int pid = 0;
  std::string exe;
};

/// "The same race": unordered pair of (file, line, column, function, access), and the variable.
std::string group_key(const Race& race);

/// What the stable id is a hash of: the variable. Which pair of its accesses a run happens to see first, and
/// which of them the optimiser left, change from run to run and from level to level. Memory without a name
/// (`*p`, a stack) is told apart by the files and functions of the two accesses.
std::string identity(const Race& race);

/// Gives each race its id, `R-` and 4 hex digits; different identities whose ids would clash in this report
/// get 8.
void assign_ids(std::vector<Race>& races);

}  // namespace duress::finding
