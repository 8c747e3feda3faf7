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

namespace {

/// With the lengths of the lists.
trail::Request head_of(const Plan& plan, bool may_skip_known) {
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
  head.ahead_count = 0;
  return head;
}

void write(const Plan& plan, const trail::Request& head, trail::Request& request) {
  request = head;
  std::ranges::copy(plan.sites, request.sites().begin());
  std::ranges::copy(plan.wait_sites, request.wait_sites().begin());
  std::ranges::copy(plan.pairs, request.pairs().begin());
  std::ranges::copy(plan.trail, request.trail().begin());
  std::ranges::copy(plan.predictions, request.predictions().begin());
  std::ranges::copy(plan.edits, request.edits().begin());
  std::ranges::copy(plan.planned, request.planned().begin());
  std::ranges::copy(plan.picks, request.picks().begin());
}

/// The target may have written anything.
bool are_sound(const std::vector<exhaustive::Step>& steps) {
  return std::ranges::all_of(steps, [](const exhaustive::Step& step) {
    return step.strand < exhaustive::kMostStrands && step.other < exhaustive::kMostStrands &&
           step.value <= exhaustive::kMostStrands && step.touches <= exhaustive::Step::kMostTouches;
  });
}

}  // namespace

bool Exchange::put(const Plan& plan, bool may_skip_known) {
  trail::Request head = head_of(plan, may_skip_known);
  if (head.bytes() > trail::kRequestBytes) return false;
  write(plan, head, *request_);
  *record_ = trail::Record{};
  if (count_ != 0) ahead().performed = count_ = 0;
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
  if (!are_sound(execution.steps)) execution.steps.clear();
  execution.origins.assign(log.origins, log.origins + std::min(log.strands, exhaustive::kMostStrands));
  execution.spins.assign(log.spin, log.spin + std::min(log.spins, exhaustive::StepLog::kMostSpins));
}

u32 Exchange::put_ahead(const std::vector<Plan>& plans, bool may_skip_known) {
  trail::Ahead& ahead = this->ahead();
  u64 at = sizeof ahead;
  for (const Plan& plan : plans) {
    trail::Request head = head_of(plan, may_skip_known);
    u64 bytes = head.bytes();
    if (count_ == trail::Ahead::kMost || bytes > trail::Ahead::kMostRequestBytes ||
        at + bytes > trail::kAheadBytes / 2)
      break;
    write(plan, head, *reinterpret_cast<trail::Request*>(ahead.at(at)));
    ahead.request_at[count_++] = at;
    at += bytes;
  }
  for (u32 i = 0; i < count_; ++i)
    reinterpret_cast<trail::Request*>(ahead.at(ahead.request_at[i]))->ahead_count = count_;
  request_->ahead_count = count_;
  ahead.performed = 0;
  if (request_->systematic) {
    ahead.strands = step_log()->strands;
    ahead.spins = step_log()->spins;
  }
  ahead.results = results_ = at;
  return count_;
}

u32 Exchange::performed() const {
  if (count_ == 0) return 0;
  return std::min(__atomic_load_n(&ahead().performed, __ATOMIC_ACQUIRE), count_);
}

bool Exchange::take_ahead(u32 index, const Plan& plan, Execution& execution) const {
  const trail::Ahead& ahead = this->ahead();
  u64 at = ahead.result_at[index];
  if (at % 8 != 0 || at < results_ || at > trail::kAheadBytes - sizeof(trail::AheadResult)) return false;
  const auto result = *reinterpret_cast<const trail::AheadResult*>(ahead.at(at));
  if (!result.fits() || !trail::is_quiet(result.record)) return false;
  trail::AheadResult::Layout layout = result.layout(sizeof(exhaustive::Step));
  if (layout.end > trail::kAheadBytes - at) return false;
  execution.record = result.record;
  auto copy = [&](auto& list, u64 begin, u64 count) {
    using Item = typename std::remove_reference_t<decltype(list)>::value_type;
    const auto* items = reinterpret_cast<const Item*>(ahead.at(at + begin));
    list.assign(items, items + count);
  };
  const trail::Record& record = result.record;
  copy(execution.trail, layout.trail, record.deviations);
  copy(execution.future_values, layout.future_values, record.future_value_count);
  copy(execution.atomic_profile, layout.atomic_profile, record.atomic_profile_count);
  copy(execution.side_events, layout.side_events, record.side_event_count);
  copy(execution.observed_pairs, layout.observed_pairs, record.observed_pair_count);
  copy(execution.switch_points, layout.switch_points, record.switch_point_count);
  if (!plan.head.systematic) return true;
  execution.limits = result.limits;
  copy(execution.steps, layout.steps, result.step_count);
  if (!are_sound(execution.steps)) execution.steps.clear();
  // It found no others: no execution would have followed it.
  execution.origins = plan.origins;
  if (execution.origins.empty()) execution.origins.emplace_back();
  execution.spins = plan.spins;
  return true;
}

trail::Ahead& Exchange::ahead() const {
  return trail::ahead_of(record_);
}

exhaustive::StepLog* Exchange::step_log() const {
  return reinterpret_cast<exhaustive::StepLog*>(reinterpret_cast<char*>(record_) + trail::kStepsOffset);
}

}  // namespace duress::exec
