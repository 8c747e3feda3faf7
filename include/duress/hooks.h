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

#define DURESS_HOOK_VERSION 1u

/// Where the shadow table is mapped: entry i says where the shadow of addresses i<<32 .. lies.
/// Below 2 GiB so that `[index * 8 + table]` needs no register for the base. See src/shadow.
#define DURESS_SHADOW_TABLE 0x7fe00000u
#define DURESS_REGION_BITS 32

/// The layout of the shadow, for the pass and for src/shadow/cell.h, which asserts it: a cell for each
/// granule, a write word and then a read word.
#define DURESS_GRANULE 8u
#define DURESS_CELL_BYTES 16u
#define DURESS_READ_WORD 8u /* offset in the cell */

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

/// The first 32 bytes of each translation unit's part of `duress_sites`: the host walks the section
/// header by header. rel_* are relative to the address of the field itself.
typedef struct DuressSiteHeader {
  char magic[4];        // "DURS"
  uint32_t version;     // DURESS_HOOK_VERSION
  uint32_t sites;       // how many DuressSite follow
  int32_t rel_strings;  // → string blob, section `duress_strings`
  int32_t rel_flags;    // → this unit's bytes in `duress_flags`
  uint32_t functions;   // how many bytes there
  uint32_t strings_size;
  uint32_t reserved;
} DuressSiteHeader;

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

/// What instrumented code reads of its thread, inline. `__duress_self`, thread-local, initial-exec.
/// All zero: nothing is ever "same epoch", so the slow path is taken and registers the thread.
typedef struct DuressSelf {
  uint64_t epoch_low;    // first access id of this thread's current epoch, << DURESS_ID_SHIFT
  uint64_t epoch_span;   // how many ids belong to it, << DURESS_ID_SHIFT
  DuressFrame* frames;   // next free frame of the shadow call stack
  uint64_t* read_cache;  // DURESS_READ_CACHE_ENTRIES words: reads of shared memory that this epoch has seen
  uint64_t read_tag;     // what marks an entry as of this epoch
} DuressSelf;

/// A shadow cell word: id:26 | old id:26 | four flag bits | 8 bits, one per byte, 0 = byte covered by id.
/// "Same epoch" is: (word - epoch_low) < epoch_span unsigned, and the accessed bytes' bits are all 0.
#define DURESS_ID_SHIFT 38

/// A read word with this bit holds two readers of the same bytes: `old id` may be the one of this epoch.
#define DURESS_TWO_READERS 512u
#define DURESS_OLD_ID_SHIFT 26 /* to the left: `old id` comes to where `id` was */

/// Memory that more threads read has one cell for all of them, so each thread also remembers for itself what
/// it has read: entry (p >> 3) % ENTRIES is (p & ~7) << 17 | tag | 8 bits, one per byte, 0 = read. A read is
/// known if entry ^ ((p & ~7) << 17 | read_tag) has only zeroes above bit 7 and in the bits of its bytes.
#define DURESS_READ_CACHE_ENTRIES 65536u
#define DURESS_READ_CACHE_SHIFT 17

#endif  // DURESS_HOOKS_H_
