// SPDX-License-Identifier: Apache-2.0
//
// A program that plays the part of an instrumented one: it carries a site table written by hand and, when
// started by duress, writes the log that a runtime would write, with its own real addresses. So everything
// on the host side is tested without pass and runtime, and what it says is the same in every run.
#include <link.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "duress/hooks.h"

// The string blob; offsets are counted below. A label difference is no constant in C++, hence assembly.
asm(R"(
  .section duress_strings,"a",@progbits
duress_test_strings:
  .byte 0
  .asciz "/project/src/cache.cc"
  .asciz "Cache::evict"
  .asciz "Cache::get"
  .asciz "Cache::size_"
  .asciz "push_back"
  .asciz "/usr/include/c++/12/bits/stl_vector.h"
  .asciz "*p"
  .asciz "evil\033[31m\nname"
duress_test_strings_end:
  .section duress_sites,"a",@progbits
  .balign 32
  .ascii "DURS"
  .long 5
  .long 9
  .long duress_test_strings - .
  .long 0
  .long 0
  .long duress_test_strings_end - duress_test_strings
  .long 0
  .text
)");

namespace {

enum Text : std::uint32_t {
  kFile = 1,
  kEvict = kFile + sizeof "/project/src/cache.cc",
  kGet = kEvict + sizeof "Cache::evict",
  kSize = kGet + sizeof "Cache::get",
  kPush = kSize + sizeof "Cache::size_",
  kVector = kPush + sizeof "push_back",
  kPointee = kVector + sizeof "/usr/include/c++/12/bits/stl_vector.h",
  kEvil = kPointee + sizeof "*p",
};

// Entry 0 of the section is the header, so these are 1 to 9.
__attribute__((section("duress_sites"), used, aligned(32))) const DuressSite kSites[] = {
    {kFile, kEvict, kSize, 88, 9, kDuressWrite, 8, 0, 0, kDuressField, 0, 0},
    {kFile, kGet, kSize, 41, 12, kDuressRead, 8, 0, 0, kDuressField, 0, 0},
    {kVector, kPush, kPointee, 1200, 7, kDuressWrite, 8, 4, 0, kDuressPointee, 0, 0},  // inlined at the next
    {kFile, kGet, 0, 45, 3, kDuressFrame, 0, 0, 0, 0, 0, 0},
    {kFile, kEvict, kSize, 90, 9, kDuressWrite, 8, 0, 0, kDuressField, 0, 0},
    {kFile, kEvict, kPointee, 95, 1, kDuressWrite, 4, 0, 0, kDuressPointee, 0, 0},
    {kFile, kGet, 0, 96, 1, kDuressRead, 4, 0, 0, kDuressUnknown, 0, 0},
    {kFile, kEvil, kEvil, 97, 1, kDuressWrite, 4, 0, 0, kDuressGlobal, 0, 0},
    {kFile, kGet, 0, 98, 1, kDuressFrame, 4, 9, 0, kDuressUnknown, 0, 0},  // a cycle: inlined into itself
};

std::FILE* log_file = nullptr;

__attribute__((format(printf, 1, 2))) void put(const char* format, ...) {
  va_list list;
  va_start(list, format);
  std::vfprintf(log_file, format, list);
  va_end(list);
  std::fflush(log_file);
}

__attribute__((noinline)) std::uintptr_t return_address() {
  return reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
}

}  // namespace

int hits = 0;                   // a global with no name in any site
alignas(64) char mu[40] = {1};  // stands for a mutex

namespace app {
struct Node {
  long key, value;
};
// Each returns an address inside itself, as a call made there would leave on the stack.
__attribute__((noinline)) std::uintptr_t make_node(int) {
  std::uintptr_t address = return_address();
  asm volatile("");
  return address;
}
__attribute__((noinline)) std::uintptr_t worker_loop() {
  std::uintptr_t address = return_address();
  asm volatile("");
  return address;
}
}  // namespace app

namespace {

std::string option(const char* name) {
  const char* all = std::getenv("DURESS_OPTIONS");
  std::string value, text = all != nullptr ? all : "";
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = text.find(':', start);
    if (end == std::string::npos) end = text.size();
    std::string piece = text.substr(start, end - start);
    if (piece.rfind(std::string(name) + "=", 0) == 0)
      value = piece.substr(std::strlen(name) + 1);  // the last wins
    start = end + 1;
  }
  return value;
}

void start(const char* exe) {
  std::string path = option("log_dir") + "/" + std::to_string(getpid()) + ".jsonl";
  log_file = std::fopen(path.c_str(), "a");
  if (log_file == nullptr) _exit(99);
  put(R"({"t":"start","version":1,"pid":%d,"ppid":%d,"exe":"%s","argv":["%s"],"cwd":"/project","chain":"%s","mode":"free"})"
      "\n",
      getpid(), getppid(), exe, exe, option("chain").c_str());
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        std::uintptr_t low = UINTPTR_MAX, high = 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
          low = std::min<std::uintptr_t>(low, info->dlpi_phdr[i].p_vaddr);
          high = std::max<std::uintptr_t>(high, info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);
        }
        put(R"({"t":"module","id":0,"path":"%s","base":"0x%zx","low":"0x%zx","high":"0x%zx","build_id":"","sites":"0x1"})"
            "\n",
            static_cast<const char*>(data), static_cast<std::size_t>(info->dlpi_addr), info->dlpi_addr + low,
            info->dlpi_addr + high);
        return 1;  // the first is the program itself
      },
      const_cast<char*>(exe));
  put(R"({"t":"thread","id":0,"parent":-1,"name":"","stack":[]})"
      "\n");
  put(R"({"t":"thread","id":1,"parent":0,"name":"","stack":["0x%zx"]})"
      "\n",
      app::worker_loop());
  put(R"({"t":"thread","id":2,"parent":0,"name":"evictor","stack":["0x%zx"]})"
      "\n",
      app::worker_loop());
}

