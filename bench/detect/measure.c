// SPDX-License-Identifier: Apache-2.0
//
// measure RESULT PROGRAM ARGS...: runs a program and writes "seconds cpu_seconds peak_kib status" to RESULT.
// A program of its own, because Linux charges the memory that a process had before exec to the program it
// becomes: a child of Python would never seem smaller than Python.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time) {
  return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pid_t child = fork();
  if (child < 0) return 2;
  if (child == 0) {
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    _exit(127);
  }
  int status = 0;
  struct rusage usage;
  if (wait4(child, &status, 0, &usage) != child) return 2;
  clock_gettime(CLOCK_MONOTONIC, &end);
  FILE* result = fopen(argv[1], "w");
  if (result == NULL) return 2;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  fprintf(result, "%.6f %.6f %ld %d\n",
          (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9,
          seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss, code);
  fclose(result);
  return 0;
}
