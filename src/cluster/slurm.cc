// SPDX-License-Identifier: Apache-2.0
#include "cluster/slurm.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "exec/child.h"
#include "exec/files.h"
#include "exec/target_start.h"

namespace duress::cluster {
namespace {

using exec::Descriptor;

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string trimmed(const std::string& text) {
  std::size_t begin = text.find_first_not_of(" \t\r\n"), end = text.find_last_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// Columns of squeue -O: it knows no separator in older versions, but widths.
constexpr struct {
  const char* name;
  std::size_t width;
} kColumns[] = {{"ArrayTaskID", 12}, {"State", 20}, {"RestartCnt", 12}, {"Reason", 40}, {"NodeList", 60}};

}  // namespace

std::string CommandResult::last_line() const {
  std::string last;
  std::istringstream lines(errors + "\n" + output);
  for (std::string line; std::getline(lines, line);) {
    if (std::string text = trimmed(line); !text.empty() && last.empty()) last = text;
  }
  // "sbatch: error: invalid partition": the program name is redundant.
  for (const char* mark : {"error: ", "Batch job submission failed: "}) {
    std::size_t at = last.find(mark);
    if (at != std::string::npos) last = last.substr(at + std::strlen(mark));
  }
  return last;
}

CommandResult run_command(const std::vector<std::string>& words) {
  CommandResult result;
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0) return result;
  Descriptor out_read(out[0]), out_write(out[1]);
  if (pipe2(err, O_CLOEXEC) != 0) return result;
  Descriptor err_read(err[0]), err_write(err[1]);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  struct Call {
    char** argv;
    int out, err;
  } call{argv.data(), out[1], err[1]};
  pid_t pid = exec::start_own(
      [](void* argument) {
        auto* the = static_cast<Call*>(argument);
        pid_t child = fork();
        if (child != 0) return child;
        setpgid(0, 0);  // Ctrl-C is for us
        dup2(the->out, STDOUT_FILENO);
        dup2(the->err, STDERR_FILENO);
        int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        execvp(the->argv[0], the->argv);
        _exit(127);
      },
      &call);
  if (pid < 0) return result;
  out_write.reset();
  err_write.reset();
  for (bool open_out = true, open_err = true; open_out || open_err;) {
    pollfd ready[2] = {{open_out ? out[0] : -1, POLLIN, 0}, {open_err ? err[0] : -1, POLLIN, 0}};
    if (poll(ready, 2, -1) < 0 && errno != EINTR) break;
    for (int i = 0; i < 2; ++i) {
      if (ready[i].revents == 0) continue;
      char buffer[4096];
      ssize_t got = read(ready[i].fd, buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) (i == 0 ? open_out : open_err) = false;
      if (got > 0) (i == 0 ? result.output : result.errors).append(buffer, static_cast<std::size_t>(got));
    }
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  exec::own_ended(pid);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

bool ArrayTask::ended() const {
  for (const char* running :
       {"PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "REQUEUED", "REQUEUE_HOLD",
        "REQUEUE_FED", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED", "SPECIAL_EXIT"}) {
    if (state == running) return false;
  }
  return true;
}

std::string check_slurm() {
  for (const char* command : {"sbatch", "squeue", "scancel"}) {
    if (exec::find_program(command).empty())
      return std::string("no ") + command +
             " here: install Slurm's commands (Debian: apt-get install slurm-client) on a machine of the "
             "cluster, or use --executor shared with workers that you start yourself";
  }
  return {};
}

std::string array_script(const ArrayOptions& options) {
  std::string text = "#!/bin/sh\nexec";
  for (const std::string& word : options.command) text += " " + quoted(word);
  // The tasks' numbers are the shards'.
  return text + " --shard \"$SLURM_ARRAY_TASK_ID/" + std::to_string(options.workers) + "\"\n";
}

std::string submit(const ArrayOptions& options, std::string& job) {
  std::string script = options.folder + "/task.sh";
  if (std::string error = exec::write_file(script, array_script(options)); !error.empty()) return error;
  std::vector<std::string> words{
      "sbatch",    "--parsable",         "--array=1-" + std::to_string(options.workers), "--job-name=duress",
      "--requeue", "--open-mode=append", "--output=" + options.folder + "/task-%a.out"};
  if (!options.partition.empty()) words.push_back("--partition=" + options.partition);
  words.insert(words.end(), options.more.begin(), options.more.end());
  words.push_back(script);
  CommandResult result = run_command(words);
  job = trimmed(result.output);
  job = job.substr(0, job.find(';'));  // "17;cluster"
  if (result.code == 0 && !job.empty() && job.find_first_not_of("0123456789") == std::string::npos) return {};
  std::string why = result.last_line();
  if (why.find("artition") != std::string::npos) {
    std::string known;
    std::istringstream lines(run_command({"sinfo", "-h", "-o", "%R"}).output);
    for (std::string line; std::getline(lines, line);) known += (known.empty() ? "" : ", ") + trimmed(line);
    if (!known.empty()) why += " (there are: " + known + "; --partition says which)";
  }
  return "sbatch rejected the job array: " + (why.empty() ? "no message" : why);
}

std::map<u64, ArrayTask> parse_tasks(const std::string& text) {
  std::map<u64, ArrayTask> tasks;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::size_t at = 0;
    for (const auto& column : kColumns) {
      cells.push_back(at < line.size() ? trimmed(line.substr(at, column.width)) : "");
      at += column.width;
    }
    char* end = nullptr;
    u64 number = std::strtoull(cells[0].c_str(), &end, 10);
    if (cells[0].empty() || *end != '\0') continue;
    tasks[number] = {cells[1], std::strtoull(cells[2].c_str(), nullptr, 10), cells[3], cells[4]};
  }
  return tasks;
}

bool array_tasks(const std::string& job, std::map<u64, ArrayTask>& tasks, std::string& error) {
  std::string format;
  for (const auto& column : kColumns)
    format += (format.empty() ? "" : ",") + std::string(column.name) + ":" + std::to_string(column.width);
  CommandResult result = run_command({"squeue", "-h", "-r", "-j", job, "--states=all", "-O", format});
  tasks = parse_tasks(result.output);
  if (result.code == 0) return true;
  error = result.last_line();
  return error.find("Invalid job id") != std::string::npos;  // it has forgotten the job: it ended long ago
}

std::string cancel(const std::string& job) {
  CommandResult result = run_command({"scancel", job});
  return result.code == 0 ? "" : "scancel " + job + ": " + result.last_line();
}

std::string ranges_text(const std::vector<u64>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace duress::cluster
