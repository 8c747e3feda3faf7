// SPDX-License-Identifier: Apache-2.0
#include "runtime/call_patch.h"

#include <cpuid.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/raw.h"

extern "C" {
void duress_patched_call();
}
// From a stub, with the call's number in %rax, the place in %rcx and the address behind it in %r11: a system
// call may change those three. It changes nothing else, vector registers included, and there may be data of
// the caller below its stack pointer. Most calls are answered without vector registers, or end the thread:
// those are not saved then, which takes longer than the answer, and room on the stack, which is put back.
__asm__(R"(
  .text
  .globl duress_patched_call
  .hidden duress_patched_call
  .type duress_patched_call, @function
duress_patched_call:
    leaq -128(%rsp), %rsp
    pushq %r11
    pushq %rcx
    pushq %rbp
    pushq %rbx
    pushq %r9
    pushq %r8
    pushq %r10
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %rax
    movq %rsp, %rbx
    andq $-16, %rsp
    movq %rbx, %rdi
    callq duress_on_plain_call
    testl %eax, %eax
    jne 1f
    subq $2752, %rsp
    andq $-64, %rsp
    xorl %eax, %eax
    movq %rax, 512(%rsp)
    movq %rax, 520(%rsp)
    movq %rax, 528(%rsp)
    movq %rax, 536(%rsp)
    movq %rax, 544(%rsp)
    movq %rax, 552(%rsp)
    movq %rax, 560(%rsp)
    movq %rax, 568(%rsp)
    movl $0xe7, %eax  # x87, SSE, AVX, AVX-512
    xorl %edx, %edx
    xsave64 (%rsp)
    movq %rbx, %rdi
    callq duress_on_patched_call
    movl $0xe7, %eax
    xorl %edx, %edx
    xrstor64 (%rsp)
1:  movq %rbx, %rsp
    popq %rax
    popq %rdi
    popq %rsi
    popq %rdx
    popq %r10
    popq %r8
    popq %r9
    popq %rbx
    popq %rbp
    popq %rcx
    popq %r11
    leaq 128(%rsp), %rsp
    jmpq *%r11
  .size duress_patched_call, .-duress_patched_call
)");

namespace duress {
namespace {

constexpr u32 kStubBytes = 32;
constexpr u32 kJumpBytes = 5;
constinit u8* room = nullptr;  // stubs, and at its end the address of duress_patched_call()

bool has_xsave() {
  constexpr unsigned kOsXsave = 1u << 27;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kOsXsave) != 0;
}

}  // namespace

bool may_be_patched(long number) {
  switch (number) {
    case SYS_read:
    case SYS_write:
    case SYS_fstat:
    case SYS_newfstatat:
    case SYS_lseek:
    case SYS_ioctl:
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_madvise:
    case SYS_brk:
    case SYS_openat:
    case SYS_close:
    case SYS_futex:
    case SYS_sched_getaffinity:
    case SYS_rt_sigprocmask:
    case SYS_rseq:
    case SYS_set_robust_list:
    case SYS_exit:
    case SYS_exit_group:
    case SYS_clone3:  // answered, or the place is put back and performs it
      return true;
    default:
      return false;
  }
}

