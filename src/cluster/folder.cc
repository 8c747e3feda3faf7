// SPDX-License-Identifier: Apache-2.0
#include "cluster/folder.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "exec/child.h"
#include "exec/files.h"
#include "exec/ownership.h"
#include "exec/program.h"
#include "exec/worker.h"

namespace duress::cluster {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using exec::read_file;
using exec::write_file;

constexpr u64 kRoomWanted = u64{2} << 30;
constexpr u64 kKeptCampaigns = 2;  // the current one and the one before

// The members of each file, for reading and writing: visit(name, member).

template <typename Campaign, typename Visit>
  requires std::same_as<std::remove_const_t<Campaign>, CampaignFile>
void each_member(Campaign& file, Visit visit) {
  visit("epoch", file.epoch);
  visit("finished", file.finished);
  visit("complete", file.complete);
  visit("protocol", file.protocol);
  visit("version", file.version);
  visit("command", file.command);
  visit("arguments", file.arguments);
  visit("target", file.target);
  visit("folder", file.folder);
  visit("input", file.input);
  visit("environment", file.environment);
}

template <typename Driver, typename Visit>
  requires std::same_as<std::remove_const_t<Driver>, DriverFile>
void each_member(Driver& file, Visit visit) {
  visit("epoch", file.epoch);
  visit("beat", file.beat);
  visit("host", file.host);
  visit("pid", file.pid);
  visit("done", file.done);
  visit("waiting", file.waiting);
  visit("reused", file.reused);
}

template <typename Program, typename Visit>
  requires std::same_as<std::remove_const_t<Program>, Spec>
void each_member(Program& spec, Visit visit) {
  visit("target", spec.target);
  visit("input", spec.input);
  visit("chain", spec.chain);
  visit("run_seconds", spec.run_seconds);
  visit("binary", spec.binary);
  visit("build", spec.build);
}

template <typename File>
std::string text_of(const File& file) {
  Json json;
  each_member(file, [&](const char* name, const auto& member) { json[name] = member; });
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <typename File>
std::optional<File> load(const std::string& path) {
  std::optional<std::string> text = read_file(path);
  if (!text || !exec::owner_problem(path).empty()) return std::nullopt;
  try {
    Json json = Json::parse(*text);
    File file;
    each_member(file, [&](const char* name, auto& member) { json.at(name).get_to(member); });
    return file;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

/// Environments may hold secrets.
std::string write_private(const std::string& path, const std::string& text) {
  mode_t old = umask(077);
  std::string error = write_file(path, text);
  umask(old);
  return error;
}

}  // namespace

std::string hex(u64 number) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  std::string text = name;
  for (char& c : text) {
    if (std::strchr("/. \t\n", c) != nullptr) c = '-';
  }
  return text.empty() ? "host" : text;
}

std::string local_folder() {
  // In memory if there is plenty: files that are emptied and written again for each execution cost ext4 a
  // flush each time (a merge of 1,376: 3.3 s against 0.7).
  struct statvfs info{};
  bool room = access("/dev/shm", W_OK) == 0 && statvfs("/dev/shm", &info) == 0 &&
              u64{info.f_bavail} * info.f_frsize >= kRoomWanted;
  std::string user = std::to_string(getuid());
  std::string folder = room ? exec::private_folder("/dev/shm/duress-work-" + user) : "";
  if (!folder.empty()) return folder;
  const char* temporary = std::getenv("TMPDIR");
  std::string name =
      std::string(temporary != nullptr && *temporary != '\0' ? temporary : "/tmp") + "/duress-" + user;
  folder = exec::private_folder(name);
  return folder.empty() ? name : folder;  // whoever makes something below it says why that cannot be
}

std::optional<Folder> Folder::current(const std::string& dir) {
  std::optional<std::string> text = read_file(dir + "/cluster/current");
  u64 number = text ? std::strtoull(text->c_str(), nullptr, 10) : 0;
  if (number == 0) return std::nullopt;
  return Folder(dir + "/cluster/" + std::to_string(number));
}

std::string Folder::owner_problem() const {
  std::string error = exec::owner_problem(path_);
  return error.empty() ? exec::owner_problem(path_ + "/campaign.json") : error;
}

Folder Folder::make(const std::string& dir, const CampaignFile& campaign, std::string& error) {
  std::optional<std::string> text = read_file(dir + "/cluster/current");
  u64 number = (text ? std::strtoull(text->c_str(), nullptr, 10) : 0) + 1;
  Folder folder(dir + "/cluster/" + std::to_string(number));
  std::error_code ignored;
  fs::remove_all(folder.path(), ignored);
  for (u64 old = 1; old + kKeptCampaigns <= number; ++old)
    fs::remove_all(dir + "/cluster/" + std::to_string(old), ignored);
  for (const char* part : {"specs", "inputs", "queue", "shards", "slurm"}) {
    error = exec::make_folder(folder.path() + "/" + part, dir);
    if (!error.empty()) return folder;
  }
  error = folder.save(campaign);
  if (error.empty()) error = write_file(dir + "/cluster/current", std::to_string(number) + "\n");
  return folder;
}

std::optional<CampaignFile> Folder::campaign() const {
  return load<CampaignFile>(path_ + "/campaign.json");
}

std::string Folder::save(const CampaignFile& file) const {
  return write_private(path_ + "/campaign.json", text_of(file));
}

std::optional<DriverFile> Folder::driver() const {
  return load<DriverFile>(path_ + "/driver.json");
}

std::string Folder::save(const DriverFile& file) const {
  return write_file(path_ + "/driver.json", text_of(file));
}

std::string Folder::save_spec(const exec::WorkerOptions& options, u64& hash) const {
  Spec spec{
      options.target, "", options.chain, options.run_seconds, exec::program_path(options.target.at(0)), ""};
  if (spec.binary.empty()) spec.binary = options.target[0];  // the worker will say that it is not there
  spec.build = exec::build_of(spec.binary);
  if (!options.input.empty()) {
    std::optional<std::string> text = read_file(options.input);
    if (!text) return "cannot read '" + options.input + "': " + std::strerror(errno);
    spec.input = "inputs/" + hex(hash_of(*text));  // a copy: workers may see the folder elsewhere
    if (std::string error = write_file(path_ + "/" + spec.input, *text); !error.empty()) return error;
  }
  std::string text = text_of(spec);
  hash = hash_of(text);
  return write_file(path_ + "/specs/" + hex(hash) + ".json", text);
}

std::optional<Spec> Folder::spec(u64 hash) const {
  return load<Spec>(path_ + "/specs/" + hex(hash) + ".json");
}

std::vector<std::string> Folder::workers() const {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator it(shards(), code), end; !code && it != end; it.increment(code))
    names.push_back(it->path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace duress::cluster
