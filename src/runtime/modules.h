// SPDX-License-Identifier: Apache-2.0
//
// The executable and shared libraries of the process: which sites they bring, and where they lie, so
// that the host can make names of addresses.
#pragma once

#include "analysis/fasttrack/fasttrack.h"
#include "runtime/code_sites.h"
#include "runtime/log.h"

namespace duress {

/// The program's file. Where /proc is missing or forbidden: as it was named when it was started.
void executable_path(char* path, size_t size);

/// Whether a module is loaded whose file name begins so.
bool modules_have(const char* name);

/// Threads: site_id() any; the rest one at a time, under the reporter's lock or at load time.
class Modules {
 public:
  Modules(Arena& arena, Log& log) : arena_(arena), log_(log) {}

  /// An instrumented module was loaded.
  void add_instrumented(const DuressModule* module);

  /// The number of a site. The executable's sites come first and are found with one comparison.
  SiteId site_id(const DuressSite* site) const {
    SiteId id;
    return DURESS_LIKELY(known_site_id(site, &id)) ? id : site_id_slow(site);
  }
  /// The same if it needs no search.
  bool known_site_id(const DuressSite* site, SiteId* id) const {
    u64 offset = reinterpret_cast<u64>(site) - first_.begin;
    *id = static_cast<SiteId>(first_.first + offset / sizeof(DuressSite));
    return offset < first_.bytes;
  }
  /// Sites of code that has ThreadSanitizer's hooks instead of ours.
  CodeSites& code_sites() { return code_; }
  /// They get numbers. Called once.
  void number_code_sites();
  /// REQUIRES: a site of code_sites().
  SiteId code_site_id(const DuressSite* site) const {
    return static_cast<SiteId>(code_first_ + static_cast<u64>(site - code_.begin()));
  }
  /// Where a site lies in memory; null for those of library functions.
  const DuressSite* site(SiteId id) const;

  /// Writes a `module` line for every module that has none yet.
  void log_new();
  /// Writes a `sites` line for each instrumented module: which numbers its sites have in a trace.
  void log_sites();
  /// The next log_new() writes all of them (a fork child's log is another file).
  void forget_logged() { loaded_ = nullptr, next_id_ = 0; }
  /// Writes `[module,index]` or null.
  void put_site(Text& text, SiteId id) const;
  /// True if the address is in a module's data (a global).
  bool is_global(uptr address) const;

 private:
  struct Instrumented {
    u64 begin, bytes;
    u64 hash;   // of its sites
    u32 first;  // number of its first site
  };
  struct Loaded {
    u64 base, low, high;
    u64 name_hash;
    Loaded* next;
    u32 id;
  };
  struct Visit;
  SiteId site_id_slow(const DuressSite* site) const;
  bool knows(const Instrumented& m) const;
  u32 add(Instrumented m);
  const Loaded* module_of_code(uptr pc) const;
  void log_code_sites();

  Arena& arena_;
  Log& log_;
  SpinLock lock_;  // guards additions: code sites come at any time
  Instrumented first_ = {};
  static constexpr u32 kMost = 1024;
  Instrumented instrumented_[kMost] = {};
  std::atomic<u32> count_{0};
  u32 next_site_ = kFirstModuleSite;
  CodeSites code_;
  u32 code_first_ = 0;  // number of the first code site
  Loaded* loaded_ = nullptr;
  u64 loads_seen_ = 0;  // how many the loader had counted when loaded_ was written
  u32 next_id_ = 0;
};

}  // namespace duress
