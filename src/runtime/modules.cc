// SPDX-License-Identifier: Apache-2.0
#include "runtime/modules.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "base/check.h"
#include "base/prng.h"
#include "runtime/openmp_tool.h"
#include "trail/site_key.h"

namespace duress {

static u64 hash_of(const DuressSite* sites, u64 bytes) {
  u64 hash = bytes;
  for (u64 at = 0; at + sizeof hash <= bytes; at += sizeof hash) {
    u64 word;
    memcpy(&word, reinterpret_cast<const char*>(sites) + at, sizeof word);
    hash = mix(hash ^ word);
  }
  return hash;
}

void executable_path(char* path, size_t size) {
  // The second is there too when the main thread has left by pthread_exit.
  long n = 0;
  for (const char* link : {"/proc/self/exe", "/proc/thread-self/exe"}) {
    if (n <= 0)
      n = raw_syscall(SYS_readlink, reinterpret_cast<long>(link), reinterpret_cast<long>(path),
                      static_cast<long>(size - 1));
  }
  path[n > 0 ? n : 0] = 0;
  const char* given = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (n <= 0 && given && strlen(given) < size) strcpy(path, given);
}

/// Objects of several versions can be in one file, which keeps the constructor of one of them. So each unit's
/// header is looked at; where one is not found, the sites before it have another layout than ours.
static bool is_of_this_version(const DuressModule* module) {
  if (module->version != DURESS_HOOK_VERSION) return false;
  const DuressSite* at = module->sites_begin;
  while (at < module->sites_end) {
    DuressSiteHeader header;
    static_assert(sizeof header == sizeof *at);
    memcpy(&header, at, sizeof header);
    static constexpr DuressSiteHeader kPadding{};  // the linker aligned the next unit
    bool padding = memcmp(&header, &kPadding, sizeof header) == 0;
    if (!padding && (memcmp(header.magic, "DURS", 4) != 0 || header.version != DURESS_HOOK_VERSION))
      return false;
    at += 1 + (padding ? 0 : header.sites);
  }
  return true;
}

void Modules::add_instrumented(const DuressModule* module) {
  if (!is_of_this_version(module)) {
    fatal("an object or library was built with another version of duress-cc",
          "build everything with the same one");
  }
  Instrumented m;
  m.begin = reinterpret_cast<u64>(module->sites_begin);
  m.bytes = reinterpret_cast<u64>(module->sites_end) - m.begin;
  bool first = first_.bytes == 0;
  m.hash = first ? 0 : hash_of(module->sites_begin, m.bytes);  // the first one is never unloaded
  if (knows(m)) return;
  m.first = add(m);
  if (first) first_ = m;
}

u32 Modules::add(Instrumented m) {
  SpinGuard guard(lock_);
  u32 n = count_.load(std::memory_order_relaxed);
  m.first = next_site_;
  if (n == kMost) fatal("more than 1024 instrumented modules were loaded");
  instrumented_[n] = m;
  next_site_ += static_cast<u32>(m.bytes / sizeof(DuressSite));
  count_.store(n + 1, std::memory_order_release);
  return m.first;
}

void Modules::number_code_sites() {
  Instrumented m;
  m.begin = reinterpret_cast<u64>(code_.begin());
  m.bytes = CodeSites::kMost * sizeof(DuressSite);
  m.hash = 0;
  code_first_ = add(m);
}

/// Whether this module was here before, and no other since: plugins are loaded and unloaded again and again.
bool Modules::knows(const Instrumented& m) const {
  for (u32 i = count_.load(std::memory_order_relaxed); i-- > 1;) {
    const Instrumented& old = instrumented_[i];
    if (old.begin == m.begin && old.bytes == m.bytes && old.hash == m.hash) return true;
    if (old.begin < m.begin + m.bytes && m.begin < old.begin + old.bytes) return false;
  }
  return false;
}

SiteId Modules::site_id_slow(const DuressSite* site) const {
  u64 at = reinterpret_cast<u64>(site);
  for (u32 i = count_.load(std::memory_order_acquire); i-- > 0;) {
    const Instrumented& m = instrumented_[i];
    if (at - m.begin < m.bytes) return static_cast<SiteId>(m.first + (at - m.begin) / sizeof(DuressSite));
  }
  return kNoSite;
}

const DuressSite* Modules::site(SiteId id) const {
  for (u32 i = count_.load(std::memory_order_acquire); i-- > 0;) {
    const Instrumented& m = instrumented_[i];
    u64 index = u64{raw(id)} - m.first;
    if (index < m.bytes / sizeof(DuressSite)) return reinterpret_cast<const DuressSite*>(m.begin) + index;
  }
  return nullptr;
}

static bool file_begins(const char* path, const char* name) {
  const char* slash = strrchr(path, '/');
  return strncmp(slash ? slash + 1 : path, name, strlen(name)) == 0;
}

/// LLVM's and Intel's OpenMP runtime.
static bool is_libomp(const char* path) {
  return file_begins(path, "libomp") || file_begins(path, "libiomp");
}

bool modules_have(const char* name) {
  auto each = [](dl_phdr_info* info, size_t, void* wanted) -> int {
    return info->dlpi_name && file_begins(info->dlpi_name, static_cast<const char*>(wanted));
  };
  return dl_iterate_phdr(each, const_cast<char*>(name)) != 0;
}

struct Modules::Visit {
  Modules* modules;
  bool begun = false;
  char executable[4096];

