// SPDX-License-Identifier: Apache-2.0
//
// Whoever reads the lines may be gone before the end (`| head`). The command then goes on without them: what
// it finds is kept, and its exit code says what it always says.
#include "cli/json_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "cli/commands.h"
#include "exec/session.h"

namespace duress::cli {
namespace {

constexpr const char* kWord = "lines";

/// While it lives, a pipe without a reader is an error code for this thread instead of its end. The program
/// that `duress run` starts must not inherit that, so it is not for the whole process.
class PipeSignalBlocked {
 public:
  PipeSignalBlocked() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalBlocked() {
    const timespec at_once{};
    while (sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipeSignalBlocked(const PipeSignalBlocked&) = delete;
  PipeSignalBlocked& operator=(const PipeSignalBlocked&) = delete;

 private:
  sigset_t pipe_{}, before_{};
};

}  // namespace

std::string JsonLines::place_in(const std::string& json) {
  if (json == kWord) return "-";
  const std::string prefix = fmt::format("{}:", kWord);
  return json.size() > prefix.size() && json.starts_with(prefix) ? json.substr(prefix.size()) : "";
}

std::string JsonLines::open(const std::string& place) {
  on_ = true;
  fd_ = STDOUT_FILENO;
  if (place == "-") return {};
  file_ = exec::Descriptor(::open(place.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  fd_ = file_.get();
  if (fd_ >= 0) return {};
  on_ = false;
  return fmt::format("cannot write '{}': {}", place, std::strerror(errno));
}

void JsonLines::write(const report::Json& line) {
  if (!on_) return;
  std::string text = line.dump(-1, ' ', false, report::Json::error_handler_t::replace) + "\n";
  bool written = false;
  int problem = 0;
  {
    PipeSignalBlocked blocked;
    written = exec::write_all(fd_, text);
    problem = errno;
  }
  if (written) return;
  on_ = false;
  say(fmt::format("--json=lines: {}; the work goes on without it", std::strerror(problem)));
}

void JsonLines::start(const std::string& command, std::int64_t seed, const std::vector<std::string>& target) {
  if (!on_ || started_) return;
  started_ = true;
  write({{"kind", "start"},
         {"schema", "duress-lines/1"},
         {"command", command},
         {"version", DURESS_VERSION},
         {"seed", seed},
         {"target", target}});
}

bool JsonLines::due(double seconds) {
  if (!on_ || seconds < last_ + 1) return false;
  last_ = seconds;
  return true;
}

void JsonLines::progress(report::Json figures) {
  report::Json line = {{"kind", "progress"}};
  line.update(figures);
  write(line);
}

void JsonLines::finding(const char* kind, const report::Json& finding, const std::string& key) {
  if (!on_) return;
  report::Json line = {{"kind", kind}};
  line[kind] = finding;
  std::string& known = written_[key];
  std::string text = finding.dump(-1, ' ', false, report::Json::error_handler_t::replace);
  if (known == text) return;
  known = std::move(text);
  write(line);
}

void JsonLines::race(const report::Json& race) {
  // The pairs of accesses to one variable have one id; each is told by its places.
  std::string key = report::text_at(race, "id");
  for (const report::Json& site : report::list_at(race, "sites"))
    key += fmt::format(" {} {}:{}:{}", report::text_at(site, "access"), report::text_at(site, "file"),
                       report::number_at(site, "line"), report::number_at(site, "column"));
  finding("race", race, key);
}

void JsonLines::failure(const report::Json& failure) {
  finding("failure", failure, report::text_at(failure, "id"));
}

void JsonLines::test_case(report::Json one) {
  write({{"kind", "case"}, {"case", std::move(one)}});
}

void JsonLines::finish(const report::Json& document) {
  if (!on_) return;
  std::vector<std::string> target = report::texts_at(document, "target");
  auto seed = document.find("seed");
  start(report::text_at(document, "command"),
        seed != document.end() && seed->is_number_integer() ? seed->get<std::int64_t>() : 1, target);
  for (const report::Json& one : report::list_at(document, "races")) race(one);
  for (const report::Json& one : report::list_at(document, "failures")) failure(one);
  report::Json rest = document;
  rest.erase("races");
  rest.erase("failures");
  rest.erase("schema");
  write({{"kind", "summary"}, {"document", std::move(rest)}});
}

}  // namespace duress::cli
