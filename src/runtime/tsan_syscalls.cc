// SPDX-License-Identifier: Apache-2.0
//
// What programs that make system calls by themselves announce by <sanitizer/linux_syscall_hooks.h>: what the
// kernel reads and writes of their memory, and what descriptors order. Calls through the C library are
// intercepted and need none of this. The hooks of all other calls are here, too, and do nothing, so that a
// program that announces everything links.
#include "runtime/tsan_hooks.h"

// Weak: AddressSanitizer's runtime has hooks of the same names, and a program with both keeps those.
#define DURESS_SYSCALL_HOOK extern "C" __attribute__((visibility("default"), weak))

using namespace duress;

namespace {

/// The kernel reads or writes the program's memory.
void kernel_access(long p, long size, bool write, uptr pc) {
  if (g_runtime && p && size > 0)
    memory_accessed(reinterpret_cast<const void*>(p), static_cast<size_t>(size), write, pc);
}

}  // namespace

// What is written is known when the call is over; what is read, before.
#define DURESS_RECEIVE(name)                                                                               \
  DURESS_SYSCALL_HOOK void __sanitizer_syscall_pre_impl_##name() {}                                        \
  DURESS_SYSCALL_HOOK void __sanitizer_syscall_post_impl_##name(long result, long fd, long buffer, long) { \
    if (result <= 0) return;                                                                               \
    if (g_runtime) sync_acquire_fd(static_cast<int>(fd), DURESS_CALLER_PC);                                \
    kernel_access(buffer, result, true, DURESS_CALLER_PC);                                                 \
  }
#define DURESS_SEND(name)                                                                         \
  DURESS_SYSCALL_HOOK void __sanitizer_syscall_pre_impl_##name(long fd, long buffer, long size) { \
    kernel_access(buffer, size, false, DURESS_CALLER_PC);                                         \
    if (g_runtime) sync_release_fd(static_cast<int>(fd), DURESS_CALLER_PC);                       \
  }                                                                                               \
  DURESS_SYSCALL_HOOK void __sanitizer_syscall_post_impl_##name() {}
DURESS_RECEIVE(read)
DURESS_RECEIVE(pread64)
DURESS_RECEIVE(recv)
DURESS_RECEIVE(recvfrom)
DURESS_SEND(write)
DURESS_SEND(pwrite64)
DURESS_SEND(send)
DURESS_SEND(sendto)

DURESS_SYSCALL_HOOK void __sanitizer_syscall_pre_impl_close(long fd) {
  if (g_runtime) sync_forget_fd(static_cast<int>(fd));
}
DURESS_SYSCALL_HOOK void __sanitizer_syscall_post_impl_close() {}

#define DURESS_HOOK(name)                                           \
  DURESS_SYSCALL_HOOK void __sanitizer_syscall_pre_impl_##name() {} \
  DURESS_SYSCALL_HOOK void __sanitizer_syscall_post_impl_##name() {}
