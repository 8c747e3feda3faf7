// SPDX-License-Identifier: Apache-2.0
//
// Much of std::string is in libstdc++.so, which is not instrumented. What it copies and compares it does
// through memcpy, memcmp and strlen; so its calls of these count as accesses of the instrumented function
// that called it.
//
// Its slots in the global offset table are changed when the runtime wakes. Symbols of our own (as
// interceptors are) would catch every call of the process: an inert program's, the runtime's, and those of
// libraries whose synchronisation is not seen, and be in the way of each memcpy of each program.
//
// Who called: frames are walked from our function up to the first one outside of the C++ library. Where the
// frame of a return address ends is found by the unwinder once and remembered, for compiled code has one
// answer for each; a function with a frame pointer may not (alloca) and is unwound each time. An append to a
// string takes 45 ns under `duress run`; unwound each time 1,290.
#include "runtime/interceptors/library_imports.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "base/spin_lock.h"
#include "runtime/control.h"
#include "runtime/interceptors/library_access.h"
#include "runtime/startup.h"
#include "runtime/unwinding.h"

namespace duress {
namespace {

constexpr uptr kPage = 4096;

struct Range {
  uptr low, high;
  bool contains(uptr p) const { return p >= low && p < high; }
};

enum class Owner : u8 { kInstrumented, kCxxLibrary, kOther };

/// The loaded modules, as far as somebody has been there. Only ever added to.
struct KnownModules {
  static constexpr u32 kMost = 512;
  struct Entry {
    Range range;
    Owner owner;
  };
  Entry entries[kMost] = {};
  std::atomic<u32> count{0};
  SpinLock lock;

  const Entry* find(uptr p) const {
    u32 n = count.load(std::memory_order_acquire);
    for (u32 i = 0; i < n; ++i) {  // the executable is the first
      if (entries[i].range.contains(p)) return &entries[i];
    }
    return nullptr;
  }
  void add(Range range, Owner owner) {
    SpinGuard guard(lock);
    u32 n = count.load(std::memory_order_relaxed);
    if (n == kMost || find(range.low)) return;
    entries[n] = {range, owner};
    count.store(n + 1, std::memory_order_release);
  }
};

constinit KnownModules known;

/// The parts of a module's dynamic section that are needed.
struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * jumps = nullptr;
  size_t jump_count = 0;

  explicit Dynamic(const dl_phdr_info& module) {
    for (int i = 0; i < module.dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = module.dlpi_phdr[i];
      if (part.p_type == PT_DYNAMIC)
        read(module.dlpi_addr, reinterpret_cast<const ElfW(Dyn)*>(module.dlpi_addr + part.p_vaddr));
    }
    if (!symbols || !names || !jumps) jump_count = 0;
  }

  const char* name(const ElfW(Rela) & jump) const {
    return names + symbols[ELF64_R_SYM(jump.r_info)].st_name;
  }

 private:
  void read(uptr base, const ElfW(Dyn) * entry) {
    for (; entry->d_tag != DT_NULL; ++entry) {
      uptr value = entry->d_un.d_ptr;
      uptr address = value < base ? base + value : value;  // glibc's loader has added the base already
      if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(address);
      if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(address);
      if (entry->d_tag == DT_JMPREL) jumps = reinterpret_cast<const ElfW(Rela)*>(address);
      if (entry->d_tag == DT_PLTRELSZ) jump_count = value / sizeof(ElfW(Rela));
    }
  }
};

bool is_cxx_library(const dl_phdr_info& module) {
  if (!module.dlpi_name) return false;
  const char* slash = strrchr(module.dlpi_name, '/');
  const char* name = slash ? slash + 1 : module.dlpi_name;
  return strncmp(name, "libstdc++.so", 12) == 0 || strncmp(name, "libc++.so", 9) == 0;
}

/// The executable is, if the runtime is linked into it. Libraries call the runtime when they are loaded.
bool is_instrumented(const dl_phdr_info& module) {
  if (!module.dlpi_name || !*module.dlpi_name) return !g_preloaded;
  Dynamic dynamic(module);
  for (size_t i = 0; i < dynamic.jump_count; ++i) {
    if (strcmp(dynamic.name(dynamic.jumps[i]), "__duress_module_init") == 0) return true;
  }
  return false;
}

Range range_of(const dl_phdr_info& module) {
  Range range = {~uptr{0}, 0};
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module.dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    uptr begin = module.dlpi_addr + part.p_vaddr;
    range.low = begin < range.low ? begin : range.low;
    range.high = begin + part.p_memsz > range.high ? begin + part.p_memsz : range.high;
  }
  return range;
}

