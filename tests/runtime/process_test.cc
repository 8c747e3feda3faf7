// SPDX-License-Identifier: Apache-2.0
//
// fork in all its forms, exec, and the ends of a process.
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "fake_sync.h"

/// Waits for the child and gives its exit code.
static int code_of(pid_t pid) {
  int status = 0;
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
  return WEXITSTATUS(status);
}

/// In the child: whether the events are those of a fork, as an exit code.
static int as_child(int expected_before) {
  bool right = fake_count("before_fork") == expected_before && fake_count("after_fork_child") == 1 &&
               fake_count("after_fork_parent") == 0;
  // The child must be able to make threads and find them.
  pthread_t t;
  void* value = nullptr;
  right =
      right && pthread_create(
                   &t, nullptr, [](void*) -> void* { return const_cast<void*>(fake_self()); }, nullptr) == 0;
  right = right && pthread_join(t, &value) == 0 && fake_find("thread_joined", value, 0) >= 0;
  return right ? 0 : 1;
}

template <typename Fork>
static void forks(Fork make) {
  fake_clear();
  pid_t pid = make();
  if (pid == 0) syscall(SYS_exit_group, as_child(1));
  CHECK(code_of(pid) == 0);
  EXPECT_EVENTS({"before_fork", nullptr}, {"after_fork_parent", nullptr});
}

/// Runs f in a forked child whose output is caught.
template <typename F>
static int caught(F f, char* text, size_t room) {
  int p[2];
  CHECK(pipe(p) == 0);
  pid_t pid = fork();
  if (pid == 0) {
    dup2(p[1], 1);
    close(p[0]), close(p[1]);
    f();
    abort();
  }
  close(p[1]);
  size_t used = 0;
  for (ssize_t n; used < room - 1 && (n = read(p[0], text + used, room - 1 - used)) > 0;)
    used += static_cast<size_t>(n);
  text[used] = 0;
  close(p[0]);
  return code_of(pid);
}

static void ends() {
  char text[256];
  CHECK(caught([] { _exit(3); }, text, sizeof text) == 3 && strcmp(text, "ending 3\n") == 0);
  CHECK(caught([] { _Exit(4); }, text, sizeof text) == 4 && strcmp(text, "ending 4\n") == 0);
  CHECK(caught([] { quick_exit(5); }, text, sizeof text) == 5 && strcmp(text, "ending 5\n") == 0);
  CHECK(caught([] { syscall(SYS_exit_group, 6); }, text, sizeof text) == 6 &&
        strcmp(text, "ending 6\n") == 0);
  // The parent of a daemon ends with 0, and says so; the daemon goes on.
  int code = caught(
      [] {
        CHECK(daemon(1, 1) == 0);
        _exit(7);
      },
      text, sizeof text);
  CHECK(code == 0 && strstr(text, "ending 0\n") && strstr(text, "ending 7\n"));
}

static void execs() {
  char text[256];
  auto run = [&](auto f) {
    CHECK(caught(f, text, sizeof text) == 0);
    CHECK(strcmp(text, "a b\n") == 0);
  };
  run([] { execl("/bin/echo", "echo", "a", "b", nullptr); });
  run([] { execlp("echo", "echo", "a", "b", nullptr); });
  char* environment[] = {const_cast<char*>("X=b"), nullptr};
  run([&] { execle("/bin/sh", "sh", "-c", "echo a $X", nullptr, environment); });
  char* arguments[] = {const_cast<char*>("echo"), const_cast<char*>("a"), const_cast<char*>("b"), nullptr};
  run([&] { execv("/bin/echo", arguments); });
  run([&] { execvp("echo", arguments); });
  run([&] { execve("/bin/echo", arguments, environment); });
  run([&] { execvpe("echo", arguments, environment); });
  fake_clear();
  const char* missing = "/nothing/there";
  CHECK(execl(missing, "x", nullptr) == -1 && errno == ENOENT);
  EXPECT_EVENTS({"before_exec", missing});
}

static void clones() {
  alignas(16) static char stack[65536];
  fake_clear();
  int code = 9;
  // A copy of the process: like fork.
  int pid = clone([](void* n) { return fake_count("after_fork_child") == 1 ? *static_cast<int*>(n) : 1; },
                  stack + sizeof stack, SIGCHLD, &code);
  CHECK(code_of(pid) == 9);
  EXPECT_EVENTS({"before_fork", nullptr}, {"after_fork_parent", nullptr});
  // A thread past us.
  pid = clone([](void*) { return 8; }, stack + sizeof stack, CLONE_VM | SIGCHLD, nullptr);
  CHECK(code_of(pid) == 8);
  EXPECT_EVENTS({"incomplete", nullptr});
}

/// Asleep, vfork is the real one: the child borrows the parent's memory.
static void asleep() {
  fake_set_awake(0);
  static volatile int shared = 0;
  pid_t pid = vfork();
  if (pid == 0) {
    shared = 1;
    _exit(0);
  }
  CHECK(code_of(pid) == 0 && shared == 1);
}

int main() {
  fake_set_awake(1);
  forks([] { return fork(); });
  forks([] { return _Fork(); });
  forks([] { return static_cast<pid_t>(syscall(SYS_fork)); });
  forks([] { return vfork(); });
  ends();
  execs();
  clones();
  asleep();
}
