// SPDX-License-Identifier: Apache-2.0
//
// What the machine did, as it saw it: one entry for each operation, in the order of the execution. Written by
// code that is not instrumented, so that nobody else runs between an operation and its entry.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

enum JournalKind { kJournalLoad = 1, kJournalStore, kJournalRelease, kJournalAcquire, kJournalUpdate };

struct JournalEntry {
  unsigned kind;    // JournalKind
  unsigned thread;  // as the machine numbers them
  unsigned object;  // offset in the machine's memory, or number of a lock, a thread, an atomic
  unsigned size;    // bytes that were loaded or stored
  unsigned char bytes[16];
};

#define JOURNAL_MOST 8192

void journal(unsigned kind, unsigned thread, unsigned object, unsigned size, const void* bytes);
/// Writes all entries to standard output.
void journal_write(void);
/// A number that the execution's seed decides.
unsigned long journal_seed(void);

#ifdef __cplusplus
}
#endif
