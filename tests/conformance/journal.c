// SPDX-License-Identifier: Apache-2.0
#include "journal.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static struct JournalEntry entries[JOURNAL_MOST];
static unsigned count;

void journal(unsigned kind, unsigned thread, unsigned object, unsigned size, const void* bytes) {
  if (count == JOURNAL_MOST) return;
  struct JournalEntry* entry = &entries[count++];
  entry->kind = kind;
  entry->thread = thread;
  entry->object = object;
  entry->size = size;
  if (size) memcpy(entry->bytes, bytes, size);
}

void journal_write(void) {
  fwrite(entries, sizeof entries[0], count, stdout);
  fflush(stdout);
}

unsigned long journal_seed(void) {
  unsigned long seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) return 1;
  return seed;
}
