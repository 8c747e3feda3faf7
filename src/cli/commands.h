// SPDX-License-Identifier: Apache-2.0
//
// The commands of `duress`, one file each, and what they share: messages and exit codes.
#pragma once

#include <string>
#include <vector>

#include "exec/exit_code.h"

namespace duress::exec {
struct WorkerProblem;
}

namespace duress::cli {

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
int record_command(const Arguments& arguments);                 // duress trace record
int analyze_command(const Arguments& arguments, bool predict);  // duress trace analyze, predict
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
/// The part of it about one program.
int doctor_program(const std::vector<std::string>& target);
int demo_command(const Arguments& arguments);
int config_command(const Arguments& arguments);
int cmake_command(const Arguments& arguments);

/// What is to be done with a program that is not instrumented; "" if it is.
std::string not_instrumented_text(const std::string& program);
/// Why a target could not be controlled, in one line.
std::string worker_problem_text(const std::string& program, const exec::WorkerProblem& problem);

/// `duress pin --run`: performs the test in the file `path`, with the program `target` if it is given.
int run_pin(const std::string& path, const std::vector<std::string>& target);

/// One line on stderr, "duress: TEXT", with control characters made harmless.
void say(const std::string& text);
/// The same without "duress: ".
void say_plain(const std::string& text);

/// `path` as users want to see it: relative if it lies below the current folder.
std::string report_path(const std::string& path);

/// Prints what is wrong and how to get help; returns kExitWrongUse.
int wrong_use(const std::string& command, const std::string& text);

}  // namespace duress::cli
