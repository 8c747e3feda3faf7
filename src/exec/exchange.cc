// SPDX-License-Identifier: Apache-2.0
#include "exec/exchange.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace duress::exec {
namespace {

/// Memory that the target maps through our descriptor. Not a file: a full disk or a full /dev/shm would end
/// the target with SIGBUS in the middle of a run.
void* map(Descriptor& file, const char* name, u64 bytes, std::string& error) {
  file = Descriptor(memfd_create(name, MFD_CLOEXEC));
  void* memory = MAP_FAILED;
  if (file && ftruncate(file.get(), static_cast<off_t>(bytes)) == 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory != MAP_FAILED) return memory;
  error = std::string("cannot share memory with the program: ") + std::strerror(errno);
  error += errno == EFBIG ? "; raise the limit on file sizes (ulimit -f)" : "; give it more memory";
  return nullptr;
}

/// Where another process of ours opens it.
std::string path_of(const Descriptor& file) {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file.get());
}

/// The target may have written any count.
template <typename T>
void assign(std::vector<T>& list, const T* items, u64 count, u64 most) {
  list.assign(items, items + std::min(count, most));
}

}  // namespace

std::unique_ptr<Exchange> Exchange::make(std::string& error) {
  std::unique_ptr<Exchange> exchange(new Exchange);
  exchange->request_ = static_cast<trail::Request*>(
      map(exchange->request_file_, "duress-request", trail::kRequestBytes, error));
  if (exchange->request_ == nullptr) return nullptr;
  exchange->record_ =
      static_cast<trail::Record*>(map(exchange->record_file_, "duress-record", trail::kRecordBytes, error));
  if (exchange->record_ == nullptr) return nullptr;
  return exchange;
}

Exchange::~Exchange() {
  if (request_ != nullptr) munmap(request_, trail::kRequestBytes);
  if (record_ != nullptr) munmap(record_, trail::kRecordBytes);
}

std::string Exchange::request_path() const {
  return path_of(request_file_);
}

std::string Exchange::record_path() const {
  return path_of(record_file_);
}

bool Exchange::put(const Plan& plan, bool may_skip_known) {
  trail::Request head = plan.head;
  head.skip_known = head.skip_known && may_skip_known;
  head.site_count = static_cast<u32>(plan.sites.size());
  head.wait_site_count = static_cast<u32>(plan.wait_sites.size());
  head.pair_count = static_cast<u32>(plan.pairs.size());
  head.deviation_count = plan.trail.size();
  head.prediction_count = static_cast<u32>(plan.predictions.size());
  head.edit_count = static_cast<u32>(plan.edits.size());
  head.planned_count = static_cast<u32>(plan.planned.size());
  head.pick_count = static_cast<u32>(plan.picks.size());
  if (head.bytes() > trail::kRequestBytes) return false;
  *request_ = head;
  std::ranges::copy(plan.sites, request_->sites().begin());
  std::ranges::copy(plan.wait_sites, request_->wait_sites().begin());
  std::ranges::copy(plan.pairs, request_->pairs().begin());
  std::ranges::copy(plan.trail, request_->trail().begin());
  std::ranges::copy(plan.predictions, request_->predictions().begin());
  std::ranges::copy(plan.edits, request_->edits().begin());
  std::ranges::copy(plan.planned, request_->planned().begin());
  std::ranges::copy(plan.picks, request_->picks().begin());
  *record_ = trail::Record{};
  if (head.systematic) {
    exhaustive::StepLog& log = *step_log();
    log.count = log.limits = log.room = 0;
    log.strands = static_cast<u32>(std::max<std::size_t>(1, plan.origins.size()));
    log.spins = static_cast<u32>(plan.spins.size());
    std::copy(plan.origins.begin(), plan.origins.end(), log.origins);
    std::copy(plan.spins.begin(), plan.spins.end(), log.spin);
  }
  return true;
}

u64 Exchange::steps() const {
  return __atomic_load_n(&record_->steps, __ATOMIC_RELAXED);
}

void Exchange::take(Execution& execution) const {
  execution.record = *record_;
  const trail::Record& record = execution.record;
  assign(execution.trail, record_->trail(), record.deviations, trail::kMostDeviations);
  assign(execution.future_values, record_->future_values(), record.future_value_count,
         trail::kMostFutureValues);
  assign(execution.atomic_profile, record_->atomic_profile(), record.atomic_profile_count,
         trail::kMostAtomicProfile);
  assign(execution.side_events, record_->side_events(), record.side_event_count, trail::kMostSideEvents);
  assign(execution.observed_pairs, record_->observed_pairs(), record.observed_pair_count,
         trail::kMostObservedPairs);
  assign(execution.switch_points, record_->switch_points(), record.switch_point_count,
         trail::kMostSwitchPoints);
  if (!request_->systematic) return;
  const exhaustive::StepLog& log = *step_log();
  execution.limits = log.limits;
  u32 steps = std::min(log.count, exhaustive::kMostSteps);
  execution.steps.assign(log.steps, log.steps + steps);
  for (const exhaustive::Step& step : execution.steps) {
    bool sound = step.strand < exhaustive::kMostStrands && step.other < exhaustive::kMostStrands &&
                 step.value <= exhaustive::kMostStrands && step.touches <= exhaustive::Step::kMostTouches;
    if (sound) continue;
    execution.steps.clear();  // the target wrote over them
    break;
  }
  execution.origins.assign(log.origins, log.origins + std::min(log.strands, exhaustive::kMostStrands));
  execution.spins.assign(log.spin, log.spin + std::min(log.spins, exhaustive::StepLog::kMostSpins));
}

exhaustive::StepLog* Exchange::step_log() const {
  return reinterpret_cast<exhaustive::StepLog*>(reinterpret_cast<char*>(record_) + trail::kStepsOffset);
}

}  // namespace duress::exec
