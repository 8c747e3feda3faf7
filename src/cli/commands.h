// SPDX-License-Identifier: Apache-2.0
//
// The commands of `duress`, one file each, and what they share: messages and exit codes.
#ifndef DURESS_CLI_COMMANDS_H_
#define DURESS_CLI_COMMANDS_H_

#include <memory>
#include <string>
#include <vector>

namespace duress::exec {
struct WorkerProblem;
}
namespace duress::finding {
class Names;
}  // namespace duress::finding

namespace duress::cli {

// docs/guide/run.md lists them for users.
inline constexpr int kExitOk = 0;
inline constexpr int kExitWrongUse = 2;
inline constexpr int kExitFindings = 66;
inline constexpr int kExitOutOfTime = 124;
inline constexpr int kExitToolFailed = 125;

using Arguments = std::vector<std::string>;  // without the program's and the command's name

struct Command {
  const char* name;
  const char* synopsis;
  const char* summary;
  int (*run)(const Arguments& arguments);
};

/// Every command, in the order of the help.
const std::vector<Command>& commands();

int run_command(const Arguments& arguments);
int explore_command(const Arguments& arguments);
int replay_command(const Arguments& arguments);
int classify_command(const Arguments& arguments);
int test_command(const Arguments& arguments);
int trace_command(const Arguments& arguments);
int collide_command(const Arguments& arguments);
int verify_command(const Arguments& arguments);
int fix_command(const Arguments& arguments);
int report_command(const Arguments& arguments);
int pin_command(const Arguments& arguments);
int work_command(const Arguments& arguments);
int status_command(const Arguments& arguments);
int merge_command(const Arguments& arguments);
int list_command(const Arguments& arguments);
int doctor_command(const Arguments& arguments);
int cmake_command(const Arguments& arguments);

/// Names for a campaign's addresses, from debug information.
std::unique_ptr<finding::Names> make_names();

/// Why a target could not be controlled, in one line.
std::string worker_problem_text(const std::string& program, const exec::WorkerProblem& problem);

/// One line on stderr, "duress: TEXT", with control characters made harmless.
void say(const std::string& text);

/// Prints what is wrong and how to get help; returns kExitWrongUse.
int wrong_use(const std::string& command, const std::string& text);

}  // namespace duress::cli

#endif  // DURESS_CLI_COMMANDS_H_
