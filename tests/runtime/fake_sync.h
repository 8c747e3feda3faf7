/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for the runtime behind the interceptors: it records what they tell. Each test program then says
 * which events its own thread must have caused, in order, or which of two events came first. For C and C++.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

struct FakeEvent {
  const char* name;   /* the function of sync.h without its prefix; "locked_shared" for readers */
  const void* object; /* what it was called with; NULL in an expectation: any */
};

void fake_set_awake(int awake);
/* Forgets everything recorded so far. */
void fake_clear(void);
/* Compares what the calling thread caused since fake_clear with the list; ends the test if it differs. Uses
 * of locks and their making ("used", "changed") are left out: fake_find. */
void fake_expect(const char* file, int line, const struct FakeEvent* events, int count);
void fake_fail(const char* file, int line, const char* condition);
/* Where the first event of this kind stands in the common order of all threads, from `from` on; -1: nowhere.
 */
int fake_find(const char* name, const void* object, int from);
int fake_count(const char* name);
/* The second number of the n-th event: a size, a code, a descriptor. */
long fake_detail(int index);
const void* fake_object(int index);
/* The fake thread that the calling thread was told to be; NULL: none. */
const void* fake_self(void);

#ifdef __cplusplus
}
#endif

#define EXPECT_EVENTS(...)                                                                                 \
  do {                                                                                                     \
    const struct FakeEvent expected_events_[] = {__VA_ARGS__};                                             \
    fake_expect(__FILE__, __LINE__, expected_events_, sizeof expected_events_ / sizeof *expected_events_); \
    fake_clear();                                                                                          \
  } while (0)

#define EXPECT_NO_EVENTS()                    \
  do {                                        \
    fake_expect(__FILE__, __LINE__, NULL, 0); \
    fake_clear();                             \
  } while (0)

#define CHECK(condition) ((condition) ? (void)0 : fake_fail(__FILE__, __LINE__, #condition))
