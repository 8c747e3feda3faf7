// SPDX-License-Identifier: Apache-2.0
//
// A program that gives up most system calls (seccomp), and then has a race. With the argument "errno" what is not on the
// list fails with EPERM, with "kill" it ends the process, with "permits" too, but the list has what the runtime needs; with
// another one nothing is given up.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

static int counter, guarded;
static std::mutex guard;

static void add() {
  ++counter;
  std::lock_guard lock(guard);
  ++guarded;
}

static bool enter_sandbox(unsigned otherwise, bool for_runtime) {
  std::vector<unsigned> allowed = {SYS_read,
                                   SYS_write,
                                   SYS_mmap,
                                   SYS_munmap,
                                   SYS_mprotect,
                                   SYS_madvise,
                                   SYS_brk,
                                   SYS_futex,
                                   SYS_clone,
                                   SYS_clone3,
                                   SYS_set_robust_list,
                                   SYS_rseq,
                                   SYS_rt_sigprocmask,
                                   SYS_rt_sigaction,
                                   SYS_rt_sigreturn,
                                   SYS_exit,
                                   SYS_exit_group,
                                   SYS_newfstatat,
                                   SYS_fstat,
                                   SYS_sched_yield,
                                   SYS_gettid,
                                   SYS_getpid};
  // What the manual says that the runtime needs beside these.
  if (for_runtime)
    allowed.insert(allowed.end(), {SYS_sched_getaffinity, SYS_readlink, SYS_openat, SYS_close, SYS_fcntl,
                                   SYS_getppid, SYS_getcwd, SYS_tgkill, SYS_geteuid, SYS_prctl});
  std::vector<sock_filter> code;
  code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (unsigned number : allowed) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, otherwise));
  sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  bool refuses = std::strcmp(how, "errno") == 0, permits = std::strcmp(how, "permits") == 0;
  bool kills = permits || std::strcmp(how, "kill") == 0;
  unsigned otherwise = refuses ? SECCOMP_RET_ERRNO | 1 : SECCOMP_RET_KILL_PROCESS;
  if ((refuses || kills) && !enter_sandbox(otherwise, permits)) return 2;
  std::thread other(add);
  add();
  other.join();
  std::printf("%d\n", guarded);
}
