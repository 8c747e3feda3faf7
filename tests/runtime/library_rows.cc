// SPDX-License-Identifier: Apache-2.0
#include "library_rows.h"

#include <set>
#include <string>

static const char* const kNames[] = {
#define DURESS_LIBRARY_CALL(result, name, ...) #name,
#define DURESS_LIBRARY_CALL_CXX DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_ELSEWHERE DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_PURE DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_PURE_CXX DURESS_LIBRARY_CALL
#define DURESS_LIBRARY_PROCEDURE(name, ...) #name,
#define DURESS_LIBRARY_FORMAT(result, name, ...) #name,
#include <duress/library_calls.def>
};

static std::set<std::string>& tested() {
  static std::set<std::string> names;
  return names;
}

void expect_row(const char* name, std::initializer_list<Touched> expected) {
  fake_set_awake(0);
  int recorded = 0, missing = 0;
  for (const char* how : {"read", "written", "release_fd", "release_stream", "acquire_fd", "forget_fd"})
    recorded += fake_count(how);
  for (const Touched& touched : expected) {
    int at = -1;
    do {
      at = fake_find(touched.how, touched.where, at + 1);
    } while (at >= 0 && static_cast<size_t>(fake_detail(at)) != touched.bytes);
    if (at < 0) {
      fprintf(stderr, "%s: not reported: %s %p, %zu bytes\n", name, touched.how, touched.where,
              touched.bytes);
      ++missing;
    }
  }
  if (missing || recorded != static_cast<int>(expected.size())) {
    fprintf(stderr, "%s: %d reported, %zu expected:\n", name, recorded, expected.size());
    for (int i = 0; i < recorded; ++i) fprintf(stderr, "  %p, %ld\n", fake_object(i), fake_detail(i));
    abort();
  }
  tested().insert(name);
  fake_clear();
  fake_set_awake(1);
}

void expect_all_rows(const char* first, const char* last) {
  fake_set_awake(0);
  bool inside = false, complete = true;
  for (const char* name : kNames) {
    inside |= strcmp(name, first) == 0;
    if (inside && !tested().count(name)) {
      fprintf(stderr, "%s has no row\n", name);
      complete = false;
    }
    if (strcmp(name, last) == 0) inside = false;
  }
  if (!complete) abort();
}
