// SPDX-License-Identifier: Apache-2.0
//
// `duress explore` without its options and text: executes a portfolio of schedules until one fails.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exec/campaign_setup.h"
#include "exec/store.h"
#include "exec/worker_pool.h"
#include "report/document.h"
#include "search/found.h"
#include "search/order_collector.h"
#include "search/portfolio.h"
#include "search/saved_races.h"
#include "search/saved_search.h"

namespace duress::search {

struct SearchSetup : exec::CampaignSetup {
  SearchOptions search;
  u64 runs = 1000;
  std::vector<trail::SitePair> pairs;  // suspected before the first run
  bool keep_going = false;
  bool minimise = true;
  bool coverage = false;  // say which orders of threads were seen
};

struct Progress {
  u64 runs = 0, most_runs = 0;
  u64 fresh_runs = 0;  // of this invocation
  double seconds = 0, most_seconds = 0;
  u64 failures = 0;
  const char* phase = "";  // "", "minimising"
};

/// Progress of a search; called by the thread that runs it.
class SearchListener {
 public:
  virtual ~SearchListener() = default;
  virtual void resumed(u64 run, const std::vector<std::string>& failures) {}
  virtual void progress(const Progress& progress) {}
  virtual void found(const Found& found) {}
};

struct SearchResult : report::CampaignSummary {
  exec::WorkerProblem problem;  // why the search could not continue
  std::vector<Found> found;
  std::vector<std::string> earlier;       // ids of failures that the part before resuming found
  u64 runs = 0;                           // of the whole search
  double seconds = 0;                     // of this invocation
  std::set<std::pair<u32, u32>> created;  // pairs of racing accesses that racefuzzer brought together
  std::set<std::pair<u32, u32>> suspected_deadlocks;
  std::set<std::pair<u32, u32>> created_deadlocks;  // of these, the ones that a run after them ended in
  bool kept_going = false;                          // the search did not stop at the first failure
  finding::RunLog races;                     // what the detecting runs reported, in order of their numbers
  std::set<std::string> incomplete;          // what could not be controlled
  std::optional<report::Coverage> coverage;  // with SearchSetup::coverage
};

class Search {
 public:
  Search(SearchSetup setup, finding::Names& names, SearchListener& listener);
  ~Search();

  /// Until it is done, or `stop` turns true: then what was found so far.
  SearchResult run(const std::atomic<bool>& stop);

 private:
  struct Round;

  std::string key() const;
  std::string program() const;
  void resume_saved(const std::string& name);
  void save(const std::string& name);
  void run_round(Round& round);
  bool run_one(exec::Worker& worker, u64 index, Round& round);
  exec::Plan plan_of(u64 index, const Round& round) const;
  bool confirm_fair(exec::Worker& worker, const exec::Plan& plan, exec::Result& result,
                    std::optional<exec::Result>& again, bool& counts);
  void note_run(u64 index, const exec::Plan& plan, exec::Result& result, Round& round);
  void note_pairs(const exec::Plan& plan, const exec::Execution& execution,
                  const std::vector<trail::SitePair>& deadlocks);
  void note_failure(exec::Worker& worker, u64 index, const exec::Plan& plan, exec::Result& result,
                    Round& round);
  /// Takes over what a round's runs have found. Returns how far the round came.
  u64 end_round(Round& round);
  void summarise();
  void summarise_coverage();
  /// Performs an execution; its failure has an id.
  exec::Result run_identified(exec::Worker& worker, const exec::Plan& plan,
                              exec::Logs logs = exec::Logs::kOfFailures,
                              const exec::Lookahead& lookahead = {});
  void name_locks(exec::Worker& worker, Found& found);
  void minimise(exec::Worker& worker, Found& found);
  /// Whether the failure needs the memory model.
  void try_without_model(exec::Worker& worker, Found& found);
  void keep(Found& found);
  /// Reports progress. False: the search was stopped.
  bool tick(const char* phase);
  double elapsed() const;
  bool searched_long_enough() const;
  bool out_of_time() const { return setup_.seconds > 0 && elapsed() > setup_.seconds; }

  SearchSetup setup_;
  finding::Names& names_;
  SearchListener& listener_;
  exec::Oracle oracle_;
  Portfolio portfolio_;
  exec::Store store_;
  std::unique_ptr<exec::WorkerPool> pool_;
  const std::atomic<bool>* stop_ = nullptr;
  std::atomic<u64> done_{0};  // runs of this invocation
  std::atomic<u64> failures_{0};
  SavedSearch state_;
  SearchResult result_;
  std::mutex names_lock_;         // names_, and reading with collector_
  OrderCollector collector_;      // with SearchSetup::coverage
  std::mutex result_lock_;        // result_ while workers run, and what Round says
  bool several_strands_ = false;  // some run had a second thread; under result_lock_
  u64 resumed_at_ = 0;
  std::map<u64, finding::RunLog> races_;  // by run; under result_lock_
  std::optional<SavedRaces> saved_races_;
  double started_ = 0;
  double saved_at_ = 0;
};

}  // namespace duress::search
