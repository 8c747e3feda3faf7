// SPDX-License-Identifier: Apache-2.0
//
// Types and constants shared by instrumented code, the runtime and the host that reads a binary's
// site table. The functions are in hooks.def. Plain C layout: nothing here may depend on a library.
#ifndef DURESS_HOOKS_H_
#define DURESS_HOOKS_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

#define DURESS_HOOK_VERSION 5u

/// Where the shadow table is mapped: entry i says where the shadow of addresses i<<32 .. lies.
#define DURESS_SHADOW_TABLE 0x7fe00000u

/// What an access does. Kept in the site table, so that the target never needs it at run time.
enum DuressAccess {
  kDuressRead = 0,
  kDuressWrite = 1,
  kDuressAtomicRead = 2,
  kDuressAtomicWrite = 3,
  kDuressAtomicRmw = 4,
  kDuressFence = 5,
  kDuressFrame = 6,  // not an access: a frame of an inlined call, reached through DuressSite::inlined_at
};

enum DuressRmw {
  kDuressXchg = 0,
  kDuressAdd = 1,
  kDuressSub = 2,
  kDuressAnd = 3,
  kDuressOr = 4,
  kDuressXor = 5,
  kDuressNand = 6,
  kDuressMax = 7,
  kDuressMin = 8,
  kDuressUMax = 9,
  kDuressUMin = 10,
};

/// What DuressSite::variable names.
enum DuressVariable {
  kDuressUnknown = 0,  // `variable` is 0: nothing is known
  kDuressGlobal = 1,   // "counter", "ns::counter", "Type::static_member"
  kDuressField = 2,    // "Type::field" (for nested fields the outermost: "Outer::inner.x")
  kDuressArray = 3,    // an element: "a[]", "Type::field[]"
  kDuressLocal = 4,    // a local that escapes: "function()::x"
  kDuressPointee = 5,  // "*p": what a named pointer points at; heap blocks are named at run time
};

/// One place in the source that accesses memory: 32 bytes, in section `duress_sites`.
/// Offsets are into the string blob of the same translation unit; 0 is the empty string.
typedef struct DuressSite {
  uint32_t file;      // as the compiler saw it, joined with the compilation directory if relative
  uint32_t function;  // pretty name, e.g. "Cache::get" (no parameters, no return type)
  uint32_t variable;  // see DuressVariable
  uint32_t line;
  uint16_t column;
  uint8_t access;       // DuressAccess
  uint8_t size;         // bytes; 0: varies (ranges)
  uint32_t inlined_at;  // 1 + index in this translation unit of the kDuressFrame it was inlined into; 0: none
  uint32_t function_index;  // which byte of this translation unit's `duress_flags` chooses the body
  uint8_t variable_kind;    // DuressVariable
  uint8_t flags;            // DURESS_SITE_*
  uint16_t reserved;
} DuressSite;

#define DURESS_SITE_FAITHFUL 1u /* the site is in a faithful body, else in a checked one */
#define DURESS_SITE_VOLATILE 2u
#define DURESS_SITE_FLOAT 4u   /* the value is a floating-point number */
#define DURESS_SITE_POINTER 8u /* the value is an address */
#define DURESS_SITE_DECIDES                                                      \
  16u /* the program computes, compares or addresses with the value that is read \
       */

/// The first 32 bytes of each translation unit's part of `duress_sites`: the host walks the section
/// header by header. rel_* are relative to the address of the field itself.
typedef struct DuressSiteHeader {
  char magic[4];        // "DURS"
  uint16_t version;     // DURESS_HOOK_VERSION
  uint16_t features;    // DURESS_UNIT_*
  uint32_t sites;       // how many DuressSite follow
  int32_t rel_strings;  // → string blob, section `duress_strings`
  int32_t rel_flags;    // → this unit's bytes in `duress_flags`
  uint32_t functions;   // how many bytes there
  uint32_t strings_size;
  int32_t rel_quiet;  // → this unit's bytes in `duress_quiet`, one for each site
} DuressSiteHeader;

#define DURESS_UNIT_ONLY_CHECKED 1u /* built with -fduress=run: no function has a faithful body */

/// Which accesses of faithful bodies are performed without a call of their hook, by a test in the code: those
/// of sites whose byte in section `duress_quiet` is 1 (0 at start) to words of 8 bytes whose byte in
/// `__duress_watched` is 0. Word p has byte p / 8 modulo the size of the table; several share one.
#define DURESS_WATCHED_BITS 16

/// Which body a function runs; one byte per function in section `duress_flags`, 0 at start.
#define DURESS_BODY_PLAIN 0
#define DURESS_BODY_CHECKED 1
#define DURESS_BODY_FAITHFUL 2

/// Handed to __duress_module_init; one per executable or shared library (section bounds are per module).
typedef struct DuressModule {
  uint32_t version;
  uint32_t reserved;
  const DuressSite* sites_begin;  // __start_duress_sites
  const DuressSite* sites_end;    // __stop_duress_sites
  uint8_t* flags_begin;           // __start_duress_flags
  uint8_t* flags_end;             // __stop_duress_flags
} DuressModule;

/// One call frame of the thread's shadow call stack; pushed by checked and faithful bodies.
typedef struct DuressFrame {
  uint64_t return_address;  // into the caller
  uint64_t node;            // 0 when pushed; the runtime interns the stack here when it first needs it
} DuressFrame;

/// Which bytes this thread has read and written in its current epoch: the memory is divided into blocks, and
/// block b has entry b & filter_index, if `key` says so. Private to the thread, 72 bytes for 256 of memory,
/// so that it stays in the caches where shadow cells (512 bytes for them) do not, and threads that read the
/// same memory write nothing that they share.
#define DURESS_FILTER_BLOCK_BITS 8
#define DURESS_FILTER_GRANULES 32u /* of 8 bytes in a block */
#define DURESS_FILTER_KEY_SHIFT 8  /* (p & filter_blocks) << this | filter_tag is the key of p's block */

typedef struct DuressFilterEntry {
  uint64_t key;
  uint8_t read[DURESS_FILTER_GRANULES];     // a bit for each byte
  uint8_t written[DURESS_FILTER_GRANULES];  // likewise
} DuressFilterEntry;

/// What instrumented code reads of its thread, inline. `__duress_self`, thread-local, initial-exec.
/// At first no access is found in the filter, so the slow path is taken and registers the thread.
typedef struct DuressSelf {
  DuressFilterEntry* filter;
  uint64_t filter_index;   // number of entries, a power of two, - 1
  uint64_t filter_blocks;  // ~255; 0: all addresses have the same key (a filter that contains everything)
  uint64_t filter_tag;     // of the epoch, 16 bits; 0: nothing of this epoch is in the filter
  DuressFrame* frames;     // next free frame of the shadow call stack
} DuressSelf;

#endif  // DURESS_HOOKS_H_