namespace {

int relative(const u8* at) {
  int value;
  memcpy(&value, at, sizeof value);
  return value;
}

bool fits(long distance) {
  return distance == static_cast<int>(distance);
}

bool is_prefix(u8 byte) {
  switch (byte) {
    case 0x66:
    case 0x67:
    case 0xf2:
    case 0xf3:
    case 0x64:
    case 0x65:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x26:
      return true;
    default:
      return (byte & 0xf0) == 0x40;
  }
}

/// The length of the patch in front of `after`: the call itself, and before it `mov $number, %eax` (7 bytes),
/// an `lea` with four bytes of displacement (9), or what the C library has before `exit` (6: `xor %edi, %edi;
/// mov %edx, %eax`) and `exit_group` (4: `mov %esi, %eax`). 0: something else, or it may be the end of
/// another instruction.
u32 patch_length(const u8* after, long number) {
  if (after[-2] != 0x0f || after[-1] != 0x05) return 0;
  if (after[-7] == 0xb8) return relative(after - 6) == number && !is_prefix(after[-8]) ? 7 : 0;
  if (number == SYS_exit)
    return after[-6] == 0x31 && after[-5] == 0xff && after[-4] == 0x89 && after[-3] == 0xd0 ? 6 : 0;
  // The jump needs a byte of the instruction behind it, to which a call that does not return never comes.
  if (number == SYS_exit_group)
    return after[-4] == 0x89 && after[-3] == 0xf0 && !is_prefix(after[-5]) ? 4 : 0;
  bool lea = (after[-9] == 0x48 || after[-9] == 0x4c) && after[-8] == 0x8d && !is_prefix(after[-10]);
  u8 mode = after[-7] >> 6, base = after[-7] & 7;
  bool rip = mode == 0 && base == 5, displaced = mode == 2 && base != 4;
  return lea && (rip || displaced) ? 9 : 0;
}

/// How much of the code is overwritten.
u32 written_length(u32 length) {
  return length < kJumpBytes ? kJumpBytes : length;
}

/// Whether the four bytes, as the distance of a long jump or call, go to one of the targets, and whether such
/// an instruction may end with them.
bool is_long_jump(const u8* distance, uptr call, uptr second) {
  uptr target =
      reinterpret_cast<uptr>(distance) + 4 + static_cast<uptr>(static_cast<long>(relative(distance)));
  if (target != call && target != second) return false;
  bool longer = distance[-2] == 0x0f && (distance[-1] & 0xf0) == 0x80;
  return longer || distance[-1] == 0xe8 || distance[-1] == 0xe9;
}

/// Whether a direct jump or call in the mapping goes to an instruction inside the patch, if any byte may
/// begin one. All bytes of a mapping are looked at (1.4 MB of the C library): so long jumps are found by
/// their distance, which is a comparison of words, and not by their first byte.
bool is_entered(uptr site, uptr after, uptr begin, uptr end) {
  uptr call = after - 2, second = after - site == 6 ? site + 2 : after - site == 4 ? after : call;
  constexpr uptr kBlock = 64;
  for (uptr block = begin + 2; block + 4 <= end; block += kBlock) {
    uptr block_end = block + kBlock + 4 <= end ? block + kBlock : end - 3;
    bool any = false;
    for (uptr at = block; at < block_end; ++at) {
      auto distance = static_cast<u32>(relative(reinterpret_cast<const u8*>(at)));
      any |= distance == static_cast<u32>(call - at - 4) || distance == static_cast<u32>(second - at - 4);
    }
    for (uptr at = block; any && at < block_end; ++at) {
      if (is_long_jump(reinterpret_cast<const u8*>(at), call, second)) return true;
    }
  }
  constexpr uptr kNear = 256;
  uptr from = site - begin > kNear ? site - kNear : begin, to = end - after > kNear ? after + kNear : end;
  for (uptr at = from; at + 2 <= to; ++at) {
    const auto* code = reinterpret_cast<const u8*>(at);
    bool shorter = code[0] == 0xeb || (code[0] & 0xf0) == 0x70 || (code[0] & 0xfc) == 0xe0;
    uptr target = at + 2 + static_cast<uptr>(static_cast<long>(static_cast<signed char>(code[1])));
    if (shorter && (target == call || target == second)) return true;
  }
  return false;
}

bool write_code(uptr at, const u8* bytes, u32 count) {
  uptr page = at & ~(kPageSize - 1), end = (at + count + kPageSize - 1) & ~(kPageSize - 1);
  auto size = static_cast<long>(end - page);
  if (raw_syscall(SYS_mprotect, static_cast<long>(page), size, PROT_READ | PROT_WRITE) != 0) return false;
  for (u32 i = 0; i < count; ++i) reinterpret_cast<volatile u8*>(at)[i] = bytes[i];
  return raw_syscall(SYS_mprotect, static_cast<long>(page), size, PROT_READ | PROT_EXEC) == 0;
}

struct Code {
  u8 bytes[kStubBytes];
  u32 count = 0;
  uptr at;  // where it will be

  void put(u8 byte) { bytes[count++] = byte; }
  void put_distance(uptr to) {  // from behind the four bytes
    auto distance = static_cast<int>(static_cast<long>(to - (at + count + 4)));
    memcpy(bytes + count, &distance, 4);
    count += 4;
  }
};

}  // namespace

