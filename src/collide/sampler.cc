// SPDX-License-Identifier: Apache-2.0
#include "collide/sampler.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace duress::collide {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Duration kTrapCost = microseconds(20);     // of a trap that leads to nothing: bench/collide
constexpr Duration kSampleCost = microseconds(150);  // of a sample without its delay; then learned
constexpr std::size_t kMostArmed = 4096;             // each may cost the target a page of its own
constexpr std::size_t kMostAtOnce = 256;
constexpr std::size_t kMostMissed = 1024;
constexpr Duration kPatience = microseconds(500), kMostPatience = milliseconds(200);
constexpr int kWakesPerSample = 4;  // waking up costs the target too
constexpr int kBatchShare = 4;      // looking for code that runs may take a quarter of the budget
constexpr Duration kRefresh = milliseconds(20), kMostRefresh = milliseconds(1000);
constexpr Address kOwnStack = 64 * 1024;  // above the stack pointer: what is there is mostly the thread's own
constexpr Address kRedZone = 128;
constexpr std::uint64_t kEnough = 8;  // collisions of one instruction: then others get their turn

/// The part of [address, address + size) that one watchpoint can cover, as much as possible of it; of several
/// a random one.
std::pair<Address, unsigned> watchable(Address address, std::uint32_t size, Prng& prng) {
  for (unsigned piece : {8u, 4u, 2u, 1u}) {
    Address first = (address + piece - 1) & ~Address{piece - 1};
    if (first + piece > address + size) continue;
    Address pieces = (address + size - first) / piece;
    return {first + piece * prng.below(pieces), piece};
  }
  return {address, 1};
}

}  // namespace

Sampler::Sampler(pid_t pid, std::shared_ptr<Space> space, const SampleOptions& options, Hardware& hardware,
                 Time now)
    : space_(std::move(space)),
      options_(options),
      hardware_(hardware),
      budget_(options.limits, now),
      prng_(mix(options.seed)),
      recorder_(pid, *space_),
      expected_cost_(options.delay + kSampleCost),
      next_batch_(now),
      next_refresh_(now),
      refresh_interval_(kRefresh) {}

void Sampler::thread_started(pid_t tid, int number, int parent) {
  Thread& thread = threads_[tid];
  thread.number = number;
  recorder_.thread(number, parent, tid);
  for (const Hold& hold : holds_) watch_thread(hold, tid, thread);
}

void Sampler::thread_ended(pid_t tid) {
  if (auto ended = threads_.find(tid); ended != threads_.end()) {
    // Its watches end with it, so their hits are taken now.
    for (Hold& hold : holds_) {
      if (hold.collision.other_tid == 0) met(hold, tid, ended->second);
    }
    threads_.erase(ended);
  }
  for (auto it = holds_.begin(); it != holds_.end();) {
    if (it->collision.tid != tid) {
      ++it;
      continue;
    }
    clear_watches(*it);
    it = holds_.erase(it);
  }
}

bool Sampler::can_hold() const {
  // Another thread must be running, or nothing can collide.
  auto running =
      std::count_if(threads_.begin(), threads_.end(), [](const auto& entry) { return !entry.second.held; });
  return running >= 2 && holds_.size() < kWatches;
}

int Sampler::free_slot() const {
  for (int slot = 0; slot < hardware_.watches; ++slot) {
    bool taken =
        std::any_of(holds_.begin(), holds_.end(), [&](const Hold& hold) { return hold.slot == slot; });
    if (!taken) return slot;
  }
  return -1;
}

void Sampler::watch_thread(const Hold& hold, pid_t tid, Thread& thread) {
  if (hold.slot < 0 || tid == hold.collision.tid) return;
  std::unique_ptr<Watch>& watch = thread.watch[static_cast<std::size_t>(hold.slot)];
  if (!watch) {
    watch = Watch::open(tid);
    if (!watch) {
      // ESRCH: the thread is ending. ENOSPC: another process uses debug registers, so fewer are left.
      if (errno == ENOSPC) {
        hardware_.watches = std::min(hardware_.watches, hold.slot);
        if (hardware_.watches == 0) hardware_.problem = "all debug registers are in use";
      } else if (errno != ESRCH) {
        hardware_.problem = std::strerror(errno);
        hardware_.watches = 0;
      }
      return;
    }
    new_descriptors_.push_back(watch->fd());
  }
  watch->set(hold.watched, hold.watched_size, hold.collision.operand.writes);
}

bool Sampler::reached(pid_t tid, Address address, const Registers& registers, Time now) {
  ++counts_.fired;
  budget_.spend(kTrapCost);
  auto found = threads_.find(tid);
  Module* module = space_->module_at(address);
  if (found == threads_.end() || module == nullptr) return false;
  auto instruction = decode(module->bytes(address, 15), address - module->bias());
  if (!instruction || instruction->operands == 0) return false;
  const Operand& operand = instruction->operand[prng_.below(instruction->operands)];
  const Address data = operand.address(registers, module->bias());
  if (data - (registers[kRsp] - kRedZone) < kOwnStack) return false;
  if (!can_hold() || !budget_.affords(expected_cost_, now)) {
    if (missed_.size() < kMostMissed) missed_.push_back(address);
    return false;
  }

  Hold hold;
  Collision& collision = hold.collision;
  collision.tid = tid;
  collision.thread = found->second.number;
  collision.code = address;
  collision.instruction = *instruction;
  collision.operand = operand;
  collision.data = data;
  collision.registers = registers;
  hold.since = now;
  hold.until = now + options_.delay;
  hold.slot = free_slot();
  std::tie(hold.watched, hold.watched_size) = watchable(data, operand.size, prng_);
  // Watched first, read second: a change that is seen later was made while everybody was watched.
  for (auto& [other, thread] : threads_) watch_thread(hold, other, thread);
  if (hold.slot >= hardware_.watches) hold.slot = -1;
  collision.before.resize(operand.size);
  holds_.push_back(std::move(hold));
  Hold& kept = holds_.back();
  if (space_->memory().read(data, kept.collision.before.data(), operand.size) !=
      static_cast<long>(operand.size)) {
    kept.until = now;  // not mapped: the program is about to fault, with or without us
    kept.collision.before.clear();
  }
  found->second.held = true;
  ++counts_.samples;
  budget_.sampled(now);
  return true;
}

