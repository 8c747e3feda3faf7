// SPDX-License-Identifier: Apache-2.0
//
// <dir>/work/NAME belongs to who holds the lock of <dir>/work/NAME.lock. The lock is taken before the folder
// is made and dropped after it was removed, so a folder whose lock is free has no owner.
#include "exec/work_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

namespace duress::exec {
namespace {

namespace fs = std::filesystem;

constexpr char kLockSuffix[] = ".lock";

/// The lock of that folder; nothing if somebody else holds it (EWOULDBLOCK), or if it cannot be taken
/// (errno).
Descriptor lock_of(const std::string& folder) {
  const std::string path = folder + kLockSuffix;
  for (;;) {
    Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file || flock(file.get(), LOCK_EX | LOCK_NB) != 0) return {};
    struct stat held{}, named{};
    if (fstat(file.get(), &held) != 0) return {};
    // Its owner may have removed it between the two calls, and another made it anew.
    if (stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev)
      return file;
  }
}

/// A file system that cannot lock: nothing is known of the owners of folders there, so they stay.
bool without_locks(int error) {
  return error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

/// With the lock held.
void remove(const std::string& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  unlink((folder + kLockSuffix).c_str());
}

void remove_stale(const std::string& all) {
  std::vector<std::string> folders;
  std::error_code code;
  for (fs::directory_iterator it(all, code), end; !code && it != end; it.increment(code)) {
    std::string path = it->path().string();
    if (path.ends_with(kLockSuffix)) path.resize(path.size() - std::strlen(kLockSuffix));
    folders.push_back(path);
  }
  for (const std::string& folder : folders) {
    if (Descriptor lock = lock_of(folder)) remove(folder);
  }
}

}  // namespace

WorkFolder::WorkFolder(const std::string& dir) {
  constexpr int kMostNames = 1000;
  const std::string all = dir + "/work";
  error_ = make_folder(all, dir);
  if (!error_.empty()) return;
  remove_stale(all);
  const std::string first = all + "/" + std::to_string(getpid());
  for (int attempt = 0; attempt < kMostNames; ++attempt) {
    std::string path = attempt == 0 ? first : first + "-" + std::to_string(attempt);
    lock_ = lock_of(path);
    // A process of another container may have the same number.
    if (!lock_ && errno == EWOULDBLOCK) continue;
    if (!lock_ && !without_locks(errno)) break;
    if (mkdir(path.c_str(), 0777) == 0) {
      path_ = path;
      return;
    }
    if (errno != EEXIST) break;
  }
  error_ = "cannot make a folder below '" + all + "': " + std::strerror(errno) + "; give another with --dir";
}

WorkFolder::~WorkFolder() {
  if (!path_.empty()) remove(path_);
}

}  // namespace duress::exec
