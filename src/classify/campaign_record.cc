// SPDX-License-Identifier: Apache-2.0
//
// A row costs a write to the log of the database and no fsync: what the kernel has been given outlives us,
// and only a machine that loses power can lose the last rows, never the whole (SQLite's WAL with
// synchronous=NORMAL).
#include "classify/campaign_record.h"

#include <sqlite3.h>

#include "exec/files.h"

namespace duress::classify {
namespace {

constexpr int kVersion = 1;
constexpr const char* kSchema = R"(
CREATE TABLE IF NOT EXISTS campaign (
  id INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  command TEXT NOT NULL,
  name TEXT NOT NULL,       -- all that must be the same for it to go on
  target TEXT NOT NULL,
  seed INTEGER NOT NULL,
  finished INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS trial (
  campaign INTEGER NOT NULL REFERENCES campaign(id),
  key INTEGER NOT NULL,     -- hash of all that names the trial
  phase TEXT NOT NULL,      -- find, attack, predict, widen
  variable TEXT NOT NULL,
  model TEXT NOT NULL,
  heuristic TEXT NOT NULL,
  policy TEXT NOT NULL,
  strategy TEXT NOT NULL,
  fair INTEGER NOT NULL,
  number INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  outcome TEXT NOT NULL,    -- passed, failed, discarded, nothing
  failure TEXT NOT NULL,
  steps INTEGER NOT NULL,
  output INTEGER NOT NULL,  -- hash
  detail TEXT NOT NULL,
  PRIMARY KEY (campaign, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS text (
  campaign INTEGER NOT NULL REFERENCES campaign(id),
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (campaign, name)) WITHOUT ROWID;
)";

long long as_signed(u64 value) {
  return static_cast<long long>(value);
}

}  // namespace

/// A prepared statement with its bindings in order.
struct CampaignRecord::Statement {
  sqlite3_stmt* handle = nullptr;
  int next = 1;
  ~Statement() { sqlite3_finalize(handle); }
  Statement& bind(const std::string& text) {
    sqlite3_bind_text(handle, next++, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind(long long number) {
    sqlite3_bind_int64(handle, next++, number);
    return *this;
  }
  std::string text(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle, column));
    return bytes == nullptr
               ? std::string()
               : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle, column)));
  }
  u64 number(int column) const { return static_cast<u64>(sqlite3_column_int64(handle, column)); }
  bool row() const { return sqlite3_step(handle) == SQLITE_ROW; }
  bool done() const { return sqlite3_step(handle) == SQLITE_DONE; }
};

CampaignRecord::CampaignRecord() = default;

CampaignRecord::~CampaignRecord() {
  sqlite3_close(database_);
}

void CampaignRecord::fail(const std::string& what) {
  if (!error_.empty()) return;
  int code = database_ != nullptr ? sqlite3_errcode(database_) & 0xff : SQLITE_OK;
  error_ = "cannot " + what + " the record '" + path_ + "'";
  if (database_ != nullptr) error_ += std::string(": ") + sqlite3_errmsg(database_);
  if (code == SQLITE_FULL)
    error_ += "; make room, then run the same command again to continue";
  else if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
    error_ += "; remove it, or give another folder with --dir";
  else
    error_ += "; use another folder with --dir";
}

bool CampaignRecord::run(const char* sql) {
  return sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
}

bool CampaignRecord::prepare(const char* sql, Statement& statement) {
  return sqlite3_prepare_v2(database_, sql, -1, &statement.handle, nullptr) == SQLITE_OK;
}

bool CampaignRecord::prepare_file() {
  // The change to WAL does not wait for another process that makes the same change: it is "locked" at once.
  const exec::Descriptor lock = exec::lock_file(path_ + ".lock");
  return run("PRAGMA journal_mode=WAL") && run("PRAGMA synchronous=NORMAL") &&
         run("PRAGMA wal_autocheckpoint=256") && run(kSchema);  // the log stays below 1 MiB
}

