// SPDX-License-Identifier: Apache-2.0
//
// `duress explore` without its words: executes a portfolio of schedules until one fails.
#ifndef DURESS_SEARCH_SEARCH_H_
#define DURESS_SEARCH_SEARCH_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "exec/oracle.h"
#include "exec/store.h"
#include "exec/worker.h"
#include "finding/failure.h"
#include "search/minimiser.h"
#include "search/portfolio.h"
#include "search/saved_search.h"

namespace duress::search {

struct SearchSetup {
  SearchOptions search;
  exec::WorkerOptions worker;  // its folder is the parent of the workers' own
  exec::OracleOptions oracle;
  std::string dir;
  u64 runs = 1000;
  double seconds = 0;  // 0: no limit
  unsigned jobs = 1;
  std::vector<trail::SitePair> pairs;  // suspected before the first run
  bool keep_going = false;
  bool minimise = true;
};

/// A failure with all there is to say about it.
struct Found {
  finding::Failure failure;
  finding::RunLogs logs;
  std::string errors;  // the end of what the run wrote to stderr
  u64 run = 0;
  exec::Plan plan;  // what was asked for
  exec::Trail trail;
  u64 switches = 0;
  u64 first_switches = 0;    // before it was minimised
  u64 times = 0;             // how many runs failed so
  bool replayed = false;     // it failed again in the same way
  bool fewest = false;       // no single deviation can be left out
  u64 stale = 0, early = 0;  // loads of older values; stores before others in modification order
  u64 without_model = 0;     // so many runs with sequentially consistent memory were tried
  bool needs_model = false;  // and none of them failed so
  u64 diverged = 0;          // not replayed: 1 + the choice where the replay went another way
  std::string token;         // or "@FILE"
};

struct Progress {
  u64 runs = 0, most_runs = 0;
  u64 fresh_runs = 0;  // of this invocation
  double seconds = 0, most_seconds = 0;
  u64 failures = 0;
  const char* phase = "";  // "", "minimising"
};

/// What happens meanwhile; called by the thread that runs the search.
class SearchListener {
 public:
  virtual ~SearchListener() = default;
  virtual void resumed(u64 run, const std::vector<std::string>& failures) {}
  virtual void progress(const Progress& progress) {}
  virtual void found(const Found& found) {}
};

struct SearchResult {
  exec::WorkerProblem problem;  // why the search could not go on
  std::vector<Found> found;
  std::vector<std::string> earlier;  // ids of failures that the part before resuming found
  u64 runs = 0;                      // of the whole search
  u64 fresh_runs = 0;                // of this invocation
  double seconds = 0;                // of this invocation
  double search_seconds = 0;         // the same without minimising
  bool interrupted = false, out_of_time = false;
  bool one_thread = false;                  // no run had a second thread: there is nothing to schedule
  u64 pairs = 0;                            // racing and suspected pairs known in the end
  std::set<std::pair<u32, u32>> created;    // of these, the ones that racefuzzer brought together
  std::set<std::pair<u32, u32>> deadlocks;  // potential ones
  std::set<std::pair<u32, u32>> deadlocks_created;  // of these, the ones that a run after them ended in
  bool kept_going = false;                          // the search did not stop at the first failure
  finding::RunLog races;  // what the detecting runs reported, in order of their numbers
  u64 restarts = 0, leftovers = 0;
  u64 most_output = 0;               // bytes, of one run
  std::set<std::string> incomplete;  // what could not be controlled
  std::string warning;               // the record could not be written
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
  void run_round(Round& round);
  void work(exec::Worker& worker, Round& round);
  void finish_run(exec::Worker& worker, u64 index, const exec::Plan& plan, exec::Execution execution,
                  Round& round);
  /// The failure of an execution, with id; the logs are taken if it has one.
  std::optional<finding::Failure> identified_failure(exec::Worker& worker, const exec::Execution& execution,
                                                     finding::RunLogs& logs);
  void minimise(Found& found);
  /// Whether it takes the memory model to fail so.
  void try_without_model(Found& found);
  void keep(Found& found);
  /// Runs `job` on another thread; tells the listener how it goes and passes a stop on.
  void ticking(const std::function<void()>& job, bool timed, const char* phase);
  double elapsed() const;

  SearchSetup setup_;
  finding::Names& names_;
  SearchListener& listener_;
  exec::Oracle oracle_;
  Portfolio portfolio_;
  exec::Store store_;
  std::vector<std::unique_ptr<exec::Worker>> workers_;
  const std::atomic<bool>* stop_ = nullptr;
  std::atomic<bool> halt_{false};  // ends what the workers are doing
  std::atomic<u64> done_{0};       // runs of this invocation
  std::atomic<u64> failures_{0};
  SavedSearch state_;
  SearchResult result_;
  std::mutex names_lock_;         // names_
  std::mutex result_lock_;        // result_ while workers run, and what Round says
  bool several_strands_ = false;  // some run had a second thread; under result_lock_
  u64 resumed_at_ = 0;
  std::map<u64, finding::RunLog> races_;  // by run; under result_lock_
  double started_ = 0;
};

}  // namespace duress::search

#endif  // DURESS_SEARCH_SEARCH_H_
