// SPDX-License-Identifier: Apache-2.0
#include "collide/watch.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace duress::collide {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kRingBytes = 8 * kPage;
constexpr std::size_t kStackBytes = 16 * 1024;  // of the thread's stack; deeper frames are cut off

// The kernel's numbers of the registers (asm/perf_regs.h) in our order.
constexpr std::array<int, kRegisters> kKernelNumber = {0,  3,  2,  1,  4,  5,  6,  7, 16,
                                                       17, 18, 19, 20, 21, 22, 23, 8};

constexpr std::uint64_t register_mask() {
  std::uint64_t mask = 0;
  for (int number : kKernelNumber) mask |= std::uint64_t{1} << number;
  return mask;
}

perf_event_attr attributes(Address address, unsigned size, bool reads_too) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_BREAKPOINT;
  attr.size = sizeof attr;
  attr.bp_type = reads_too ? HW_BREAKPOINT_RW : HW_BREAKPOINT_W;
  attr.bp_addr = address;
  attr.bp_len = size;
  attr.disabled = 1;
  attr.exclude_kernel = 1;  // what an unprivileged user may watch
  attr.exclude_hv = 1;
  attr.sample_period = 1;
  attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = register_mask();
  attr.sample_stack_user = kStackBytes;
  attr.wakeup_events = 1;
  return attr;
}

}  // namespace

std::unique_ptr<Watch> Watch::open(pid_t tid) {
  perf_event_attr attr = attributes(kPage, 8, false);
  int fd = static_cast<int>(syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (fd < 0) return nullptr;
  std::unique_ptr<Watch> watch(new Watch);
  watch->fd_ = fd;
  // Locked memory may run out with many threads; then hits are counted and have no stack.
  void* ring = mmap(nullptr, kPage + kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (ring != MAP_FAILED) watch->ring_ = ring;
  return watch;
}

Watch::~Watch() {
  if (ring_ != nullptr) munmap(ring_, kPage + kRingBytes);
  if (fd_ >= 0) close(fd_);
}

bool Watch::set(Address address, unsigned size, bool reads_too) {
  perf_event_attr attr = attributes(address, size, reads_too);
  if (ioctl(fd_, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) != 0) return false;
  if (charged_) return ioctl(fd_, PERF_EVENT_IOC_ENABLE, 0) == 0;
  charged_ = true;
  return ioctl(fd_, PERF_EVENT_IOC_REFRESH, 1) == 0;
}

void Watch::clear() {
  ioctl(fd_, PERF_EVENT_IOC_DISABLE, 0);
}

std::uint64_t Watch::count() const {
  std::uint64_t hits = 0;
  return ::read(fd_, &hits, sizeof hits) == sizeof hits ? hits : seen_;
}

void Watch::copy(std::uint64_t at, void* into, std::size_t size) const {
  const char* data = static_cast<const char*>(ring_) + kPage;
  std::size_t begin = at % kRingBytes;
  std::size_t first = std::min(size, kRingBytes - begin);
  std::memcpy(into, data + begin, first);
  std::memcpy(static_cast<char*>(into) + first, data, size - first);
}

std::optional<Hit> Watch::take() {
  std::uint64_t hits = count();
  if (hits == seen_) return std::nullopt;
  seen_ = hits;
  Hit hit;
  if (ring_ == nullptr) return hit;
  auto* control = static_cast<perf_event_mmap_page*>(ring_);
  std::uint64_t head = __atomic_load_n(&control->data_head, __ATOMIC_ACQUIRE);
  std::uint64_t tail = control->data_tail;
  while (tail < head) {
    perf_event_header header;
    copy(tail, &header, sizeof header);
    if (header.size < sizeof header) break;
    std::uint64_t at = tail + sizeof header, end = tail + header.size;
    tail = end;
    if (header.type != PERF_RECORD_SAMPLE || hit.detailed) continue;
    std::uint64_t abi = 0;
    copy(at, &abi, sizeof abi);
    at += sizeof abi;
    if (abi != PERF_SAMPLE_REGS_ABI_64) continue;
    for (std::uint64_t mask = register_mask(); mask != 0; mask &= mask - 1) {
      std::uint64_t value = 0;
      copy(at, &value, sizeof value);
      at += sizeof value;
      auto ours = std::find(kKernelNumber.begin(), kKernelNumber.end(), __builtin_ctzll(mask));
      hit.registers[static_cast<int>(ours - kKernelNumber.begin())] = value;
    }
    std::uint64_t size = 0, filled = 0;
    copy(at, &size, sizeof size);
    at += sizeof size;
    if (size != 0 && size <= kStackBytes && at + size + sizeof filled <= end) {
      copy(at + size, &filled, sizeof filled);
      hit.stack.resize(std::min(size, filled));
      copy(at, hit.stack.data(), hit.stack.size());
    }
    hit.detailed = true;
  }
  __atomic_store_n(&control->data_tail, head, __ATOMIC_RELEASE);
  return hit;
}

}  // namespace duress::collide
