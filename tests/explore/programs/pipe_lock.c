// SPDX-License-Identifier: Apache-2.0
//
// A pipe with one byte as a lock, as libuv and make have it: of two threads that wait for the byte one gets it, the other waits on.
//
// EXPECT-NO-FAILURE
// WITHIN: 100
// RUN-ARGS: read
// RUN-ARGS: poll
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int ends[2];
static int total;
static int polls;

static void lock(void) {
  char byte;
  if (!polls) {
    assert(read(ends[0], &byte, 1) == 1);
    return;
  }
  do {
    struct pollfd one = {ends[0], POLLIN, 0};
    assert(poll(&one, 1, -1) == 1 && one.revents == POLLIN);
  } while (read(ends[0], &byte, 1) != 1);
}

static void* add(void* unused) {
  for (int i = 0; i < 2; i++) {
    lock();
    total++;
    assert(write(ends[1], "x", 1) == 1);
  }
  return unused;
}

int main(int count, char** arguments) {
  polls = count > 1 && strcmp(arguments[1], "poll") == 0;
  assert(pipe(ends) == 0);
  if (polls) assert(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
  assert(write(ends[1], "x", 1) == 1);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, add, 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  assert(total == 6);
  return 0;
}
