// SPDX-License-Identifier: Apache-2.0
//
// duress-rewrite: changes of source files that fix a race, made on clang's syntax tree with the program's own
// compile commands, and compiled before they are answered. A program of its own because clang's libraries are
// large: `duress` starts it when a fix is written, and is small otherwise.
#include <clang/Format/Format.h>
#include <clang/Frontend/ASTUnit.h>
#include <clang/Tooling/ArgumentsAdjusters.h>
#include <clang/Tooling/CompilationDatabase.h>
#include <clang/Tooling/Inclusions/HeaderIncludes.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

#include "rewrite/change.h"

namespace duress::rewrite {
namespace {

using namespace clang::tooling;  // NOLINT(google-build-using-namespace): its names are the vocabulary here

/// The command of one unit, for ClangTool.
class Commands : public CompilationDatabase {
 public:
  explicit Commands(const Unit& unit) : unit_(unit) {}
  std::vector<CompileCommand> getCompileCommands(llvm::StringRef) const override {
    return {CompileCommand(unit_.directory, unit_.file, unit_.command, "")};
  }

 private:
  const Unit& unit_;
};

/// The first error of a compilation.
class FirstError : public clang::DiagnosticConsumer {
 public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level < clang::DiagnosticsEngine::Error || !text.empty()) return;
    llvm::SmallString<100> message;
    info.FormatDiagnostic(message);
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      clang::PresumedLoc at = info.getSourceManager().getPresumedLoc(info.getLocation());
      if (at.isValid()) text = std::string(at.getFilename()) + ":" + std::to_string(at.getLine()) + ": ";
    }
    text += message.str();
  }
  std::string text;
};

/// Parses the unit, with the changed files in place of those on disk.
std::unique_ptr<clang::ASTUnit> parse(const Unit& unit, const std::map<std::string, std::string>& changed,
                                      std::string& error) {
  Commands commands(unit);
  ClangTool tool(commands, {unit.file});
  for (const auto& [path, text] : changed) tool.mapVirtualFile(path, text);
  FirstError diagnostics;
  tool.setDiagnosticConsumer(&diagnostics);
  tool.setPrintErrorMessage(false);
  tool.appendArgumentsAdjuster(getInsertArgumentAdjuster(
      {"-Wno-everything", "-Werror=incompatible-pointer-types", "-fno-color-diagnostics"},
      ArgumentInsertPosition::END));
  std::vector<std::unique_ptr<clang::ASTUnit>> units;
  int failed = tool.buildASTs(units);
  if (failed != 0 || units.size() != 1 || !diagnostics.text.empty()) {
    error = diagnostics.text.empty() ? unit.file + " could not be compiled" : diagnostics.text;
    return nullptr;
  }
  return std::move(units[0]);
}

void edit_unit(clang::ASTUnit& unit, const Request& request, Change& change) {
  Source source(unit.getASTContext(), change);
  for (const Edit& edit : request.edits) {
    switch (edit.kind) {
      case Edit::Kind::kAtomic:
        make_atomic(source, edit);
        break;
      case Edit::Kind::kLock:
      case Edit::Kind::kNewLock:
        add_lock(source, edit);
        break;
      case Edit::Kind::kJoin:
        add_join(source, edit);
        break;
      case Edit::Kind::kPublish:
        move_publication(source, edit);
        break;
    }
  }
}

std::optional<std::string> read(const std::string& path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? std::optional((*buffer)->getBuffer().str()) : std::nullopt;
}

/// The files as they become.
std::map<std::string, std::string> texts_of(Change& change) {
  std::map<std::string, std::string> texts;
  for (auto& [path, replacements] : change.files) {
    std::optional<std::string> text = read(path);
    if (!text) {
      change.fail("cannot read " + path);
      return texts;
    }
    llvm::Expected<std::string> changed = applyAllReplacements(*text, replacements);
    if (!changed) {
      change.fail(llvm::toString(changed.takeError()));
      return texts;
    }
    texts[path] = *changed;
  }
  for (const std::string& one : change.includes) {
    std::string path = one.substr(0, one.find('\n')), header = one.substr(one.find('\n') + 1);
    auto text = texts.find(path);
    if (text == texts.end()) continue;
    if (text->second.find("#include " + header) != std::string::npos) continue;
    HeaderIncludes includes(path, text->second,
                            clang::format::getGoogleStyle(clang::format::FormatStyle::LK_Cpp).IncludeStyle);
    std::optional<Replacement> added =
        includes.insert(llvm::StringRef(header).trim("<>"), /*IsAngled=*/true, IncludeDirective::Include);
    if (!added) continue;  // is there
    llvm::Expected<std::string> changed = applyAllReplacements(text->second, Replacements(*added));
    if (changed) {
      text->second = *changed;
    } else {
      change.fail(llvm::toString(changed.takeError()));
    }
  }
  return texts;
}

/// Of what has to hold a lock only one access must be there: initialisations of members, for example, are no
/// statements, and whether the rest suffices is found out by those who run the program.
bool found_enough(const Edit& edit, const Change& change) {
  bool locks = edit.kind == Edit::Kind::kLock || edit.kind == Edit::Kind::kNewLock;
  return locks && std::any_of(edit.places.begin(), edit.places.end(),
                              [&](const Place& place) { return change.done.count(&place) != 0; });
}

void check_places(const Request& request, Change& change) {
  for (const Edit& edit : request.edits) {
    if (found_enough(edit, change)) continue;
    for (const std::vector<Place>* places : {&edit.places, &edit.threads}) {
      for (const Place& place : *places) {
        if (change.done.count(&place) == 0)
          change.fail("no access of " + place.name + " was found at " + place.file + ":" +
                      std::to_string(place.line));
      }
    }
  }
}

std::map<std::string, std::string> rewritten(const Request& request, Change& change) {
  for (const Unit& unit : request.units) {
    std::string error;
    std::unique_ptr<clang::ASTUnit> parsed = parse(unit, {}, error);
    if (parsed == nullptr) {
      change.fail("the source as it is does not compile: " + error);
      return {};
    }
    edit_unit(*parsed, request, change);
  }
  check_places(request, change);
  if (!change.error.empty()) return {};
  std::map<std::string, std::string> texts = texts_of(change);
  for (const Unit& unit : request.units) {
    std::string error;
    if (change.error.empty() && parse(unit, texts, error) == nullptr)
      change.fail("the change does not compile: " + error);
  }
  return texts;
}

int run() {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> input = llvm::MemoryBuffer::getSTDIN();
  Request request;
  Change change;
  std::string error = input ? read_request((*input)->getBuffer().str(), request) : "nothing to read";
  if (!error.empty()) change.fail(error);
  std::map<std::string, std::string> texts;
  if (change.error.empty()) texts = rewritten(request, change);
  llvm::json::Object answer;
  if (!change.error.empty()) {
    answer["error"] = llvm::json::fixUTF8(change.error);
  } else {
    llvm::json::Array files;
    for (const auto& [path, text] : texts)
      files.push_back(llvm::json::Object{{"path", path}, {"text", llvm::json::fixUTF8(text)}});
    answer["files"] = std::move(files);
  }
  llvm::outs() << llvm::json::Value(std::move(answer)) << "\n";
  return 0;
}

}  // namespace
}  // namespace duress::rewrite

int main() {
  return duress::rewrite::run();
}
