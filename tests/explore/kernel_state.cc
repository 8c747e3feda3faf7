// SPDX-License-Identifier: Apache-2.0
//
// What an execution may do to its process, one thing for each word on the command line. Each prints what it
// finds before it changes it: in a process that was not put back, the second execution prints something else.
// After the word "first" it is done before the first choice of the execution. For rollback.py.
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

int counter = 0;
char large[1 << 20];
thread_local int of_thread = 7;
std::atomic<int> sum{0};

void touch_memory() {
  printf("counter %d, errno %d, of_thread %d\n", counter++, errno, of_thread++);
  errno = 5;
  for (size_t i = 0; i < sizeof large; i += 4096) printf("%d", large[i]++);
  auto* leaked = static_cast<char*>(malloc(300000));
  memset(leaked, 1, 300000);
  printf(" %p %p\n", static_cast<void*>(leaked), static_cast<void*>(new std::string(100, 'x')));
}
void grow_heap() {
  printf("%p\n", sbrk(0));
  for (int i = 0; i < 100; ++i) memset(malloc(20000), i, 20000);
  malloc_trim(0);
}
void map_memory() {
  void* a = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(a, 1, 1 << 20);
  void* b = mremap(a, 1 << 20, 4 << 20, MREMAP_MAYMOVE);
  printf("%p %p\n", a, b);
}
void protect_own_memory() {
  auto* page = reinterpret_cast<char*>((reinterpret_cast<unsigned long>(large) + 4095) & ~4095ul);
  printf("%d\n", page[0]++);
  mprotect(page, 4096, PROT_READ);
}
void drop_own_memory() {
  auto* page = reinterpret_cast<char*>((reinterpret_cast<unsigned long>(large) + 4095) & ~4095ul);
  printf("%d\n", page[8]++);
  madvise(page, 4096, MADV_DONTNEED);
}
void open_descriptor() {
  int fd = open("/dev/null", O_RDWR), two[2];
  printf("%d %d\n", fd, pipe(two));
}
void close_descriptors() {
  printf("%d\n", fcntl(0, F_GETFD));
  close(0);
  for (int fd = 3; fd < 2000; ++fd) close(fd);
}
void redirect() {
  printf("%d\n", fcntl(2, F_GETFD));
  dup2(open("/dev/null", O_RDWR), 2);
}
void handle_signal() {
  struct sigaction before = {}, ours = {};
  ours.sa_handler = [](int) { write(1, "handled\n", 8); };
  sigaction(SIGUSR1, &ours, &before);
  printf("%d\n", before.sa_handler == SIG_DFL);
  fflush(stdout);
  raise(SIGUSR1);
}
void block_signals() {
  sigset_t all, before;
  sigfillset(&all);
  sigemptyset(&before);
  sigprocmask(SIG_SETMASK, &all, &before);
  printf("%d\n", sigismember(&before, SIGTERM));
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, nullptr, 8);
}
void start_timer() {
  printf("%u\n", alarm(1000));
}
void change_folder() {
  char name[4096];
  printf("%d\n", strcmp(getcwd(name, sizeof name), "/"));
  chdir("/");
}
void change_mask() {
  printf("%o\n", umask(0));
}
void change_limit() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  printf("%lu\n", static_cast<unsigned long>(limit.rlim_cur));
  limit.rlim_cur -= 1;
  setrlimit(RLIMIT_NOFILE, &limit);
}
void change_name() {
  char name[16] = {};
  prctl(PR_GET_NAME, name);
  printf("%s\n", name);
  prctl(PR_SET_NAME, "another");
}
void fork_child() {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) _exit(counter);
  int status = 0;
  waitpid(pid, &status, 0);
  printf("%d %d\n", WEXITSTATUS(status), counter++);
}
void run_program() {
  fflush(stdout);
  if (vfork() == 0) {
    execl("/bin/echo", "echo", "hello", nullptr);
    _exit(1);
  }
  wait(nullptr);
}
void make_raw_thread() {
  static char stack[65536];
  static volatile int done = 0;  // not a schedule point: how long the thread takes is not controlled
  printf("%d\n", done);
  clone([](void*) { return done = 1, 0; }, stack + sizeof stack,
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, nullptr);
  while (done == 0) {
  }
}
void leave_thread() {
  printf("%d\n", sum.load());
  std::thread([] { pause(); }).detach();
}
void end_at_once() {
  printf("%d\n", counter++);
  fflush(stdout);
  _exit(3);
}
void end_in_thread() {
  std::thread([] {
    printf("%d\n", counter++);
    exit(4);
  }).join();
}
void end_main_thread() {
  std::thread([] { printf("%d\n", counter++); }).detach();
  pthread_exit(nullptr);
}
void crash() {
  printf("%d\n", counter++);
  fflush(stdout);
  *static_cast<volatile int*>(nullptr) = 1;
}
void own_stack() {
  static char stack[1 << 18] __attribute__((aligned(64)));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, sizeof stack);
  pthread_t id;
  pthread_create(
      &id, &attributes, [](void*) -> void* { return printf("%d\n", of_thread++), nullptr; }, nullptr);
  pthread_join(id, nullptr);
}
void many_threads() {
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> all;
    for (int i = 0; i < 8; ++i) all.emplace_back([] { sum += of_thread++; });
    for (std::thread& t : all) t.join();
  }
  printf("%d\n", sum.load());
}
void read_input() {
  char text[64] = {};
  printf("%zd %s\n", read(0, text, sizeof text - 1), text);
}
void deep_stack() {
  struct Deep {
    static int at(int level) {
      volatile char room[4096];
      room[0] = static_cast<char>(level);
      return level ? at(level - 1) + room[0] : 0;
    }
  };
  printf("%d\n", Deep::at(400));
}
void write_much() {
  size_t bytes = size_t{64} << 20;
  auto* block = static_cast<char*>(malloc(bytes));
  memset(block, 1, bytes);
  printf("%d\n", block[counter++]);
}

