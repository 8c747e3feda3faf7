// SPDX-License-Identifier: Apache-2.0
// Everything that happens to a process while two threads work: forks, spawned programs, libraries that come and go,
// signals, blocked signals, threads that end, code that is written at run time, and an exec at the end. Prints what it
// counted; the output must not depend on who watches.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long shared, rounds;
static long signals;
static int stop;

__attribute__((noinline)) static long work(long n) {
  pthread_mutex_lock(&mutex);
  shared += n;
  long result = shared;
  pthread_mutex_unlock(&mutex);
  return result;
}

static void *busy(void *blocked) {
  if (blocked) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, 0);
  }
  for (;;) {
    work(1);
    if (__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) break;
  }
  if (blocked) {
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, 0, &now);
    if (!sigismember(&now, SIGTRAP)) puts("SIGTRAP is not blocked any more");
  }
  return 0;
}

static void on_signal(int number) {
  (void)number;
  __atomic_add_fetch(&signals, 1, __ATOMIC_RELAXED);
}

static void *short_lived(void *p) {
  work(1);
  return p;
}

static void fork_and_work(void) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    pthread_mutex_init(&mutex, 0);
    long before = work(0);
    for (int i = 0; i < 1000; i++) work(1);
    _exit(work(0) - before == 1000 ? 5 : 6);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 5) printf("the child ended with %x\n", status);
}

static void spawn(void) {
  pid_t pid;
  char *words[] = {"/bin/true", 0};
  int status = 0;
  if (posix_spawn(&pid, "/bin/true", 0, 0, words, environ) == 0) waitpid(pid, &status, 0);
  if (status != 0) printf("true ended with %x\n", status);
}

static void code_at_run_time(void) {
  static const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};  // mov eax, 42; ret
  void *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(page, code, sizeof code);
  int (*function)(void);
  memcpy(&function, &page, sizeof function);
  if (function() != 42) puts("the code at run time is wrong");
  munmap(page, 4096);
}

int main(int argc, char **argv) {
  if (argc > 2) {
    printf("after exec: %s\n", argv[2]);
    return 9;
  }
  rounds = argc > 1 ? atol(argv[1]) : 20;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, 0);
  pthread_t a, b;
  pthread_create(&a, 0, busy, 0);
  pthread_create(&b, 0, busy, &mutex);
  for (long i = 0; i < rounds; i++) {
    pthread_t c;
    pthread_create(&c, 0, short_lived, 0);
    fork_and_work();
    spawn();
    code_at_run_time();
    pthread_kill(a, SIGUSR1);
    void *library = dlopen("libz.so.1", RTLD_NOW);
    if (library) dlclose(library);
    pthread_join(c, 0);
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
  pthread_join(a, 0);
  pthread_join(b, 0);
  printf("rounds %ld, counted: %s\n", rounds, shared > 0 ? "yes" : "no");
  raise(SIGUSR1);
  if (__atomic_load_n(&signals, __ATOMIC_RELAXED) == 0) puts("no signal came");
  fflush(stdout);
  execl(argv[0], argv[0], "1", "again", (char *)0);
  return 1;
}
