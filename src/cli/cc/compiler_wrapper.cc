// SPDX-License-Identifier: Apache-2.0
//
// duress-cc and duress-c++: clang with the pass loaded and, when it links, with the runtime added. Build
// systems probe compilers in many ways, so the user's arguments are kept as they are and in order; ours go
// around them, marked so that clang does not complain where a step has no use for them.
#include <limits.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cli/cc/arguments.h"
#include "cli/cc/link_errors.h"
#include "cli/cc/version_script.h"

namespace {

constexpr bool kCxx = DURESS_CXX_MODE != 0;
constexpr const char* kName = kCxx ? "duress-c++" : "duress-cc";

std::string own_directory() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return ".";
  std::string result(path, static_cast<size_t>(length));
  return result.substr(0, result.rfind('/'));
}

/// Our files lie beside the folder of this program: in the build tree as in an installation.
std::string find_file(const std::string& name) {
  for (const char* folder :
       {"/../lib/", "/../" DURESS_LIBDIR "/", "/../lib/duress/", "/../" DURESS_LIBDIR "/duress/"}) {
    std::string path = own_directory() + folder + name;
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return "";
}

[[noreturn]] void fail(const std::string& message) {
  fprintf(stderr, "%s: error: %s\n", kName, message.c_str());
  exit(1);
}

std::string need_file(const std::string& name) {
  std::string path = find_file(name);
  if (path.empty()) fail(name + " is missing beside " + own_directory() + "; build or install Duress again");
  return path;
}

std::string compiler() {
  const char* chosen = getenv(kCxx ? "DURESS_CXX" : "DURESS_CC");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  return kCxx ? "clang++-" DURESS_CLANG_VERSION : "clang-" DURESS_CLANG_VERSION;
}

/// Ours before and after the user's arguments.
struct Additions {
  std::vector<std::string> before;
  std::vector<std::string> after;
};

void to_linker(std::vector<std::string>* list, std::initializer_list<std::string> words) {
  for (const std::string& word : words) {
    list->push_back("-Xlinker");
    list->push_back(word);
  }
}

void add_link_arguments(const duress::cc::Request& request, Additions* add) {
  // rustc adds its copy by itself; --tsan-objects takes it away again.
  bool replaced = request.tsan_objects && duress::cc::is_rust_tsan_runtime(request.tsan_runtime);
  if (!request.tsan_runtime.empty() && !replaced)
    fail(request.tsan_runtime +
         ": ThreadSanitizer's own runtime cannot be in one program with Duress'; leave it out");
  // rustc and its like name all libraries themselves, behind -nodefaultlibs.
  bool own_libraries = request.no_stdlib && !request.tsan_objects;
  if (request.shared || request.is_static || own_libraries) {
    // Weak definitions that do nothing. The runtime in the executable, if any, takes their place at load
    // time.
    if (request.is_static && !request.shared && !own_libraries)
      fail("a statically linked program cannot be observed: leave out -static, or link it without Duress");
    to_linker(&add->after, {need_file("libduress_stub.a")});
    return;
  }
  // A sanitizer's runtime defines some of the functions we stand in for, weakly, and comes first.
  to_linker(&add->before, {"--whole-archive",
                           need_file(request.sanitize_address ? "libduress_rt_strong.a" : "libduress_rt.a")});
  // AddressSanitizer has its own allocator; ours stands back.
  std::string allocator = find_file("libduress_rt_malloc.a");
  if (!request.sanitize_address && !allocator.empty()) to_linker(&add->before, {allocator});
  to_linker(&add->before, {"--no-whole-archive", "--dynamic-list=" + need_file("duress.syms")});
  add->after.push_back("-lpthread");
  add->after.push_back("-ldl");
  if (request.no_stdlib) add->after.push_back("-lc");
}

Additions additions(const duress::cc::Request& request) {
  Additions add;
  if (request.is_cc1 || !request.has_input) return add;
  if (request.other_target) {
    fprintf(stderr, "%s: warning: only 64-bit x86 Linux is instrumented; compiling without Duress\n", kName);
    return add;
  }
  if (request.sanitize_thread) {
    fprintf(stderr, "%s: warning: -fsanitize=thread is ignored: Duress takes its place\n", kName);
    add.after.push_back("-fno-sanitize=thread");
  }
  add.before.push_back("-fpass-plugin=" + need_file("duress_pass.so"));
  if (std::string plugin = find_file("duress_attributes.so"); !plugin.empty())
    add.before.push_back("-fplugin=" + plugin);
  if (!request.has_debug_option && !request.only_assembly) add.before.push_back("-g");
  // duress fix builds the changed program again; a user who does not want it says -gno-record-command-line.
  if (!request.only_assembly) add.before.push_back("-grecord-command-line");
  // <duress/annotate.h>, wherever this is installed; after the user's own folders.
  add.after.push_back("-idirafter");
  add.after.push_back(own_directory() + "/../include");
  if (request.links && !request.relocatable) add_link_arguments(request, &add);
  return add;
}

void append_quietly(std::vector<std::string>* line, const std::vector<std::string>& words) {
  if (words.empty()) return;
  line->push_back("--start-no-unused-arguments");
  line->insert(line->end(), words.begin(), words.end());
  line->push_back("--end-no-unused-arguments");
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> args(argv + 1, argv + argc);
  duress::cc::Request request = duress::cc::read_arguments(args);
  if (!request.problem.empty()) fail(request.problem);
  Additions add = additions(request);
  // The pass cannot be given options: the compiler reads its command line before it loads plugins.
  if (request.only_run) {
    setenv("DURESS_PASS_BODIES", "run", 1);
  } else {
    unsetenv("DURESS_PASS_BODIES");
  }
  std::erase_if(args, [&](const std::string& word) {
    return duress::cc::is_own_option(word) ||
           (request.tsan_objects && duress::cc::is_rust_tsan_runtime(word));
  });
  if (request.shared && request.links && !request.other_target) duress::cc::open_version_scripts(args);
  std::vector<std::string> line = {compiler()};
  append_quietly(&line, add.before);
  line.insert(line.end(), args.begin(), args.end());
  append_quietly(&line, add.after);

  std::vector<char*> raw;
  for (std::string& word : line) raw.push_back(word.data());
  raw.push_back(nullptr);
  if (request.links && !request.relocatable && request.has_input && !request.other_target) {
    int code = duress::cc::link_and_explain(kName, raw.data());
    if (code >= 0) return code;
  } else {
    execvp(raw[0], raw.data());
  }
  fprintf(stderr, "%s: error: cannot run %s: %s; install it or set %s\n", kName, raw[0], strerror(errno),
          kCxx ? "DURESS_CXX" : "DURESS_CC");
  return 1;
}