bool Sampler::met(Hold& hold, pid_t tid, Thread& thread) {
  if (hold.slot < 0 || tid == hold.collision.tid) return false;
  auto& watch = thread.watch[static_cast<std::size_t>(hold.slot)];
  if (!watch) return false;
  auto taken = watch->take();
  if (!taken) return false;
  hold.collision.other_tid = tid;
  hold.collision.other_thread = thread.number;
  hold.collision.hit = std::move(*taken);
  watch.reset();
  return true;
}

bool Sampler::met(Hold& hold) {
  return std::any_of(threads_.begin(), threads_.end(),
                     [&](auto& entry) { return met(hold, entry.first, entry.second); });
}

void Sampler::clear_watches(const Hold& hold) {
  if (hold.slot < 0) return;
  for (auto& [tid, thread] : threads_) {
    if (auto& watch = thread.watch[static_cast<std::size_t>(hold.slot)]) watch->clear();
  }
}

void Sampler::finish(Hold& hold, Time now) {
  Collision& collision = hold.collision;
  collision.held_microseconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<microseconds>(now - hold.since).count());
  bool readable = !collision.before.empty();
  if (readable) {
    collision.after.resize(collision.before.size());
    readable = space_->memory().read(collision.data, collision.after.data(), collision.after.size()) ==
               static_cast<long>(collision.after.size());
  }
  clear_watches(hold);
  if (!readable) return;
  bool found = false;
  auto add = [&] {
    found = true;
    recorder_.add(collision);
  };
  if (collision.other_tid != 0) add();
  while (met(hold)) add();
  if (!found && collision.before != collision.after) add();
  if (!found) return;
  ++counts_.hits;
  if (recorder_.seen(collision.code) >= kEnough) space_->retire(collision.code);
}

std::vector<pid_t> Sampler::due(Time now) {
  std::vector<pid_t> result;
  for (auto it = holds_.begin(); it != holds_.end();) {
    Hold& hold = *it;
    Collision& collision = hold.collision;
    if (now < hold.until && collision.other_tid == 0 && !met(hold)) {
      ++it;
      continue;
    }
    finish(hold, now);
    Time end = std::chrono::steady_clock::now();
    Duration cost = end - hold.since;
    budget_.spend(cost);
    expected_cost_ = (expected_cost_ * 7 + cost + kTrapCost) / 8;
    threads_[collision.tid].held = false;
    result.push_back(collision.tid);
    it = holds_.erase(it);
  }
  return result;
}

void Sampler::rearm_missed(std::size_t wanted) {
  for (; wanted > 0 && !missed_.empty(); --wanted) {
    Address address = missed_.front();
    missed_.pop_front();
    Module* module = space_->module_at(address);
    if (module == nullptr) continue;
    auto instruction = decode(module->bytes(address, 15), address);
    if (instruction && space_->breakpoints().arm(address, module->bytes(address, instruction->length)))
      ++counts_.armed;
  }
}

void Sampler::set_batch() {
  Breakpoints& breakpoints = space_->breakpoints();
  if (counts_.fired != std::exchange(fired_at_last_batch_, counts_.fired))
    batch_ = std::max<std::size_t>(1, batch_ / 2);
  else
    batch_ = std::min(batch_ * 2, kMostAtOnce);
  for (std::size_t i = 0; i < batch_ && breakpoints.count() + batch_ > kMostArmed; ++i)
    breakpoints.disarm(breakpoints.any());
  std::size_t old = std::min(batch_, missed_.size());
  rearm_missed(old);
  counts_.armed += space_->arm(batch_ - old, prng_);
}

void Sampler::pace(Time now) {
  if (threads_.size() < 2) return;
  if (budget_.overdrawn(now) && space_->breakpoints().count() != 0) {
    space_->breakpoints().disarm_all();
    batch_ = 1;
  }
  if (now < next_batch_ || !holds_.empty()) return;
  // Waking up costs credit too: too often, and there is never enough for a sample.
  if (!budget_.affords(expected_cost_, now)) {
    next_batch_ =
        std::max(budget_.when(expected_cost_, now), now + budget_.to_earn(expected_cost_) / kWakesPerSample);
    return;
  }
  Duration before = own_cpu_time();
  if (now >= next_refresh_) {
    space_->refresh();
    next_refresh_ = now + refresh_interval_;
    refresh_interval_ = std::min(refresh_interval_ * 2, kMostRefresh);
  }
  set_batch();
  Duration cost = own_cpu_time() - before;
  next_batch_ = now + (options_.limits.per_second > 0
                           ? kPatience
                           : std::clamp(budget_.to_earn(cost) * kBatchShare, kPatience, kMostPatience));
}

Time Sampler::wake(Time now) {
  Time result = now + std::chrono::hours(1);
  for (const Hold& hold : holds_) result = std::min(result, hold.until);
  if (threads_.size() >= 2 && holds_.empty()) result = std::min(result, std::max(next_batch_, now));
  return result;
}

std::vector<pid_t> Sampler::stop(Time now) {
  space_->breakpoints().disarm_all();
  for (Hold& hold : holds_) hold.until = now;
  return due(now);
}

}  // namespace duress::collide
