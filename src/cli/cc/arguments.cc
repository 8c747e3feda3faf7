// SPDX-License-Identifier: Apache-2.0
#include "cli/cc/arguments.h"

#include <fstream>
#include <iterator>
#include <set>
#include <string_view>

namespace duress::cc {
namespace {

/// Options whose value is the next argument.
const std::set<std::string_view>& options_with_value() {
  static const std::set<std::string_view> options = {"-o",
                                                     "-x",
                                                     "-I",
                                                     "-L",
                                                     "-l",
                                                     "-D",
                                                     "-U",
                                                     "-include",
                                                     "-imacros",
                                                     "-isystem",
                                                     "-iquote",
                                                     "-idirafter",
                                                     "-isysroot",
                                                     "-MF",
                                                     "-MT",
                                                     "-MQ",
                                                     "-MJ",
                                                     "-Xclang",
                                                     "-Xlinker",
                                                     "-Xassembler",
                                                     "-Xpreprocessor",
                                                     "-mllvm",
                                                     "-target",
                                                     "-T",
                                                     "-u",
                                                     "-z",
                                                     "-e",
                                                     "-B",
                                                     "-F",
                                                     "-iprefix",
                                                     "-iwithprefix",
                                                     "-iwithprefixbefore",
                                                     "-iwithsysroot",
                                                     "-cxx-isystem",
                                                     "--param",
                                                     "-aux-info",
                                                     "-Xanalyzer",
                                                     "-dumpdir",
                                                     "--sysroot",
                                                     "-resource-dir",
                                                     "-rpath",
                                                     "-working-directory",
                                                     "-include-pch",
                                                     "-arch",
                                                     "-isystem-after",
                                                     "-ivfsoverlay",
                                                     "-stdlib++-isystem",
                                                     "-serialize-diagnostics",
                                                     "--serialize-diagnostics",
                                                     "-Xarch_host",
                                                     "-h",
                                                     "-soname",
                                                     "-install_name"};
  return options;
}

/// GNU rules: white space separates, quotes group, a backslash takes the next character as it is.
std::vector<std::string> split_response_file(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (in_word) words.push_back(word);
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

void expand(const std::vector<std::string>& args, unsigned depth, std::vector<std::string>* out) {
  for (const std::string& arg : args) {
    if (arg.size() > 1 && arg[0] == '@' && depth < 16) {
      std::ifstream file(arg.substr(1));
      if (file) {
        std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        expand(split_response_file(text), depth + 1, out);
        continue;
      }
    }
    out->push_back(arg);
  }
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

}  // namespace

Request read_arguments(const std::vector<std::string>& args) {
  Request request;
  if (!args.empty() && args[0].starts_with("-cc1")) {
    request.is_cc1 = true;
    return request;
  }
  std::vector<std::string> words;
  expand(args, 0, &words);
  static const std::set<std::string_view> kNotLinking = {"-c",
                                                         "-S",
                                                         "-E",
                                                         "-M",
                                                         "-MM",
                                                         "-fsyntax-only",
                                                         "--precompile",
                                                         "-emit-ast",
                                                         "--analyze",
                                                         "--compile",
                                                         "--assemble",
                                                         "--preprocess",
                                                         "-extract-api",
                                                         "-emit-interface-stubs",
                                                         "-rewrite-objc",
                                                         "--migrate",
                                                         "-verify-pch"};
  bool only_inputs = false;  // after "--"
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (only_inputs || word == "-" || (!word.empty() && word[0] != '-')) {
      request.has_input = true;
      if (!is_assembly(word)) request.only_assembly = false;
      if (is_header(word)) request.links = false;
      continue;
    }
    std::string_view next = i + 1 < words.size() ? std::string_view(words[i + 1]) : std::string_view();
    if (word == "--") only_inputs = true;
    if (kNotLinking.contains(word)) request.links = false;
    if (word == "-r" || word == "--relocatable") request.relocatable = true;
    if (word == "-shared" || word == "--shared") request.shared = true;
    if (word == "-static" || word == "--static" || word == "-static-pie") request.is_static = true;
    if (word == "-nostdlib" || word == "--no-standard-libraries" || word == "-nodefaultlibs" ||
        word == "-nolibc") {
      request.no_stdlib = true;
    }
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
    if (options_with_value().contains(word)) ++i;
  }
  return request;
}

}  // namespace duress::cc
