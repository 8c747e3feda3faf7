// SPDX-License-Identifier: Apache-2.0
#include "repair/rebuild.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "exec/child.h"
#include "exec/files.h"
#include "exec/layout.h"

namespace duress::repair {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostUnits = 40;  // larger programs are not verified either
constexpr double kMostSeconds = 120;    // for one file

bool begins(const std::string& word, const char* with) {
  return word.rfind(with, 0) == 0;
}

bool is_source(const std::string& extension) {
  static const std::set<std::string> known = {".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".CC"};
  return known.count(extension) != 0;
}

bool is_linked(const std::string& word) {
  static const std::set<std::string> known = {".o", ".a", ".so", ".lo", ".obj"};
  return known.count(fs::path(word).extension().string()) != 0 || word.find(".so.") != std::string::npos;
}

/// Options of dependency files and outputs, by how many words they have.
int words_to_drop(const std::string& word) {
  static const std::set<std::string> two = {"-o", "-MF", "-MT", "-MQ", "-dumpdir", "-dumpbase"};
  static const std::set<std::string> one = {"-c",
                                            "-MD",
                                            "-MMD",
                                            "-MP",
                                            "-M",
                                            "-MM",
                                            "-grecord-command-line",
                                            "--driver-mode=g++",
                                            "--driver-mode=gcc"};
  return two.count(word) != 0 ? 2 : one.count(word) != 0 ? 1 : 0;
}

/// What the wrappers of the compiler have added, and will add again. The marks
/// --whole-archive and --no-whole-archive around them stay, with nothing between.
bool is_ours(const std::string& word) {
  for (const char* file :
       {"duress_pass.so", "duress_attributes.so", "libduress_rt.a", "libduress_rt_strong.a",
        "libduress_rt_malloc.a", "libduress_stub.a", "duress.syms"}) {
    if (word.ends_with(std::string("/") + file)) return true;
  }
  return false;
}

/// "" or the compiler's first complaint.
std::string compile(const Compilation& unit, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& more, const std::string& output) {
  exec::ChildStart start;
  start.folder = unit.directory;
  start.argv = {exec::layout().bin + (unit.cxx ? "/duress-c++" : "/duress-cc")};
  for (const std::vector<std::string>* words : {&unit.arguments, &inputs, &more})
    start.argv.insert(start.argv.end(), words->begin(), words->end());
  // Warnings have been seen where the program was built first.
  start.argv.insert(start.argv.end(), {"-Wno-error", "-Wno-unused-command-line-argument", "-o", output});
  exec::ChildOutput ended = exec::run_child(start, kMostSeconds);
  if (ended.code == 0) return "";
  std::string said = ended.errors + ended.output;
  std::size_t at = said.find("error:");
  std::size_t from = at == std::string::npos ? 0 : said.rfind('\n', at);
  from = from == std::string::npos ? 0 : from + (from == 0 ? 0 : 1);
  return said.substr(from, said.find('\n', from) - from);
}

/// What stands where, for the compiler. "" or what went wrong.
std::string write_overlay(const std::vector<FileEdit>& edits, const std::string& folder) {
  Json roots = Json::array();
  for (std::size_t i = 0; i < edits.size(); ++i) {
    std::string copy = folder + "/" + std::to_string(i) + fs::path(edits[i].path).extension().string();
    std::string text = joined_lines(edits[i].after, edits[i].ends_in_newline);
    if (std::string error = exec::write_file(copy, text); !error.empty()) return error;
    roots.push_back({{"type", "file"}, {"name", edits[i].path}, {"external-contents", copy}});
  }
  Json overlay = {{"version", 0}, {"use-external-names", false}, {"roots", roots}};
  return exec::write_file(folder + "/overlay.yaml", overlay.dump(1) + "\n");
}

/// Libraries of the program, for commands that compile only.
std::vector<std::string> libraries_of(const std::string& program) {
  report::LinkedLibraries linked = report::linked_libraries(program);
  std::vector<std::string> words;
  for (const std::string& folder : linked.folders)
    words.insert(words.end(), {"-L" + folder, "-Wl,-rpath," + folder});
  for (const std::string& name : linked.names) {
    bool usual = false;
    for (const char* one :
         {"libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "ld-linux", "libpthread", "libdl"})
      usual = usual || begins(name, one);
    if (!usual) words.push_back("-l:" + name);
  }
  return words;
}

}  // namespace

Compilation compilation_of(const report::CompileCommand& command) {
  Compilation unit;
  unit.directory = command.directory;
  unit.file = command.file;
  const std::vector<std::string>& words = command.arguments;
  unit.cxx = words[0].find("++") != std::string::npos;
  bool links = true;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    std::string next = i + 1 < words.size() ? words[i + 1] : "";
    unit.cxx = unit.cxx || word == "--driver-mode=g++";
    links = links && word != "-c";
    if (int dropped = words_to_drop(word)) {
      i += static_cast<std::size_t>(dropped - 1);
    } else if (word == "-Xlinker" || word == "-l" || word == "-L") {
      ++i;
      if (!is_ours(next)) unit.linking.insert(unit.linking.end(), {word, next});
    } else if (begins(word, "-Wl,") || begins(word, "-l") || begins(word, "-L") ||
               (word[0] != '-' && is_linked(word))) {
      unit.linking.push_back(word);
    } else if (!is_ours(word) && (word[0] == '-' || !is_source(fs::path(word).extension().string()))) {
      unit.arguments.push_back(word);
    }
  }
  if (!links) unit.linking.clear();
  return unit;
}

std::vector<Compilation> compilations_of(const std::string& program) {
  std::vector<Compilation> all;
  for (const report::CompileCommand& command : report::recorded_commands(program))
    all.push_back(compilation_of(command));
  return all;
}

std::string rebuild(const std::string& program, const std::vector<FileEdit>& edits, const std::string& folder,
                    std::string& error) {
  std::vector<Compilation> units = compilations_of(program);
  if (units.empty() || units.size() > kMostUnits) {
    error = units.empty()
                ? "how " + program + " was compiled is not recorded: build it with duress-c++ and -g"
                : program + " has too many source files to be built again";
    return "";
  }
  if (!(error = exec::make_folder(folder, folder)).empty()) return "";
  if (!(error = write_overlay(edits, folder)).empty()) return "";
  std::vector<std::string> objects, linking;
  Compilation linker = units[0];
  for (std::size_t i = 0; i < units.size(); ++i) {
    std::string object = folder + "/unit" + std::to_string(i) + ".o";
    error = compile(units[i], {units[i].file}, {"-c", "-ivfsoverlay", folder + "/overlay.yaml"}, object);
    if (!error.empty()) return "";
    objects.push_back(object);
    linker.cxx = linker.cxx || units[i].cxx;
    if (linking.empty()) linking = units[i].linking;
  }
  if (linking.empty()) linking = libraries_of(program);
  std::string result = folder + "/" + fs::path(program).filename().string();
  error = compile(linker, objects, linking, result);
  return error.empty() ? result : "";
}

}  // namespace duress::repair