// clang-format off
DURESS_HOOK(accept) DURESS_HOOK(accept4) DURESS_HOOK(access) DURESS_HOOK(acct) DURESS_HOOK(add_key)
DURESS_HOOK(adjtimex) DURESS_HOOK(alarm) DURESS_HOOK(bdflush) DURESS_HOOK(bind) DURESS_HOOK(brk)
DURESS_HOOK(capget) DURESS_HOOK(capset) DURESS_HOOK(chdir) DURESS_HOOK(chmod) DURESS_HOOK(chown)
DURESS_HOOK(chown16) DURESS_HOOK(chroot) DURESS_HOOK(clock_adjtime) DURESS_HOOK(clock_getres)
DURESS_HOOK(clock_gettime) DURESS_HOOK(clock_nanosleep) DURESS_HOOK(clock_settime) DURESS_HOOK(connect)
DURESS_HOOK(creat) DURESS_HOOK(delete_module) DURESS_HOOK(dup) DURESS_HOOK(dup2) DURESS_HOOK(dup3)
DURESS_HOOK(epoll_create) DURESS_HOOK(epoll_create1) DURESS_HOOK(epoll_ctl) DURESS_HOOK(epoll_pwait)
DURESS_HOOK(epoll_pwait2) DURESS_HOOK(epoll_wait) DURESS_HOOK(eventfd) DURESS_HOOK(eventfd2) DURESS_HOOK(exit)
DURESS_HOOK(exit_group) DURESS_HOOK(faccessat) DURESS_HOOK(fanotify_init) DURESS_HOOK(fanotify_mark)
DURESS_HOOK(fchdir) DURESS_HOOK(fchmod) DURESS_HOOK(fchmodat) DURESS_HOOK(fchown) DURESS_HOOK(fchown16)
DURESS_HOOK(fchownat) DURESS_HOOK(fcntl) DURESS_HOOK(fcntl64) DURESS_HOOK(fdatasync) DURESS_HOOK(fgetxattr)
DURESS_HOOK(flistxattr) DURESS_HOOK(flock) DURESS_HOOK(fork) DURESS_HOOK(fremovexattr) DURESS_HOOK(fsetxattr)
DURESS_HOOK(fstat) DURESS_HOOK(fstat64) DURESS_HOOK(fstatat64) DURESS_HOOK(fstatfs) DURESS_HOOK(fstatfs64)
DURESS_HOOK(fsync) DURESS_HOOK(ftruncate) DURESS_HOOK(futex) DURESS_HOOK(futimesat) DURESS_HOOK(get_mempolicy)
DURESS_HOOK(get_robust_list) DURESS_HOOK(getcpu) DURESS_HOOK(getcwd) DURESS_HOOK(getdents)
DURESS_HOOK(getdents64) DURESS_HOOK(getegid) DURESS_HOOK(getegid16) DURESS_HOOK(geteuid)
DURESS_HOOK(geteuid16) DURESS_HOOK(getgid) DURESS_HOOK(getgid16) DURESS_HOOK(getgroups)
DURESS_HOOK(getgroups16) DURESS_HOOK(gethostname) DURESS_HOOK(getitimer) DURESS_HOOK(getpeername)
DURESS_HOOK(getpgid) DURESS_HOOK(getpgrp) DURESS_HOOK(getpid) DURESS_HOOK(getppid) DURESS_HOOK(getpriority)
DURESS_HOOK(getresgid) DURESS_HOOK(getresgid16) DURESS_HOOK(getresuid) DURESS_HOOK(getresuid16)
DURESS_HOOK(getrlimit) DURESS_HOOK(getrusage) DURESS_HOOK(getsid) DURESS_HOOK(getsockname)
DURESS_HOOK(getsockopt) DURESS_HOOK(gettid) DURESS_HOOK(gettimeofday) DURESS_HOOK(getuid)
DURESS_HOOK(getuid16) DURESS_HOOK(getxattr) DURESS_HOOK(init_module) DURESS_HOOK(inotify_add_watch)
DURESS_HOOK(inotify_init) DURESS_HOOK(inotify_init1) DURESS_HOOK(inotify_rm_watch) DURESS_HOOK(io_cancel)
DURESS_HOOK(io_destroy) DURESS_HOOK(io_getevents) DURESS_HOOK(io_setup) DURESS_HOOK(io_submit)
DURESS_HOOK(ioctl) DURESS_HOOK(ioperm) DURESS_HOOK(ioprio_get) DURESS_HOOK(ioprio_set) DURESS_HOOK(ipc)
DURESS_HOOK(kexec_load) DURESS_HOOK(keyctl) DURESS_HOOK(kill) DURESS_HOOK(lchown) DURESS_HOOK(lchown16)
DURESS_HOOK(lgetxattr) DURESS_HOOK(link) DURESS_HOOK(linkat) DURESS_HOOK(listen) DURESS_HOOK(listxattr)
DURESS_HOOK(llistxattr) DURESS_HOOK(llseek) DURESS_HOOK(lookup_dcookie) DURESS_HOOK(lremovexattr)
DURESS_HOOK(lseek) DURESS_HOOK(lsetxattr) DURESS_HOOK(lstat) DURESS_HOOK(lstat64) DURESS_HOOK(madvise)
DURESS_HOOK(mbind) DURESS_HOOK(migrate_pages) DURESS_HOOK(mincore) DURESS_HOOK(mkdir) DURESS_HOOK(mkdirat)
DURESS_HOOK(mknod) DURESS_HOOK(mknodat) DURESS_HOOK(mlock) DURESS_HOOK(mlockall) DURESS_HOOK(mmap_pgoff)
DURESS_HOOK(mount) DURESS_HOOK(move_pages) DURESS_HOOK(mprotect) DURESS_HOOK(mq_getsetattr)
DURESS_HOOK(mq_notify) DURESS_HOOK(mq_open) DURESS_HOOK(mq_timedreceive) DURESS_HOOK(mq_timedsend)
DURESS_HOOK(mq_unlink) DURESS_HOOK(mremap) DURESS_HOOK(msgctl) DURESS_HOOK(msgget) DURESS_HOOK(msgrcv)
DURESS_HOOK(msgsnd) DURESS_HOOK(msync) DURESS_HOOK(munlock) DURESS_HOOK(munlockall) DURESS_HOOK(munmap)
DURESS_HOOK(name_to_handle_at) DURESS_HOOK(nanosleep) DURESS_HOOK(newfstat) DURESS_HOOK(newfstatat)
DURESS_HOOK(newlstat) DURESS_HOOK(newstat) DURESS_HOOK(newuname) DURESS_HOOK(ni_syscall) DURESS_HOOK(nice)
DURESS_HOOK(old_getrlimit) DURESS_HOOK(old_mmap) DURESS_HOOK(old_readdir) DURESS_HOOK(old_select)
DURESS_HOOK(oldumount) DURESS_HOOK(olduname) DURESS_HOOK(open) DURESS_HOOK(open_by_handle_at)
DURESS_HOOK(openat) DURESS_HOOK(pause) DURESS_HOOK(pciconfig_iobase) DURESS_HOOK(pciconfig_read)
DURESS_HOOK(pciconfig_write) DURESS_HOOK(perf_event_open) DURESS_HOOK(personality) DURESS_HOOK(pipe)
DURESS_HOOK(pipe2) DURESS_HOOK(pivot_root) DURESS_HOOK(poll) DURESS_HOOK(ppoll) DURESS_HOOK(preadv)
DURESS_HOOK(prlimit64) DURESS_HOOK(process_vm_readv) DURESS_HOOK(process_vm_writev) DURESS_HOOK(pselect6)
DURESS_HOOK(ptrace) DURESS_HOOK(pwritev) DURESS_HOOK(quotactl) DURESS_HOOK(readlink) DURESS_HOOK(readlinkat)
DURESS_HOOK(readv) DURESS_HOOK(reboot) DURESS_HOOK(recvmmsg) DURESS_HOOK(recvmsg)
DURESS_HOOK(remap_file_pages) DURESS_HOOK(removexattr) DURESS_HOOK(rename) DURESS_HOOK(renameat)
DURESS_HOOK(request_key) DURESS_HOOK(restart_syscall) DURESS_HOOK(rmdir) DURESS_HOOK(rt_sigaction)
DURESS_HOOK(rt_sigpending) DURESS_HOOK(rt_sigprocmask) DURESS_HOOK(rt_sigqueueinfo)
DURESS_HOOK(rt_sigtimedwait) DURESS_HOOK(rt_tgsigqueueinfo) DURESS_HOOK(sched_get_priority_max)
DURESS_HOOK(sched_get_priority_min) DURESS_HOOK(sched_getaffinity) DURESS_HOOK(sched_getparam)
DURESS_HOOK(sched_getscheduler) DURESS_HOOK(sched_rr_get_interval) DURESS_HOOK(sched_setaffinity)
DURESS_HOOK(sched_setparam) DURESS_HOOK(sched_setscheduler) DURESS_HOOK(sched_yield) DURESS_HOOK(select)
DURESS_HOOK(semctl) DURESS_HOOK(semget) DURESS_HOOK(semop) DURESS_HOOK(semtimedop) DURESS_HOOK(sendfile)
DURESS_HOOK(sendfile64) DURESS_HOOK(sendmmsg) DURESS_HOOK(sendmsg) DURESS_HOOK(set_mempolicy)
DURESS_HOOK(set_robust_list) DURESS_HOOK(set_tid_address) DURESS_HOOK(setdomainname) DURESS_HOOK(setfsgid)
DURESS_HOOK(setfsgid16) DURESS_HOOK(setfsuid) DURESS_HOOK(setfsuid16) DURESS_HOOK(setgid)
DURESS_HOOK(setgid16) DURESS_HOOK(setgroups) DURESS_HOOK(setgroups16) DURESS_HOOK(sethostname)
DURESS_HOOK(setitimer) DURESS_HOOK(setns) DURESS_HOOK(setpgid) DURESS_HOOK(setpriority) DURESS_HOOK(setregid)
DURESS_HOOK(setregid16) DURESS_HOOK(setresgid) DURESS_HOOK(setresgid16) DURESS_HOOK(setresuid)
DURESS_HOOK(setresuid16) DURESS_HOOK(setreuid) DURESS_HOOK(setreuid16) DURESS_HOOK(setrlimit)
DURESS_HOOK(setsid) DURESS_HOOK(setsockopt) DURESS_HOOK(settimeofday) DURESS_HOOK(setuid)
DURESS_HOOK(setuid16) DURESS_HOOK(setxattr) DURESS_HOOK(sgetmask) DURESS_HOOK(shmat) DURESS_HOOK(shmctl)
DURESS_HOOK(shmdt) DURESS_HOOK(shmget) DURESS_HOOK(shutdown) DURESS_HOOK(sigaction) DURESS_HOOK(sigaltstack)
DURESS_HOOK(signal) DURESS_HOOK(signalfd) DURESS_HOOK(signalfd4) DURESS_HOOK(sigpending)
DURESS_HOOK(sigprocmask) DURESS_HOOK(socket) DURESS_HOOK(socketcall) DURESS_HOOK(socketpair)
DURESS_HOOK(splice) DURESS_HOOK(spu_create) DURESS_HOOK(spu_run) DURESS_HOOK(ssetmask) DURESS_HOOK(stat)
DURESS_HOOK(stat64) DURESS_HOOK(statfs) DURESS_HOOK(statfs64) DURESS_HOOK(stime) DURESS_HOOK(swapoff)
DURESS_HOOK(swapon) DURESS_HOOK(symlink) DURESS_HOOK(symlinkat) DURESS_HOOK(sync) DURESS_HOOK(syncfs)
DURESS_HOOK(sysctl) DURESS_HOOK(sysfs) DURESS_HOOK(sysinfo) DURESS_HOOK(syslog) DURESS_HOOK(tee)
DURESS_HOOK(tgkill) DURESS_HOOK(time) DURESS_HOOK(timer_create) DURESS_HOOK(timer_delete)
DURESS_HOOK(timer_getoverrun) DURESS_HOOK(timer_gettime) DURESS_HOOK(timer_settime)
DURESS_HOOK(timerfd_create) DURESS_HOOK(timerfd_gettime) DURESS_HOOK(timerfd_settime) DURESS_HOOK(times)
DURESS_HOOK(tkill) DURESS_HOOK(truncate) DURESS_HOOK(umask) DURESS_HOOK(umount) DURESS_HOOK(uname)
DURESS_HOOK(unlink) DURESS_HOOK(unlinkat) DURESS_HOOK(unshare) DURESS_HOOK(uselib) DURESS_HOOK(ustat)
DURESS_HOOK(utime) DURESS_HOOK(utimensat) DURESS_HOOK(utimes) DURESS_HOOK(vfork) DURESS_HOOK(vhangup)
DURESS_HOOK(vmsplice) DURESS_HOOK(wait4) DURESS_HOOK(waitid) DURESS_HOOK(waitpid) DURESS_HOOK(writev)
    // clang-format on