  /// The loader holds its lock from the first module to the last, so no other thread sees the count in
  /// between.
  static int each(dl_phdr_info* info, size_t, void* self) {
    auto& visit = *static_cast<Visit*>(self);
    if (!visit.begun && !visit.begin(*info)) return 1;
    visit.module(*info);
    return 0;
  }

  /// Whether modules may have come since the last visit; a trace asks before each of its steps.
  bool begin(const dl_phdr_info& info) {
    begun = true;
    if (modules->loaded_ && modules->loads_seen_ == info.dlpi_adds) return false;
    modules->loads_seen_ = info.dlpi_adds;
    executable_path(executable, sizeof executable);
    return true;
  }

  void module(const dl_phdr_info& info) {
    u64 low = ~u64{0}, high = 0, name_hash = 1;
    const char* name = info.dlpi_name && *info.dlpi_name ? info.dlpi_name : executable;
    for (const char* c = name; *c; ++c) name_hash = mix(name_hash ^ static_cast<unsigned char>(*c));
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& p = info.dlpi_phdr[i];
      if (p.p_type != PT_LOAD) continue;
      u64 begin = info.dlpi_addr + p.p_vaddr, end = begin + p.p_memsz;
      low = begin < low ? begin : low;
      high = end > high ? end : high;
    }
    if (high == 0) return;
    for (Loaded* l = modules->loaded_; l; l = l->next) {
      if (l->base == info.dlpi_addr && l->low == low && l->name_hash == name_hash) return;
    }
    auto* l = modules->arena_.make<Loaded>();
    *l = {info.dlpi_addr, low, high, name_hash, modules->loaded_, modules->next_id_++};
    modules->loaded_ = l;
    log(info, *l, name);
  }