void reserve_patch_room() {
  if (!has_xsave()) return;
  // Executable and not writable: no part of the image of memory.
  long at = raw_syscall(SYS_mmap, 0, kPageSize, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (at > 0) room = reinterpret_cast<u8*>(at);
}

void CallPatches::note(uptr after, long number) {
  for (u32 i = 0; i < count_; ++i) {
    if (sites_[i].after != after) continue;
    ++sites_[i].trapped;
    return;
  }
  if (count_ == kMost || !may_be_patched(number)) return;
  sites_[count_] = {};
  sites_[count_].trapped = 1;
  sites_[count_].number = static_cast<u32>(number);
  sites_[count_++].after = after;
}

bool CallPatches::is_sound(const Site& site, uptr begin, uptr end) const {
  constexpr u32 kReach = 16;
  if (site.after - kReach < begin || site.after + kReach > end) return false;
  u32 length = patch_length(reinterpret_cast<const u8*>(site.after), site.number);
  return length != 0 && !is_entered(site.after - length, site.after, begin, end);
}

bool CallPatches::patch(Site& site, u32 index) {
  const auto* after = reinterpret_cast<const u8*>(site.after);
  u32 length = patch_length(after, site.number);
  uptr start = site.after - length;
  auto stub = reinterpret_cast<uptr>(room) + index * kStubBytes;
  if (length == 0 || !fits(static_cast<long>(stub - site.after))) return false;
  Code code;
  code.at = stub;
  if (length != 9) {
    for (const u8* from = after - length; from < after - 2; ++from) code.put(*from);
  } else {
    for (u32 i = 0; i < 3; ++i) code.put(after[-9 + static_cast<int>(i)]);
    bool rip = (after[-7] >> 6) == 0;
    uptr target = site.after - 2 + static_cast<uptr>(static_cast<long>(relative(after - 6)));
    if (rip && !fits(static_cast<long>(target - stub))) return false;
    if (rip) {
      code.put_distance(target);
    } else {
      for (u32 i = 0; i < 4; ++i) code.put(after[-6 + static_cast<int>(i)]);
    }
  }
  for (u8 byte : {0x4c, 0x8d, 0x1d}) code.put(byte);  // lea after(%rip), %r11
  code.put_distance(site.after);
  for (u8 byte : {0x48, 0x8d, 0x0d}) code.put(byte);  // lea start(%rip), %rcx
  code.put_distance(start);
  for (u8 byte : {0xff, 0x25}) code.put(byte);  // jmp *slot(%rip)
  uptr slot = reinterpret_cast<uptr>(room) + kPageSize - sizeof(uptr);
  code.put_distance(slot);
  auto entry = reinterpret_cast<uptr>(&duress_patched_call);
  if (!write_code(slot, reinterpret_cast<const u8*>(&entry), sizeof entry) ||
      !write_code(stub, code.bytes, code.count))
    return false;
  Code jump;
  jump.at = start;
  jump.put(0xe9);
  jump.put_distance(stub);
  while (jump.count < length) jump.put(0x90);
  memcpy(site.original, reinterpret_cast<const void*>(start), written_length(length));
  if (!write_code(start, jump.bytes, jump.count)) return false;
  site.patched = static_cast<u8>(length);
  return true;
}

void CallPatches::patch_next(bool (*mapping)(uptr address, uptr* begin, uptr* end)) {
  if (!room || often_ == 0) return;
  u32 most = kAtOnce;
  for (u32 i = 0; i < count_ && most > 0; ++i) {
    Site& site = sites_[i];
    if (site.looked_at || site.trapped < often_) continue;
    --most;
    site.looked_at = true;
    uptr begin = 0, end = 0;
    site.sound = mapping(site.after - 1, &begin, &end) && is_sound(site, begin, end);
    if (site.sound) patch(site, i);
  }
}

void CallPatches::begin() {
  for (u32 i = 0; i < count_; ++i) {
    sites_[i].patched = 0;
    if (sites_[i].sound && room) patch(sites_[i], i);
  }
}

void CallPatches::undo() {
  for (u32 i = 0; i < count_; ++i) {
    Site& site = sites_[i];
    if (site.patched) write_code(site.after - site.patched, site.original, written_length(site.patched));
    site.patched = 0;
  }
}

}  // namespace duress