int learn_module(dl_phdr_info* module, size_t, void*) {
  Owner owner = is_cxx_library(*module)    ? Owner::kCxxLibrary
                : is_instrumented(*module) ? Owner::kInstrumented
                                           : Owner::kOther;
  known.add(range_of(*module), owner);
  return 0;
}

Owner owner_of(uptr pc) {
  const KnownModules::Entry* entry = known.find(pc);
  if (DURESS_UNLIKELY(!entry)) {
    Uncontrolled here;
    dl_iterate_phdr(&learn_module, nullptr);
    entry = known.find(pc);
  }
  return entry ? entry->owner : Owner::kOther;
}

/// Where the frame that a return address belongs to ends, relative to the frame of what it called.
class FrameSizes {
 public:
  uptr size(uptr pc, uptr frame) {
    Slot& slot = slots_[(pc ^ pc >> 9) % kSlots];
    u64 seen = slot.load(std::memory_order_relaxed);
    if (DURESS_LIKELY(seen >> kSizeBits == (pc & kPcMask))) return seen & kMostSize;
    bool same_always = false;
    uptr size = unwound_frame_size(pc, frame, &same_always);
    if (same_always && size <= kMostSize)
      slot.store((pc & kPcMask) << kSizeBits | size, std::memory_order_relaxed);
    return size;
  }

 private:
  using Slot = std::atomic<u64>;
  static constexpr u32 kSlots = 1024, kSizeBits = 16;
  static constexpr u64 kMostSize = (u64{1} << kSizeBits) - 1, kPcMask = (u64{1} << (64 - kSizeBits)) - 1;
  Slot slots_[kSlots];
};

constinit FrameSizes frame_sizes;

struct Redirection {
  const LibraryImport* imports;
  size_t count;

  static int each(dl_phdr_info* module, size_t size, void* self) {
    learn_module(module, size, nullptr);
    if (is_cxx_library(*module)) static_cast<Redirection*>(self)->redirect(*module);
    return 0;
  }

  void redirect(const dl_phdr_info& module) const {
    Dynamic dynamic(module);
    for (size_t i = 0; i < dynamic.jump_count; ++i) {
      for (size_t k = 0; k < count; ++k) {
        if (strcmp(dynamic.name(dynamic.jumps[i]), imports[k].name) != 0) continue;
        set(module, module.dlpi_addr + dynamic.jumps[i].r_offset, imports[k].ours);
      }
    }
  }

  /// A library that was bound at once has its table read-only.
  static void set(const dl_phdr_info& module, uptr slot, void* ours) {
    bool read_only = false;
    for (int i = 0; i < module.dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = module.dlpi_phdr[i];
      uptr begin = module.dlpi_addr + part.p_vaddr;
      read_only |= part.p_type == PT_GNU_RELRO && slot >= begin && slot < begin + part.p_memsz;
    }
    void* page = reinterpret_cast<void*>(slot & ~(kPage - 1));
    if (read_only && mprotect(page, kPage, PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n(reinterpret_cast<void**>(slot), ours, __ATOMIC_RELEASE);
    if (read_only) mprotect(page, kPage, PROT_READ);
  }
};

}  // namespace

void redirect_imports(const LibraryImport* imports, size_t count) {
  Redirection redirection = {imports, count};
  dl_iterate_phdr(&Redirection::each, &redirection);
}

bool is_instrumented_code(uptr pc) {
  return owner_of(pc) == Owner::kInstrumented;
}

bool is_known_instrumented_code(uptr pc) {
  const KnownModules::Entry* entry = known.find(pc);
  return entry && entry->owner == Owner::kInstrumented;
}

uptr instrumented_caller(uptr pc, uptr frame) {
  constexpr int kDeepest = 16;
  for (int depth = 0; depth < kDeepest; ++depth) {
    Owner owner = owner_of(pc);
    if (owner != Owner::kCxxLibrary) return owner == Owner::kInstrumented ? pc : 0;
    uptr size = frame_sizes.size(pc, frame);
    if (!size) return 0;
    frame += size;
    pc = *reinterpret_cast<const uptr*>(frame - sizeof(uptr));
  }
  return 0;
}

}  // namespace duress
