// SPDX-License-Identifier: Apache-2.0
#include "hits.h"

int hits = 0;
void serve() {
  hits += 1;
}
