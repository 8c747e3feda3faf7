// SPDX-License-Identifier: Apache-2.0
#include "cluster/slurm.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "exec/child.h"
#include "exec/files.h"

namespace duress::cluster {
namespace {

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

std::string last_line(const exec::ChildOutput& said) {
  std::string last;
  std::istringstream lines(said.errors + "\n" + said.output);
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

exec::ChildOutput run_command(const std::vector<std::string>& words) {
  exec::ChildStart start;
  start.argv = words;
  return exec::run_child(start, 3600);
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
  exec::ChildOutput result = run_command(words);
  job = trimmed(result.output);
  job = job.substr(0, job.find(';'));  // "17;cluster"
  if (result.code == 0 && !job.empty() && job.find_first_not_of("0123456789") == std::string::npos) return {};
  std::string why = last_line(result);
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
  exec::ChildOutput result = run_command({"squeue", "-h", "-r", "-j", job, "--states=all", "-O", format});
  tasks = parse_tasks(result.output);
  if (result.code == 0) return true;
  error = last_line(result);
  return error.find("Invalid job id") != std::string::npos;  // it has forgotten the job: it ended long ago
}

std::string cancel(const std::string& job) {
  exec::ChildOutput result = run_command({"scancel", job});
  return result.code == 0 ? "" : "scancel " + job + ": " + last_line(result);
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
