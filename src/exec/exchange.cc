// SPDX-License-Identifier: Apache-2.0
#include "exec/exchange.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "exec/files.h"

namespace duress::exec {
namespace {

/// A full tmpfs kills the target with SIGBUS in the middle of a run: only one with room for many workers
/// will do. Containers often have 64 MiB.
constexpr unsigned long long kRoomWanted = 512ull << 20;

bool has_room(const char* folder) {
  struct statvfs info{};
  return access(folder, W_OK) == 0 && statvfs(folder, &info) == 0 &&
         static_cast<unsigned long long>(info.f_bavail) * info.f_frsize >= kRoomWanted;
}

void* map(const std::string& path, u64 bytes, std::string& error) {
  Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  void* memory = MAP_FAILED;
  if (file && ftruncate(file.get(), static_cast<off_t>(bytes)) == 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory != MAP_FAILED) return memory;
  error = "cannot make the file '" + path + "': " + std::strerror(errno) + "; give another folder with --dir";
  if (file) unlink(path.c_str());
  return nullptr;
}

/// The target may have written any count.
template <typename T>
void assign(std::vector<T>& list, const T* items, u64 count, u64 most) {
  list.assign(items, items + std::min(count, most));
}

/// Files in memory outlive a host that was killed; the next one removes them.
void remove_stale(const std::string& folder) {
  std::error_code code;
  for (std::filesystem::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    std::string name = it->path().filename();
    if (name.rfind("duress-", 0) != 0) continue;
    long pid = std::strtol(name.c_str() + 7, nullptr, 10);
    if (pid > 0 && kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) unlink(it->path().c_str());
  }
}

}  // namespace

std::unique_ptr<Exchange> Exchange::make(const std::string& folder, std::string& error) {
  static std::atomic<unsigned> count{0};
  std::string stem = has_room("/dev/shm") ? "/dev/shm" : folder;
  if (count == 0) remove_stale(stem);
  stem += "/duress-" + std::to_string(getpid()) + "-" + std::to_string(count++);
  std::unique_ptr<Exchange> exchange(new Exchange);
  exchange->request_path_ = stem + ".request";
  exchange->record_path_ = stem + ".record";
  // Left behind by a process of our number that was killed.
  unlink(exchange->request_path_.c_str());
  unlink(exchange->record_path_.c_str());
  exchange->request_ =
      static_cast<trail::Request*>(map(exchange->request_path_, trail::kRequestBytes, error));
  if (exchange->request_ == nullptr) return nullptr;
  exchange->record_ = static_cast<trail::Record*>(map(exchange->record_path_, trail::kRecordBytes, error));
  if (exchange->record_ == nullptr) return nullptr;
  return exchange;
}

Exchange::~Exchange() {
  if (request_ != nullptr) {
    munmap(request_, trail::kRequestBytes);
    unlink(request_path_.c_str());
  }
  if (record_ != nullptr) {
    munmap(record_, trail::kRecordBytes);
    unlink(record_path_.c_str());
  }
}

bool Exchange::put(const Plan& plan) {
  trail::Request head = plan.head;
  head.site_count = static_cast<u32>(plan.sites.size());
  head.wait_site_count = static_cast<u32>(plan.wait_sites.size());
  head.pair_count = static_cast<u32>(plan.pairs.size());
  head.deviation_count = plan.trail.size();
  head.prediction_count = static_cast<u32>(plan.predictions.size());
  head.edit_count = static_cast<u32>(plan.edits.size());
  head.pick_count = static_cast<u32>(plan.picks.size());
  if (head.bytes() > trail::kRequestBytes) return false;
  *request_ = head;
  std::ranges::copy(plan.sites, request_->sites().begin());
  std::ranges::copy(plan.wait_sites, request_->wait_sites().begin());
  std::ranges::copy(plan.pairs, request_->pairs().begin());
  std::ranges::copy(plan.trail, request_->trail().begin());
  std::ranges::copy(plan.predictions, request_->predictions().begin());
  std::ranges::copy(plan.edits, request_->edits().begin());
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

void Exchange::take(Execution& execution) const {
  execution.record = *record_;
  const trail::Record& record = execution.record;
  assign(execution.trail, record_->trail(), record.deviations, trail::kMostDeviations);
  assign(execution.future_values, record_->future_values(), record.future_value_count,
         trail::kMostFutureValues);
  assign(execution.atomic_profile, record_->atomic_profile(), record.atomic_profile_count,
         trail::kMostAtomicProfile);
  assign(execution.side_events, record_->side_events(), record.side_event_count, trail::kMostSideEvents);
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
