// SPDX-License-Identifier: Apache-2.0
//
// TSAN_OPTIONS: those of ThreadSanitizer's options that have a meaning here, for projects that come from it.
// Options of Duress, on the command line or in .duress.toml, win. docs/manual/from-thread-sanitizer.md has
// the table.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace duress::cli {

class CommandApp;
struct RunOptions;
struct ScreenOptions;
struct SuppressionOptions;

class TsanOptions {
 public:
  /// `text` as ThreadSanitizer reads it: key=value, separated by spaces, commas or colons; values may be
  /// quoted.
  explicit TsanOptions(const std::string& text);
  static TsanOptions from_environment();

  /// The value of a key, the last if it is there twice; nothing if it is not there.
  std::optional<std::string> take(const std::string& key);
  /// The keys that nobody took, in their order.
  std::vector<std::string> rest() const;

 private:
  std::vector<std::pair<std::string, std::string>> all_;
  std::set<std::string> taken_;
};

/// suppressions, color; with `verbose` says which keys are not used. "" or what is wrong with a value.
std::string use_tsan_options(const CommandApp& app, SuppressionOptions& suppressions, ScreenOptions& screen);
/// The same and exitcode, halt_on_error, atexit_sleep_ms.
std::string use_tsan_options(const CommandApp& app, RunOptions& options);

}  // namespace duress::cli
