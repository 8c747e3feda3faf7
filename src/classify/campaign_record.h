// SPDX-License-Identifier: Apache-2.0
//
// The record of a campaign in SQLite: every trial with what was asked for and what came out. A campaign
// computes its verdicts from trials, in an order that only its options decide; so one that was killed goes on
// by asking for the same trials again, and gets those that are recorded without running them. There is no
// other state that could be half written.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "classify/trial.h"

struct sqlite3;
struct sqlite3_stmt;

namespace duress::classify {

/// What a campaign is called: it goes on only if all of this is the same.
struct CampaignName {
  std::string command;  // "classify"
  std::string target;   // words, folder, binary, input, expectations
  u64 seed = 1;
  std::string shown;  // the target for people
};

/// Threads: any.
class CampaignRecord {
 public:
  CampaignRecord();
  ~CampaignRecord();
  CampaignRecord(const CampaignRecord&) = delete;
  CampaignRecord& operator=(const CampaignRecord&) = delete;

  /// Opens <dir>/campaign.sqlite, and in it the campaign of this name that was not finished, or a new one.
  /// "" or what went wrong.
  std::string open(const std::string& dir, const CampaignName& name);
  /// Trials that an earlier part of this campaign left.
  u64 resumed() const { return resumed_; }

  std::optional<Trial> find(const TrialName& name) const;
  /// Keeps it; from then on no end of this process loses it.
  void add(const TrialName& name, const Trial& trial);

  /// Texts by name, for what is no trial: a minimised witness.
  std::optional<std::string> text(const std::string& name) const;
  void set_text(const std::string& name, const std::string& text);

  /// A finished campaign is kept for reports, but the same command then starts anew.
  void finish();
  /// "" or why something could not be kept; the first such reason stays.
  std::string error() const;

  /// For tests: the file may not grow beyond so many pages.
  void limit_pages(int pages);

 private:
  struct Statement;
  bool run(const char* sql);
  bool prepare(const char* sql, Statement& statement);
  /// Gives a new file its tables; one process at a time.
  bool prepare_file();
  void fail(const std::string& what);
  void load();

  mutable std::mutex lock_;  // everything below
  sqlite3* database_ = nullptr;
  std::string path_, error_;
  long long campaign_ = 0;
  u64 resumed_ = 0;
  std::unordered_map<u64, Trial> trials_;  // by TrialName::key
  std::unordered_map<std::string, std::string> texts_;
};

}  // namespace duress::classify
