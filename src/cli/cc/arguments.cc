// SPDX-License-Identifier: Apache-2.0
#include "cli/cc/arguments.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "cli/cc/response_files.h"

namespace duress::cc {
namespace {

/// Options whose value is the next argument.
constexpr std::string_view kWithValue[] = {
    // clang-format off
    "-o", "-x", "-I", "-L", "-l", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter",
    "-isysroot", "-MF", "-MT", "-MQ", "-MJ", "-Xclang", "-Xlinker", "-Xassembler", "-Xpreprocessor",
    "-mllvm", "-target", "-T", "-u", "-z", "-e", "-B", "-F", "-iprefix", "-iwithprefix",
    "-iwithprefixbefore", "-iwithsysroot", "-cxx-isystem", "--param", "-aux-info", "-Xanalyzer",
    "-dumpdir", "--sysroot", "-resource-dir", "-rpath", "-working-directory", "-include-pch", "-arch",
    "-isystem-after", "-ivfsoverlay", "-stdlib++-isystem", "-serialize-diagnostics",
    "--serialize-diagnostics", "-Xarch_host", "-h", "-soname", "-install_name",
    // clang-format on
};

/// After these there is no program or library at the end.
constexpr std::string_view kNotLinking[] = {
    // clang-format off
    "-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--precompile", "-emit-ast", "--analyze", "--compile",
    "--assemble", "--preprocess", "-extract-api", "-emit-interface-stubs", "-rewrite-objc", "--migrate",
    "-verify-pch",
    // clang-format on
};

template <std::size_t kCount>
bool is_in(const std::string_view (&list)[kCount], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

void note_sanitizers(std::string_view list, bool on, Request* request) {
  while (!list.empty()) {
    std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    if (name == "thread" || (name == "all" && !on)) request->sanitize_thread = on;
    if (name == "address" || (name == "all" && !on)) request->sanitize_address = on;
  }
}

void note_target(std::string_view triple, Request* request) {
  bool x86_64 = triple.starts_with("x86_64") || triple.starts_with("amd64");
  request->other_target = !x86_64 || triple.find("linux") == std::string_view::npos ||
                          triple.find("x32") != std::string_view::npos;
}

bool is_assembly(std::string_view path) {
  return path.ends_with(".s") || path.ends_with(".S") || path.ends_with(".sx");
}

/// Given alone, a header is precompiled.
bool is_header(std::string_view path) {
  return path.ends_with(".h") || path.ends_with(".hh") || path.ends_with(".hpp") || path.ends_with(".hxx") ||
         path.ends_with(".H");
}

void note_linker_words(std::string_view list, Request* request) {
  while (!list.empty()) {
    std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    if (word == "-shared" || word == "--shared" || word == "-Bshareable") request->shared = true;
    if (word == "-r" || word == "--relocatable" || word == "-i") request->relocatable = true;
  }
}

constexpr std::string_view kOwnOption = "-fduress=";
/// The objects have ThreadSanitizer's hooks: the runtime is wanted, whatever else the line says of libraries.
constexpr std::string_view kTsanObjects = "--tsan-objects";

/// ThreadSanitizer's runtime of gcc, clang or rustc, given as a file.
bool is_tsan_runtime(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "libtsan.a" || name.starts_with("libtsan.so") || name.starts_with("libclang_rt.tsan") ||
         is_rust_tsan_runtime(path);
}

/// Which commands the program is built for.
void note_purpose(std::string_view purpose, Request* request) {
  request->only_run = purpose == "run";
  if (purpose != "run" && purpose != "all")
    request->problem = "invalid value '" + std::string(purpose) + "' in -fduress=: use run or all";
}

}  // namespace

bool is_rust_tsan_runtime(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("librustc-") && name.ends_with("_rt.tsan.a");
}

bool is_own_option(std::string_view word) {
  return word.starts_with(kOwnOption) || word == kTsanObjects;
}

Request read_arguments(const std::vector<std::string>& args) {
  Request request;
  if (!args.empty() && args[0].starts_with("-cc1")) {
    request.is_cc1 = true;
    return request;
  }
  std::vector<std::string> words = with_response_files(args);
  bool only_inputs = false;  // after "--"
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (only_inputs || word == "-" || (!word.empty() && word[0] != '-')) {
      request.has_input = true;
      if (!is_assembly(word)) request.only_assembly = false;
      if (is_header(word)) request.links = false;
      if (is_tsan_runtime(word)) request.tsan_runtime = word;
      continue;
    }
    std::string_view next = i + 1 < words.size() ? std::string_view(words[i + 1]) : std::string_view();
    if (word == "--") only_inputs = true;
    if (is_in(kNotLinking, word)) request.links = false;
    if (word == "-r" || word == "--relocatable") request.relocatable = true;
    if (word == "-shared" || word == "--shared") request.shared = true;
    if (word == "-static" || word == "--static" || word == "-static-pie") request.is_static = true;
    if (word == "-nostdlib" || word == "--no-standard-libraries" || word == "-nodefaultlibs" ||
        word == "-nolibc") {
      request.no_stdlib = true;
    }
    if (word.starts_with(kOwnOption)) note_purpose(word.substr(kOwnOption.size()), &request);
    if (word == kTsanObjects) request.tsan_objects = true;
    if (word == "-ltsan" || (word == "-l" && next == "tsan")) request.tsan_runtime = "-ltsan";
    if (word.starts_with("-g")) request.has_debug_option = true;
    if (word == "-m32" || word == "-m16" || word == "-mx32") request.other_target = true;
    if (word == "-m64") request.other_target = false;
    if (word.starts_with("--target=")) note_target(word.substr(9), &request);
    if (word == "-target") note_target(next, &request);
    if (word.starts_with("-fsanitize=")) note_sanitizers(word.substr(11), true, &request);
    if (word.starts_with("-fno-sanitize=")) note_sanitizers(word.substr(14), false, &request);
    if (word.starts_with("-Wl,")) note_linker_words(word.substr(4), &request);
    if (word == "-Xlinker") note_linker_words(next, &request);
    if (word == "-x" && next.ends_with("-header")) request.links = false;
    if (is_in(kWithValue, word)) ++i;
  }
  return request;
}

}  // namespace duress::cc