std::string access(int thread, const char* kind, std::uintptr_t address, int size, int site, bool locked) {
  char text[512];
  std::snprintf(
      text, sizeof text,
      R"({"thread":%d,"access":"%s","addr":"0x%zx","size":%d,"site":%s,"stack":["0x%zx"],"locks":[%s]})",
      thread, kind, address, size, site > 0 ? ("[0," + std::to_string(site) + "]").c_str() : "null",
      app::worker_loop(),
      locked ? ("{\"addr\":\"" +
                [] {
                  char hex[32];
                  std::snprintf(hex, sizeof hex, "0x%zx", reinterpret_cast<std::uintptr_t>(mu));
                  return std::string(hex);
                }() +
                R"(","kind":"mutex","mode":"write"})")
                   .c_str()
             : "");
  return text;
}

void race(std::uintptr_t address, const std::string& prev, const std::string& cur, const std::string& block) {
  put(R"({"t":"race","analysis":"FastTrack","addr":"0x%zx","size":8,"prev":%s,"cur":%s,"block":%s})"
      "\n",
      address, prev.c_str(), cur.c_str(), block.c_str());
}

std::string heap_block(std::uintptr_t start, int size) {
  char text[256];
  std::snprintf(text, sizeof text,
                R"({"kind":"heap","start":"0x%zx","size":%d,"thread":0,"stack":["0x%zx"]})", start, size,
                app::make_node(1));
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string unknown = R"({"kind":"unknown","start":"0x0","size":0,"thread":0,"stack":[]})";
  char exe[4096] = {};
  if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0) return 98;
  if (option("log_dir").empty()) return 97;  // started by itself
  if (argc > 1 && std::string(argv[1]) == "no-log") return 0;
  start(exe);
  constexpr std::uintptr_t kHeap = 0x7f0000001000;
  const std::uintptr_t global = reinterpret_cast<std::uintptr_t>(&hits);
  int code = 0;
  for (int i = 1; i < argc; ++i) {
    std::string what = argv[i];
    if (what == "field") {
      race(kHeap + 8, access(2, "write", kHeap + 8, 8, 1, true), access(1, "read", kHeap + 8, 8, 2, false),
           heap_block(kHeap, 40));
    } else if (what == "field-again") {  // the same pair, met in the other order
      race(kHeap + 8, access(1, "read", kHeap + 8, 8, 2, false), access(2, "write", kHeap + 8, 8, 1, true),
           heap_block(kHeap, 40));
    } else if (what == "field-other-line") {
      race(kHeap + 8, access(2, "write", kHeap + 8, 8, 5, true), access(1, "read", kHeap + 8, 8, 2, false),
           heap_block(kHeap, 40));
    } else if (what == "heap") {  // no name but the pointer's
      race(kHeap + 16, access(2, "write", kHeap + 16, 4, 6, false),
           access(1, "read", kHeap + 16, 4, 7, false), heap_block(kHeap, 40));
    } else if (what == "global") {
      race(global, access(2, "write", global, 4, 6, false), access(1, "read", global, 4, 7, false), unknown);
    } else if (what == "inlined") {
      race(kHeap, access(1, "write", kHeap, 8, 3, false), access(2, "write", kHeap, 8, 1, false),
           heap_block(kHeap, 40));
    } else if (what == "free") {
      race(kHeap, access(1, "read", kHeap, 8, 2, false), access(2, "free", kHeap, 40, 0, false),
           heap_block(kHeap, 40));
    } else if (what == "evil") {
      race(global, access(2, "write", global, 4, 8, false), access(1, "write", global, 4, 8, false), unknown);
    } else if (what == "cycle") {
      race(global, access(2, "write", global, 4, 9, false), access(1, "write", global, 4, 4000000, false),
           unknown);
    } else if (what == "incomplete") {
      for (int k = 0; k < 2; ++k)
        put(R"({"t":"incomplete","what":"vfork"})"
            "\n");
    } else if (what == "stat") {
      put(R"({"t":"stat","name":"reads","value":41})"
          "\n");
    } else if (what == "event") {
      put(R"({"t":"event","text":"T1 write 0x10"})"
          "\n");
    } else if (what == "malformed") {
      put("{\"t\":\"race\",oops}\n");
    } else if (what == "torn") {
      put("{\"t\":\"race\",\"anal");
    } else if (what == "fork") {
      pid_t pid = fork();
      if (pid == 0) {
        std::fclose(log_file);
        start(exe);
      } else {
        waitpid(pid, nullptr, 0);
      }
    } else if (what == "say") {
      std::puts("hello from the program");
      std::fflush(stdout);
    } else if (what == "options") {
      std::puts(std::getenv("DURESS_OPTIONS"));
    } else if (what == "crash") {
      put(R"({"t":"crash","signal":"SIGSEGV","addr":"0x0","thread":2,"stack":["0x%zx"]})"
          "\n",
          app::worker_loop());
      signal(SIGSEGV, SIG_DFL);
      raise(SIGSEGV);
    } else if (what == "wait") {
      std::puts("waiting");
      std::fflush(stdout);
      while (true) pause();
    } else {
      code = std::atoi(argv[i]);
    }
  }
  put(R"({"t":"end","exit":%d})"
      "\n",
      code);
  return code;
}
