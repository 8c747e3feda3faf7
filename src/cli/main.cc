// SPDX-License-Identifier: Apache-2.0
//
// The program with the commands, which launcher.cc starts: finds the command by its name.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include "catalog/lookup.h"
#include "cli/commands.h"
#include "report/symbolizer.h"

namespace duress::cli {
namespace {

void print_help() {
  fmt::print("duress finds data races in C and C++ programs.\n\nUsage: duress COMMAND ...\n\n");
  for (const Command& command : commands()) {
    bool wide = std::strlen(command.synopsis) > 30;
    fmt::print("  {:<30}{}  {}\n", command.synopsis, wide ? "\n" + std::string(32, ' ') : "",
               command.summary);
  }
  fmt::print(
      "\n  duress COMMAND --help           all options of a command\n"
      "  duress --version                the version\n\n"
      "Build a program with duress-cc or duress-c++ instead of clang, then run it:\n\n"
      "  duress-c++ -g -O2 counter.cc -o counter\n"
      "  duress run -- ./counter\n"
      "  duress explore -- ./counter\n\n"
      "With a build system:\n\n"
      "  CC=duress-cc CXX=duress-c++ ./configure && make\n"
      "  cmake -B build -DCMAKE_TOOLCHAIN_FILE=$(duress cmake)\n\n"
      "A program built so behaves as always when started by itself.\n");
}

int dispatch(const std::vector<std::string>& words) {
  if (words.empty()) {
    say("no command given; see duress --help");
    return kExitWrongUse;
  }
  const std::string& name = words[0];
  if (name == "--help" || name == "-h" || name == "help") {
    print_help();
    return kExitOk;
  }
  if (name == "--version") {
    fmt::print("duress {}\n", DURESS_VERSION);
    return kExitOk;
  }
  std::vector<std::string> known;
  for (const Command& command : commands()) {
    if (name == command.name) return command.run({words.begin() + 1, words.end()});
    known.emplace_back(command.name);
  }
  return wrong_use("", fmt::format("unknown {} '{}'{}", name[0] == '-' ? "option" : "command", name,
                                   catalog::nearest_hint(name, known)));
}

constexpr std::string_view kNoMemory =
    "duress: out of memory: nothing is known; give it more (ulimit -v), or fewer workers (-j)\n";

constexpr std::string_view kNoThread =
    "duress: cannot start a thread or process: raise the limit (ulimit -u), or use fewer workers (-j)\n";

/// Whether our own stacks are large enough; a crash would say nothing.
bool has_stack() {
  constexpr rlim_t kLeast = rlim_t{512} << 10;
  struct rlimit limit{};
  return getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeast;
}

int failed(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  return kExitToolFailed;
}

/// Not abort(), which would be a crash without a word of ours. What was started ends with us.
[[noreturn]] void end_at_once(std::string_view text) {
  ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  (void)ignored;
  _exit(kExitToolFailed);
}

/// A file that is opened must not become a standard stream, or output would end up in it. As before, nothing
/// can be read from those that were closed, or written to them.
void occupy_closed_streams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    if (open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) _exit(kExitToolFailed);
  }
}

/// One that the machine is to blame for. "": it is our fault.
std::string limit_text(const std::system_error& error) {
  struct stat folder{};
  if (error.code() == std::errc::no_such_file_or_directory &&
      (stat(".", &folder) != 0 || folder.st_nlink == 0))
    return "the current folder has been removed; go to one that is there (cd)";
  std::string limit = error.code() == std::errc::too_many_files_open             ? "ulimit -n"
                      : error.code() == std::errc::too_many_files_open_in_system ? "sysctl fs.file-max"
                                                                                 : "";
  if (limit.empty()) return {};
  return fmt::format("{}; raise the limit ({})", error.what(), limit);
}

std::atomic<bool> no_memory{false};

[[noreturn]] void note_no_memory() {
  no_memory = true;
  throw std::bad_alloc();
}

/// --dir "", as a script gives it whose variable is not set.
bool is_empty_path(const std::system_error& error) {
  auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error);
  return file != nullptr && error.code() == std::errc::invalid_argument && file->path1().empty();
}

/// An exception that nobody can catch: in a thread, or while another one is handled. One that is on its way
/// through a destructor cannot be looked at.
[[noreturn]] void end_uncaught() {
  if (!std::current_exception() && no_memory) end_at_once(kNoMemory);
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    end_at_once(kNoMemory);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) end_at_once(kNoThread);
    if (std::string text = limit_text(error); !text.empty()) end_at_once("duress: " + text + "\n");
  } catch (...) {
  }
  end_at_once("duress: internal error: an exception was not caught\n");
}

}  // namespace
}  // namespace duress::cli

int main(int argc, char** argv) {
  using namespace duress::cli;
  occupy_closed_streams();
  std::set_terminate(end_uncaught);
  std::set_new_handler(note_no_memory);
  duress::report::when_out_of_memory([] { end_at_once(kNoMemory); });
  signal(SIGCHLD, SIG_DFL);  // who starts us may ignore it: the kernel then forgets how children ended
  signal(SIGXFSZ, SIG_IGN);  // a file that reaches the limit (ulimit -f) is an error code
  if (!has_stack()) {
    say("the limit on stacks is too low for duress; raise it (ulimit -s 8192)");
    return duress::kExitToolFailed;
  }
  try {
    int code = dispatch({argv + 1, argv + argc});
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    const char* why = errno != 0 ? std::strerror(errno) : "a part of it was lost before";
    say(fmt::format("cannot write to standard output: {}", why));
    return duress::kExitToolFailed;
  } catch (const std::bad_alloc&) {
    return failed(kNoMemory);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) return failed(kNoThread);
    if (is_empty_path(error)) {
      say("a path is empty; give the name of a file or folder");
      return duress::kExitWrongUse;
    }
    if (std::string text = limit_text(error); !text.empty()) {
      say(text);
      return duress::kExitToolFailed;
    }
    say(fmt::format("internal error: {}", error.what()));
    return duress::kExitToolFailed;
  } catch (const std::exception& error) {
    say(fmt::format("internal error: {}", error.what()));
    return duress::kExitToolFailed;
  }
}
