// SPDX-License-Identifier: Apache-2.0
#include "cluster/folder.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "exec/files.h"
#include "exec/worker.h"

namespace duress::cluster {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using exec::read_file;
using exec::write_file;

constexpr u64 kRoomWanted = u64{2} << 30;
constexpr u64 kKeptCampaigns = 2;  // the current one and the one before

std::string dump(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
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
  if (room) return "/dev/shm/duress-work-" + std::to_string(getuid());
  const char* temporary = std::getenv("TMPDIR");
  return std::string(temporary != nullptr && *temporary != '\0' ? temporary : "/tmp") + "/duress-" +
         std::to_string(getuid());
}

std::string program_path(const std::string& word) {
  if (word.find('/') != std::string::npos) return word;
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "/usr/bin:/bin";
  for (std::size_t at = 0; at <= rest.size();) {
    std::size_t end = std::min(rest.find(':', at), rest.size());
    std::string candidate = (end == at ? "." : rest.substr(at, end - at)) + "/" + word;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    at = end + 1;
  }
  return word;
}

std::string build_of(const std::string& path) {
  std::optional<std::string> bytes = read_file(path);
  if (!bytes) return {};
  // Only the note in the program headers: it is there in stripped programs too.
  Elf64_Ehdr head;
  if (bytes->size() >= sizeof head && std::memcmp(bytes->data(), ELFMAG, SELFMAG) == 0) {
    std::memcpy(&head, bytes->data(), sizeof head);
    for (unsigned i = 0; i < head.e_phnum; ++i) {
      Elf64_Phdr segment;
      u64 at = head.e_phoff + u64{i} * sizeof segment;
      if (at > bytes->size() || bytes->size() - at < sizeof segment) break;
      std::memcpy(&segment, bytes->data() + at, sizeof segment);
      if (segment.p_type != PT_NOTE || segment.p_offset > bytes->size() ||
          segment.p_filesz > bytes->size() - segment.p_offset)
        continue;
      const char* note = bytes->data() + segment.p_offset;
      for (u64 left = segment.p_filesz; left >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr header;
        std::memcpy(&header, note, sizeof header);
        u64 name = (u64{header.n_namesz} + 3) / 4 * 4, text = (u64{header.n_descsz} + 3) / 4 * 4;
        u64 size = sizeof header + name + text;
        if (size > left) break;
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4) {
          std::string id;
          for (u64 k = 0; k < header.n_descsz; ++k) {
            auto byte = static_cast<unsigned char>(note[sizeof header + name + k]);
            id += "0123456789abcdef"[byte >> 4];
            id += "0123456789abcdef"[byte & 15];
          }
          return id;
        }
        note += size;
        left -= size;
      }
    }
  }
  return "hash " + hex(hash_of(*bytes));
}

std::optional<Folder> Folder::current(const std::string& dir) {
  std::optional<std::string> text = read_file(dir + "/cluster/current");
  u64 number = text ? std::strtoull(text->c_str(), nullptr, 10) : 0;
  if (number == 0) return std::nullopt;
  return Folder(dir + "/cluster/" + std::to_string(number));
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
  std::optional<std::string> text = read_file(path_ + "/campaign.json");
  if (!text) return std::nullopt;
  try {
    Json json = Json::parse(*text);
    CampaignFile file;
    file.epoch = json.at("epoch");
    file.finished = json.at("finished");
    file.complete = json.at("complete");
    file.protocol = json.at("protocol");
    file.version = json.at("version");
    file.command = json.at("command");
    file.arguments = json.at("arguments").get<std::vector<std::string>>();
    file.target = json.at("target").get<std::vector<std::string>>();
    file.folder = json.at("folder");
    file.input = json.at("input");
    file.environment = json.at("environment").get<std::vector<std::string>>();
    return file;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string Folder::save(const CampaignFile& file) const {
  Json json;
  json["epoch"] = file.epoch;
  json["finished"] = file.finished;
  json["complete"] = file.complete;
  json["protocol"] = file.protocol;
  json["version"] = file.version;
  json["command"] = file.command;
  json["arguments"] = file.arguments;
  json["target"] = file.target;
  json["folder"] = file.folder;
  json["input"] = file.input;
  json["environment"] = file.environment;
  return write_private(path_ + "/campaign.json", dump(json));
}

std::optional<DriverFile> Folder::driver() const {
  std::optional<std::string> text = read_file(path_ + "/driver.json");
  if (!text) return std::nullopt;
  try {
    Json json = Json::parse(*text);
    return DriverFile{json.at("epoch"), json.at("beat"),    json.at("host"),  json.at("pid"),
                      json.at("done"),  json.at("waiting"), json.at("reused")};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string Folder::save(const DriverFile& file) const {
  Json json;
  json["epoch"] = file.epoch;
  json["beat"] = file.beat;
  json["host"] = file.host;
  json["pid"] = file.pid;
  json["done"] = file.done;
  json["waiting"] = file.waiting;
  json["reused"] = file.reused;
  return write_file(path_ + "/driver.json", dump(json));
}

std::string Folder::save_spec(const exec::WorkerOptions& options, u64& hash) const {
  Json json;
  json["target"] = options.target;
  json["input"] = "";
  if (!options.input.empty()) {
    std::optional<std::string> text = read_file(options.input);
    if (!text) return "cannot read '" + options.input + "': " + std::strerror(errno);
    std::string copy = "inputs/" + hex(hash_of(*text));  // workers may see the folder elsewhere
    if (std::string error = write_file(path_ + "/" + copy, *text); !error.empty()) return error;
    json["input"] = copy;
  }
  json["chain"] = options.chain;
  json["run_seconds"] = options.run_seconds;
  std::string binary = program_path(options.target.at(0));
  json["binary"] = binary;
  json["build"] = build_of(binary);
  std::string text = dump(json);
  hash = hash_of(text);
  return write_file(path_ + "/specs/" + hex(hash) + ".json", text);
}

std::optional<Spec> Folder::spec(u64 hash) const {
  std::optional<std::string> text = read_file(path_ + "/specs/" + hex(hash) + ".json");
  if (!text) return std::nullopt;
  try {
    Json json = Json::parse(*text);
    return Spec{json.at("target").get<std::vector<std::string>>(),
                json.at("input"),
                json.at("chain"),
                json.at("run_seconds"),
                json.at("binary"),
                json.at("build")};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
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