  void log(const dl_phdr_info& info, const Loaded& l, const char* name) {
    Text text(modules->arena_);
    text.put('{').key("t").quoted("module").key("id").number(l.id).key("path").quoted(name);
    text.key("base")
        .address(l.base)
        .key("low")
        .address(l.low)
        .key("high")
        .address(l.high)
        .key("build_id")
        .put('"');
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& p = info.dlpi_phdr[i];
      if (p.p_type == PT_NOTE)
        put_build_id(text, reinterpret_cast<const char*>(info.dlpi_addr + p.p_vaddr), p.p_memsz);
    }
    text.put('"').key("sites");
    u64 sites = 0;
    for (u32 i = 0; i < modules->count_.load(std::memory_order_acquire); ++i) {
      u64 begin = modules->instrumented_[i].begin;
      if (begin >= l.low && begin < l.high) sites = begin;
    }
    if (sites) {
      text.address(sites);
    } else {
      text.put("null");
    }
    if (g_openmp_seen && is_libomp(name)) text.key("ordered").number(1);
    text.put('}');
    modules->log_.write(text);
  }

  static void put_build_id(Text& text, const char* note, size_t size) {
    while (size >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) header;
      memcpy(&header, note, sizeof header);
      size_t name = (header.n_namesz + 3) & ~3u, description = (header.n_descsz + 3) & ~3u;
      size_t total = sizeof header + name + description;
      if (total > size) return;
      if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
          memcmp(note + sizeof header, "GNU", 4) == 0) {
        for (u32 i = 0; i < header.n_descsz; ++i) {
          auto byte = static_cast<unsigned char>(note[sizeof header + name + i]);
          text.put("0123456789abcdef"[byte >> 4]).put("0123456789abcdef"[byte & 15]);
        }
        return;
      }
      note += total;
      size -= total;
    }
  }
};

void Modules::log_new() {
  Visit visit;
  visit.modules = this;
  dl_iterate_phdr(&Visit::each, &visit);
}

/// The module that a return address lies in, if a site can be made of it.
const Modules::Loaded* Modules::module_of_code(uptr pc) const {
  for (const Loaded* l = loaded_; l && pc; l = l->next) {
    if (pc > l->low && pc <= l->high && pc - l->base < trail::kCodeSite) return l;
  }
  return nullptr;
}

void Modules::put_site(Text& text, SiteId id) const {
  const DuressSite* at = site(id);
  if (at && code_.contains(at)) {
    uptr pc = code_.pc(at);
    if (const Loaded* l = module_of_code(pc)) {
      text.put('[').number(l->id).put(',').number(trail::kCodeSite | (pc - l->base)).put(']');
      return;
    }
  }
  for (Loaded* l = loaded_; at && l; l = l->next) {
    u64 address = reinterpret_cast<u64>(at);
    if (address < l->low || address >= l->high) continue;
    for (u32 i = count_.load(std::memory_order_acquire); i-- > 0;) {
      const Instrumented& m = instrumented_[i];
      if (address - m.begin >= m.bytes) continue;
      text.put('[').number(l->id).put(',').number((address - m.begin) / sizeof(DuressSite)).put(']');
      return;
    }
  }
  text.put("null");
}

void Modules::log_sites() {
  for (u32 i = 0; i < count_.load(std::memory_order_acquire); ++i) {
    const Instrumented& m = instrumented_[i];
    for (Loaded* l = loaded_; l; l = l->next) {
      if (m.begin < l->low || m.begin >= l->high) continue;
      Text text(arena_);
      text.put('{').key("t").quoted("sites").key("module").number(l->id).key("first").number(m.first);
      text.key("count").number(m.bytes / sizeof(DuressSite)).put('}');
      log_.write(text);
      break;
    }
  }
  log_code_sites();
}

void Modules::log_code_sites() {
  for (u32 i = 1; i < code_.count(); ++i) {
    uptr pc = code_.pc(code_.begin() + i);
    const Loaded* l = module_of_code(pc);
    if (!l) continue;
    Text text(arena_);
    text.put('{').key("t").quoted("sites").key("module").number(l->id).key("first").number(code_first_ + i);
    text.key("count").number(1).key("index").number(trail::kCodeSite | (pc - l->base)).put('}');
    log_.write(text);
  }
}

bool Modules::is_global(uptr address) const {
  for (Loaded* l = loaded_; l; l = l->next) {
    if (address >= l->low && address < l->high) return true;
  }
  return false;
}

}  // namespace duress
