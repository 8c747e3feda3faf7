// SPDX-License-Identifier: Apache-2.0
#include "exec/machine_checks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "duress/hooks.h"
#include "exec/child.h"
#include "exec/exit_code.h"
#include "exec/files.h"
#include "exec/layout.h"
#include "finding/text.h"

namespace duress::exec {

std::string installed(const std::string& name) {
  for (const char* folder : {"lib", DURESS_LIBDIR, "lib/duress", DURESS_LIBDIR "/duress"}) {
    std::string path = fmt::format("{}/{}/{}", layout().prefix, folder, name);
    if (std::filesystem::exists(path)) return path;
  }
  return {};
}

namespace {

namespace fs = std::filesystem;

using Check = MachineCheck;
using Outcome = CheckOutcome;

/// Runs a program for what it prints.
ChildOutput capture(const std::vector<std::string>& argv) {
  ChildStart start;
  start.argv = argv;
  ChildOutput result = run_child(start, 600);
  result.output += result.errors;
  return result;
}

Check check_clang() {
  Check check{"clang", true};
  std::string name = fmt::format("clang-{}", DURESS_LLVM_MAJOR);
  std::string path = find_program(name);
  if (path.empty()) return fails(check, name + " is not on PATH", "apt-get install " + name);
  ChildOutput result = capture({path, "--version"});
  if (result.code != 0) return fails(check, path + " does not start", "apt-get install --reinstall " + name);
  return works(check, finding::first_line(result.output));
}

Check check_pass() {
  Check check{"pass", true};
  std::string plugin = installed("duress_pass.so");
  if (plugin.empty())
    return fails(check, "the pass is not below " + layout().prefix + "/lib", "build or install duress again");
  std::string clang = find_program(fmt::format("clang-{}", DURESS_LLVM_MAJOR));
  if (clang.empty())
    return fails(check, "no clang to load it", fmt::format("apt-get install clang-{}", DURESS_LLVM_MAJOR));
  ChildOutput result = capture({clang, "-fpass-plugin=" + plugin, "-x", "c", "-O1", "-S", "-emit-llvm", "-o",
                                "/dev/null", "/dev/null"});
  if (result.code != 0) {
    return fails(check, "clang does not load it: " + finding::first_line(result.output),
                 fmt::format("build duress with -DDURESS_LLVM_VERSION={}", DURESS_LLVM_MAJOR));
  }
  return works(check, "loads into clang");
}

Check check_runtime() {
  Check check{"runtime", true};
  std::string archive = installed("libduress_rt.a");
  if (archive.empty())
    return fails(check, "the runtime is not below " + layout().prefix + "/lib",
                 "build or install duress again");
  return works(check, archive);
}

Check check_shadow_table() {
  Check check{"shadow table", true};
  // One entry of 8 bytes per 4 GiB of the 47-bit address space: 32,768 entries.
  constexpr std::size_t kSize = (std::size_t{1} << 15) * 8;
  void* wanted = reinterpret_cast<void*>(std::uintptr_t{DURESS_SHADOW_TABLE});
  void* got = mmap(wanted, kSize, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) {
    return fails(check,
                 fmt::format("nothing can be mapped at {:#x}: {}", DURESS_SHADOW_TABLE, std::strerror(errno)),
                 "run without `setarch -R`, and without a limit on address space (ulimit -v unlimited)");
  }
  munmap(got, kSize);
  if (got != wanted)
    return fails(check, "this kernel ignores MAP_FIXED_NOREPLACE", "use Linux 4.17 or newer");
  return works(check, fmt::format("{:#x} is free", DURESS_SHADOW_TABLE));
}

Check check_shadow_memory() {
  Check check{"shadow memory", true};
  constexpr std::size_t kSize = std::size_t{8} << 30;
  void* got =
      mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) {
    return fails(check, fmt::format("8 GiB of address space cannot be reserved: {}", std::strerror(errno)),
                 "ulimit -v unlimited; sysctl vm.overcommit_memory=0");
  }
  munmap(got, kSize);
  return works(check, "8 GiB can be reserved");
}

/// Without it `explore`, `classify` and `verify` make a process for each execution.
Check check_rollback() {
  constexpr int kUserDispatch = 59;                    // PR_SET_SYSCALL_USER_DISPATCH
  constexpr std::uint64_t kAsynchronous = 1ull << 15;  // UFFD_FEATURE_WP_ASYNC
  Check check{"rollback", false};
  const char* fix =
      "Linux 6.7 or later, with userfaultfd allowed; campaigns are slower without it, no different";
  Descriptor faults(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */)));
  if (!faults) return fails(check, fmt::format("no userfaultfd: {}", std::strerror(errno)), fix);
  uffdio_api api = {UFFD_API, kAsynchronous, 0};
  if (ioctl(faults.get(), UFFDIO_API, &api) != 0)
    return fails(check, "userfaultfd cannot write-protect without a handler", fix);
  if (prctl(kUserDispatch, 0, 0, 0, 0) != 0) return fails(check, "no syscall user dispatch", fix);
  return works(check, "a process can perform many executions");
}

