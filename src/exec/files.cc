// SPDX-License-Identifier: Apache-2.0
#include "exec/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/hash.h"
#include "exec/ownership.h"

namespace duress::exec {

namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostOfDevice = 64u << 20;  // /dev/zero has no end

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Descriptor::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

std::optional<std::string> read_file(const std::string& path, std::uint64_t most) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info{};
  if (!file || fstat(file.get(), &info) != 0) return std::nullopt;
  if (S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return std::nullopt;
  }
  if (S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) > most)
    lseek(file.get(), static_cast<off_t>(static_cast<std::uint64_t>(info.st_size) - most), SEEK_SET);
  std::string text;
  char buffer[1 << 16];
  while (text.size() < most) {
    ssize_t got = read(file.get(), buffer, std::min<std::uint64_t>(sizeof buffer, most - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
    if (S_ISCHR(info.st_mode) && text.size() > kMostOfDevice) {
      errno = EFBIG;
      return std::nullopt;
    }
  }
  return text;
}

std::string write_file(const std::string& path, const std::string& text) {
  std::string fresh = path + ".new" + std::to_string(getpid());
  std::FILE* file = std::fopen(fresh.c_str(), "we");
  bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int error = errno;
  if (file != nullptr && std::fclose(file) != 0 && good) {
    good = false;
    error = errno;
  }
  if (good && std::rename(fresh.c_str(), path.c_str()) != 0) {
    good = false;
    error = errno;
  }
  if (good) return {};
  unlink(fresh.c_str());
  errno = error;
  return "cannot write '" + path + "': " + std::strerror(error);
}

std::string make_folder(const std::string& path, const std::string& root) {
  std::error_code code;
  bool fresh = !fs::exists(root, code);
  if (std::string error = owner_problem(root); !error.empty()) return error;
  fs::create_directories(path, code);
  if (code) return "cannot make the folder '" + path + "': " + code.message() + "; give another with --dir";
  if (fresh) {  // what we leave behind should not show up in version control
    if (std::FILE* file = std::fopen((root + "/.gitignore").c_str(), "wxe")) {
      std::fputs("*\n", file);
      std::fclose(file);
    }
  }
  return {};
}

Descriptor lock_file(const std::string& path) {
  Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  while (file && flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) file.reset();
  }
  return file;
}

std::uint64_t hash_of_file(const std::string& path) {
  Hasher hasher;
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char buffer[1 << 16];
  while (file) {
    ssize_t got = read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    hasher.add({buffer, static_cast<std::size_t>(got)});
  }
  return hasher.value();
}

}  // namespace duress::exec