void scribble() {
  printf("%d\n", counter++);
  fflush(stdout);
  auto* block = static_cast<char*>(malloc(100));
  memset(block - 16, 0x5a, 4000);  // the heap's own words, before the block and behind it
  memset(large, 0x5a, sizeof large);
  free(block);
  free(malloc(5000));
}
void exhaust_memory() {
  rlimit none = {};
  getrlimit(RLIMIT_AS, &none);
  none.rlim_cur = 0;  // nobody gets any more
  setrlimit(RLIMIT_AS, &none);
  printf("%d %d\n", malloc(size_t{1} << 30) == nullptr, counter++);
}
void become_another() {
  printf("%d\n", counter++);
  fflush(stdout);
  execl("/bin/echo", "echo", "another program", nullptr);
}
void kill_itself() {
  printf("%d\n", counter++);
  fflush(stdout);
  kill(getpid(), SIGKILL);
}
void never_end() {
  for (volatile int turns = 0;; turns = turns + 1) {
  }
}

struct Word {
  const char* name;
  void (*act)();
};
constexpr Word kWords[] = {{"memory", touch_memory},
                           {"heap", grow_heap},
                           {"map", map_memory},
                           {"protect", protect_own_memory},
                           {"drop", drop_own_memory},
                           {"open", open_descriptor},
                           {"close", close_descriptors},
                           {"redirect", redirect},
                           {"handler", handle_signal},
                           {"block", block_signals},
                           {"timer", start_timer},
                           {"folder", change_folder},
                           {"umask", change_mask},
                           {"limit", change_limit},
                           {"name", change_name},
                           {"fork", fork_child},
                           {"exec", run_program},
                           {"clone", make_raw_thread},
                           {"leave", leave_thread},
                           {"_exit", end_at_once},
                           {"exit-thread", end_in_thread},
                           {"end-main", end_main_thread},
                           {"crash", crash},
                           {"own-stack", own_stack},
                           {"many", many_threads},
                           {"input", read_input},
                           {"deep", deep_stack},
                           {"much", write_much},
                           {"scribble", scribble},
                           {"exhaust", exhaust_memory},
                           {"become", become_another},
                           {"kill", kill_itself}};
constexpr Word kEndless = {"endless", never_end};  // for those who have a limit

}  // namespace

int main(int count, char** words) {
  auto act = [&](int i) {
    for (; i < count; ++i) {
      for (const Word& word : kWords) {
        if (strcmp(word.name, words[i]) == 0) word.act();
      }
      if (strcmp(kEndless.name, words[i]) == 0) kEndless.act();
    }
  };
  bool first = count > 1 && strcmp(words[1], "first") == 0;
  if (first) {
    std::thread([] {}).join();  // an execution begins here
    act(2);
  }
  auto work = [] {
    for (int i = 0; i < 5; ++i) sum.fetch_add(i);
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  if (!first) act(1);
  printf("sum %d\n", sum.load());
  if (count == 1) {
    for (const Word& word : kWords) puts(word.name);
  }
  return 0;
}
