// SPDX-License-Identifier: Apache-2.0
#include "exec/log_folder.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "exec/files.h"
#include "exec/target_start.h"
#include "trail/whole_mark.h"

namespace duress::exec {

namespace fs = std::filesystem;

static constexpr int kGaveUp = 125;  // the runtime has said why

std::string cannot_write(const std::string& folder, int error) {
  const char* advice = error == ENOSPC || error == EDQUOT ? "make room, or give another folder with --dir"
                       : error == EFBIG                   ? "raise the limit on file sizes (ulimit -f)"
                                                          : "give another folder with --dir";
  return "cannot write below '" + folder + "': " + std::strerror(error) + "; " + advice;
}

std::string damage_of(const finding::RunLog& logs) {
  if (logs.problems.empty()) return {};
  const finding::LogProblem& problem = logs.problems.front();
  return problem.file + ":" + std::to_string(problem.line) + ": the log of an execution is damaged (" +
         problem.what + "); does the program write to descriptors that it did not open?";
}

std::string LogFolder::make(const std::string& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) return cannot_write(path, code.value());
  if (std::string error = check_option_path(path); !error.empty()) return error;
  path_ = path;
  if (!write_file(path + "/" + trail::kWholeMark, "a line that is lost removes this file\n").empty())
    return cannot_write(path, errno);
  return {};
}

std::string LogFolder::problem() const {
  if (access((path_ + "/" + trail::kWholeMark).c_str(), F_OK) == 0) return {};
  return "the log of a process could not be written below '" + path_ +
         "': the disk was full, or the folder was removed; make room, or give another folder with --dir";
}

std::string LogFolder::problem(const Execution& execution) const {
  if (std::string text = problem(); !text.empty()) return text;
  if (execution.record.log_bytes == 0) return {};
  struct stat info{};
  std::string path = log_of(execution.pid);
  if (stat(path.c_str(), &info) != 0)
    return "the log '" + path + "' of an execution is gone: " + std::strerror(errno) +
           "; give another folder with --dir, or does the program enter a sandbox (seccomp) without openat?";
  auto size = static_cast<u64>(info.st_size);
  // One that was killed while it wrote has more: the last line is cut off.
  if (size >= execution.record.log_bytes) return {};
  return "the log '" + path + "' of an execution has " + std::to_string(size) + " bytes of " +
         std::to_string(execution.record.log_bytes) + "; give another folder with --dir";
}

std::string LogFolder::problem(const finding::RunLog& logs, const LaunchResult& run) const {
  if (std::string text = problem(); !text.empty()) return text;
  if (run.signalled && run.code == SIGXFSZ)
    return "the program or its log reached the limit on file sizes; raise it (ulimit -f)";
  if (std::string text = damage_of(logs); !text.empty()) return text;
  const finding::ProcessLog* first = nullptr;  // the last image of the first process
  for (const finding::ProcessLog& process : logs.processes) {
    if (process.pid == run.pid) first = &process;
  }
  // A signal may cut the log short; what is in it has happened all the same.
  if (first == nullptr || first->exit || run.signalled || run.code == kGaveUp) return {};
  return "the log '" + first->file +
         "' has no end: the program left without exit(), or the log was cut off; what it did last is not "
         "known";
}

finding::RunLogs LogFolder::read(int pid) const {
  return finding::read_run_logs(path_, pid);
}

bool LogFolder::read_files(std::vector<std::pair<std::string, std::string>>& files) const {
  std::error_code code;
  for (fs::directory_iterator it(path_, code), end; !code && it != end; it.increment(code)) {
    if (it->path().extension() != ".jsonl") continue;
    std::optional<std::string> text = read_file(it->path());
    if (!text) return false;
    files.emplace_back(it->path().filename(), std::move(*text));
  }
  return !code;
}

std::string LogFolder::write_files(const std::vector<std::pair<std::string, std::string>>& files) const {
  for (const auto& [name, text] : files) {
    if (!write_file(path_ + "/" + name, text).empty()) return cannot_write(path_, errno);
  }
  return {};
}

void LogFolder::drop(int pid) const {
  unlink(log_of(pid).c_str());
}

bool LogFolder::clear(int but) const {
  std::error_code code;
  bool all = true;
  for (fs::directory_iterator it(path_, code), end; !code && it != end; it.increment(code)) {
    std::error_code kept;
    if (it->path().extension() == ".jsonl" && it->path().stem() != std::to_string(but))
      fs::remove(it->path(), kept);
    all = all && !kept;
  }
  return all && !code;
}

}  // namespace duress::exec