/// Two threads that both write `counter` with nothing between them: racy in every schedule.
constexpr const char* kRacyProgram = R"(#include <pthread.h>
int counter;
static void *work(void *unused) { counter++; return unused; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
)";

}  // namespace

MachineCheck works(MachineCheck check, std::string detail) {
  check.outcome = Outcome::kWorks;
  check.detail = std::move(detail);
  return check;
}

MachineCheck fails(MachineCheck check, std::string detail, std::string fix) {
  check.outcome = Outcome::kFails;
  check.detail = std::move(detail);
  check.fix = std::move(fix);
  return check;
}

MachineCheck check_racy_program(const std::vector<MachineCheck>& before) {
  Check check{"a racy program", true};
  for (const Check& earlier : before) {
    if (earlier.needed && earlier.outcome == Outcome::kFails) {
      check.outcome = Outcome::kSkipped;
      check.detail = fmt::format("skipped: {} first", earlier.what);
      return check;
    }
  }
  std::string compiler = layout().bin + "/duress-cc";
  if (access(compiler.c_str(), X_OK) != 0) {
    return fails(check, "duress-cc is not beside duress", "build or install duress again");
  }
  const char* tmp = std::getenv("TMPDIR");
  std::string dir = std::string(tmp != nullptr && *tmp != '\0' ? tmp : "/tmp") + "/duress-doctor-XXXXXX";
  if (mkdtemp(dir.data()) == nullptr) {
    return fails(check, fmt::format("cannot make '{}': {}", dir, std::strerror(errno)),
                 "set TMPDIR to a folder that can be written");
  }
  std::ofstream(dir + "/racy.c") << kRacyProgram;
  ChildOutput built = capture({compiler, "-g", "-O1", "-pthread", dir + "/racy.c", "-o", dir + "/racy"});
  ChildOutput ran;
  if (built.code == 0) {
    ran = capture({layout().bin + "/duress", "run", "-q", "--dir", dir + "/record", "--", dir + "/racy"});
  }
  std::error_code ignored;
  fs::remove_all(dir, ignored);
  if (built.code != 0)
    return fails(check, "does not build: " + finding::first_line(built.output),
                 "report this with the output of duress-cc -v");
  if (ran.code != kExitFindings || ran.output.find("data race on counter") == std::string::npos) {
    return fails(check,
                 fmt::format("was built, but its race was not reported (exit code {}): {}", ran.code,
                             finding::first_line(ran.output)),
                 "report this with the output of duress doctor");
  }
  return works(check, "built, run, and its race found");
}

std::vector<MachineCheck> check_machine() {
  return {check_clang(),        check_pass(),          check_runtime(),
          check_shadow_table(), check_shadow_memory(), check_rollback()};
}

}  // namespace duress::exec
