// SPDX-License-Identifier: Apache-2.0
//
// A task for each node of a linked list: each on its own node, or all on the first.
//
// WRONG: heap block*|*value*
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "meet.h"

typedef struct Node {
  int value;
  struct Node* next;
} Node;
static int arrived;

int main(void) {
  Node* first = NULL;
  for (int i = 0; i < 2; i++) {
    Node* node = malloc(sizeof *node);
    node->value = i;
    node->next = first;
    first = node;
  }
#pragma omp parallel num_threads(2)
#pragma omp single
  for (Node* node = first; node; node = node->next) {
#pragma omp task firstprivate(node)
    {
      meet(&arrived);
#ifdef WRONG
      first->value++;
#else
      node->value++;
#endif
    }
  }
  return first->value < 0;
}