std::string CampaignRecord::open(const std::string& dir, const CampaignName& name) {
  std::lock_guard guard(lock_);
  path_ = dir + "/campaign.sqlite";
  error_ = exec::make_folder(dir, dir);
  if (!error_.empty()) return error_;
  if (sqlite3_open(path_.c_str(), &database_) != SQLITE_OK) {
    fail("open");
    return error_;
  }
  // Another duress may be at work in this folder; its rows are others.
  sqlite3_busy_timeout(database_, 10000);
  std::string all = name.command + '\1' + name.target + '\1' + std::to_string(name.seed);
  bool good = prepare_file();
  if (good) {
    Statement open_one;
    good = prepare("SELECT id FROM campaign WHERE version=? AND name=? AND NOT finished", open_one);
    if (good && open_one.bind(kVersion).bind(all).row()) campaign_ = as_signed(open_one.number(0));
  }
  if (good && campaign_ == 0) {
    // A finished campaign of this name makes room for the new one.
    good = run("BEGIN IMMEDIATE");
    for (const char* sql : {"DELETE FROM trial WHERE campaign IN (SELECT id FROM campaign WHERE name=?)",
                            "DELETE FROM text WHERE campaign IN (SELECT id FROM campaign WHERE name=?)",
                            "DELETE FROM campaign WHERE name=?"}) {
      Statement drop;
      good = good && prepare(sql, drop) && drop.bind(all).done();
    }
    Statement fresh;
    good =
        good &&
        prepare("INSERT INTO campaign (version, command, name, target, seed) VALUES (?,?,?,?,?)", fresh) &&
        fresh.bind(kVersion).bind(name.command).bind(all).bind(name.shown).bind(as_signed(name.seed)).done();
    if (good) campaign_ = sqlite3_last_insert_rowid(database_);
    good = good && run("COMMIT");
  }
  if (!good) fail("write");
  if (error_.empty()) load();
  return error_;
}

void CampaignRecord::load() {
  Statement trials, texts;
  bool good = prepare("SELECT key, outcome, steps, output, detail FROM trial WHERE campaign=?", trials) &&
              prepare("SELECT name, text FROM text WHERE campaign=?", texts);
  if (!good) return fail("read");
  trials.bind(campaign_);
  while (trials.row()) {
    Trial trial;
    std::string outcome = trials.text(1);
    bool known = false;
    for (TrialOutcome one :
         {TrialOutcome::kPassed, TrialOutcome::kFailed, TrialOutcome::kDiscarded, TrialOutcome::kNothing}) {
      if (outcome != name_of(one)) continue;
      trial.outcome = one;
      known = true;
    }
    trial.steps = trials.number(2);
    trial.output = trials.number(3);
    // An invalid row is run again.
    if (known && read_trial(trials.text(4), trial)) trials_[trials.number(0)] = std::move(trial);
  }
  texts.bind(campaign_);
  while (texts.row()) texts_[texts.text(0)] = texts.text(1);
  resumed_ = trials_.size();
}

std::optional<Trial> CampaignRecord::find(const TrialName& name) const {
  std::lock_guard guard(lock_);
  auto found = trials_.find(name.key());
  if (found == trials_.end()) return std::nullopt;
  return found->second;
}

void CampaignRecord::add(const TrialName& name, const Trial& trial) {
  const u64 key = name.key();
  std::string detail = trial_text(trial);
  const Attack& attack = name.attack;
  std::lock_guard guard(lock_);
  trials_[key] = trial;
  if (!error_.empty() || database_ == nullptr) return;
  Statement row;
  bool good = prepare("INSERT OR REPLACE INTO trial VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", row) &&
              row.bind(campaign_)
                  .bind(as_signed(key))
                  .bind(name.phase)
                  .bind(name.variable)
                  .bind(name_of(attack.model))
                  .bind(name_of(attack.heuristic))
                  .bind(policy_name(attack.policy))
                  .bind(name_of(attack.strategy))
                  .bind(attack.fair ? 1 : 0)
                  .bind(as_signed(name.number))
                  .bind(as_signed(name.seed))
                  .bind(name_of(trial.outcome))
                  .bind(trial.failure.kind)
                  .bind(as_signed(trial.steps))
                  .bind(as_signed(trial.output))
                  .bind(detail)
                  .done();
  if (!good) fail("write");
}

std::optional<std::string> CampaignRecord::text(const std::string& name) const {
  std::lock_guard guard(lock_);
  auto found = texts_.find(name);
  if (found == texts_.end()) return std::nullopt;
  return found->second;
}

void CampaignRecord::set_text(const std::string& name, const std::string& text) {
  std::lock_guard guard(lock_);
  texts_[name] = text;
  if (!error_.empty() || database_ == nullptr) return;
  Statement row;
  bool good = prepare("INSERT OR REPLACE INTO text VALUES (?,?,?)", row) &&
              row.bind(campaign_).bind(name).bind(text).done();
  if (!good) fail("write");
}

void CampaignRecord::finish() {
  std::lock_guard guard(lock_);
  if (!error_.empty() || database_ == nullptr) return;
  Statement row;
  if (!prepare("UPDATE campaign SET finished=1 WHERE id=?", row) || !row.bind(campaign_).done())
    fail("write");
}

std::string CampaignRecord::error() const {
  std::lock_guard guard(lock_);
  return error_;
}

void CampaignRecord::limit_pages(int pages) {
  std::lock_guard guard(lock_);
  run(("PRAGMA max_page_count=" + std::to_string(pages)).c_str());
}

}  // namespace duress::classify
