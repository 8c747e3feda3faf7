// SPDX-License-Identifier: Apache-2.0
//
// The edits of a fix go into the source files together or not at all: everything is written beside the files
// first, and only when nothing is left that could fail for want of room or permission do the files change
// places.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "repair/advice.h"

namespace duress::repair {
namespace {

namespace fs = std::filesystem;

/// A file with its new text beside it.
struct Staged {
  std::string path;  // of the file itself, where a link leads
  std::string fresh, kept;
};

std::string problem_with(const std::string& path) {
  return "cannot write '" + path + "': " + std::strerror(errno);
}

/// Writes the text with the permissions of the original, and keeps the original. "" or what went wrong.
std::string write_beside(const Staged& file, const std::string& text) {
  struct stat info{};
  if (stat(file.path.c_str(), &info) != 0) return problem_with(file.path);
  // Renaming needs only the folder; a file that must not be written is left alone all the same.
  if (access(file.path.c_str(), W_OK) != 0) return problem_with(file.path);
  std::FILE* out = std::fopen(file.fresh.c_str(), "wxe");
  if (out == nullptr) return problem_with(file.fresh);
  bool good = std::fwrite(text.data(), 1, text.size(), out) == text.size() && std::fflush(out) == 0 &&
              fchmod(fileno(out), info.st_mode & 07777) == 0 && fsync(fileno(out)) == 0;
  std::string problem = good ? "" : problem_with(file.fresh);
  if (std::fclose(out) != 0 && problem.empty()) problem = problem_with(file.fresh);
  std::error_code code;
  if (problem.empty() && !fs::copy_file(file.path, file.kept, code))
    problem = "cannot write '" + file.kept + "': " + code.message();
  return problem;
}

/// Puts the new files in their places, or none of them.
std::string change_places(const std::vector<Staged>& files) {
  std::string problem;
  std::size_t changed = 0;
  for (const Staged& file : files) {
    if (std::rename(file.fresh.c_str(), file.path.c_str()) != 0) {
      problem = problem_with(file.path);
      break;
    }
    ++changed;
  }
  for (std::size_t i = 0; i < changed && !problem.empty(); ++i)
    std::rename(files[i].kept.c_str(), files[i].path.c_str());
  return problem;
}

}  // namespace

std::string apply_advice(const Advice& advice) {
  std::vector<Staged> files;
  for (const FileEdit& edit : advice.edits) {
    std::optional<FileEdit> now = open_for_edit(edit.path);
    if (!now) return "cannot read " + edit.path;
    if (now->before != edit.before)
      return edit.path + " has changed since the fix was found; run duress verify again";
    std::error_code ignored;
    fs::path real = fs::canonical(edit.path, ignored);
    Staged file{real.empty() ? edit.path : real.string(), "", ""};
    file.fresh = file.path + ".new" + std::to_string(getpid());
    file.kept = file.path + ".old" + std::to_string(getpid());
    files.push_back(std::move(file));
  }
  std::string problem;
  for (std::size_t i = 0; i < files.size() && problem.empty(); ++i)
    problem = write_beside(files[i], joined_lines(advice.edits[i].after, advice.edits[i].ends_in_newline));
  if (problem.empty()) problem = change_places(files);
  for (const Staged& file : files) {
    unlink(file.fresh.c_str());  // what is left after a problem
    unlink(file.kept.c_str());
  }
  return problem;
}

}  // namespace duress::repair
