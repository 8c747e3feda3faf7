// SPDX-License-Identifier: Apache-2.0
#include "exec/ownership.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace duress::exec {
namespace {

bool trusted(uid_t owner) {
  if (owner == geteuid() || owner == 0) return true;
  const char* caller = geteuid() == 0 ? std::getenv("SUDO_UID") : nullptr;
  return caller != nullptr && std::to_string(owner) == caller;
}

std::string user_name(uid_t user) {
  const passwd* entry = getpwuid(user);
  return (entry != nullptr ? std::string(entry->pw_name) + " (" : "number (") + std::to_string(user) + ")";
}

}  // namespace

std::string owner_problem(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || trusted(info.st_uid)) return {};
  return "'" + path + "' belongs to user " + user_name(info.st_uid) +
         ", who could have you run any program; give another folder with --dir, or copy it";
}

std::string private_folder(const std::string& path) {
  constexpr int kMostNames = 100;
  for (int i = 0; i < kMostNames; ++i) {
    std::string name = i == 0 ? path : path + "-" + std::to_string(i);
    if (mkdir(name.c_str(), 0700) != 0 && errno != EEXIST) return {};
    struct stat info{};
    if (lstat(name.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) continue;
    if ((info.st_mode & 0077) == 0 || chmod(name.c_str(), 0700) == 0) return name;
  }
  errno = EEXIST;
  return {};
}

}  // namespace duress::exec
