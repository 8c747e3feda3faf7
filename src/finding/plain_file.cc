// SPDX-License-Identifier: Apache-2.0
#include "finding/plain_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace duress::finding {

bool is_plain_file(const std::string& path) {
  struct stat info{};
  return path.find('\0') == std::string::npos && stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         info.st_size > 0;
}

PlainFile::PlainFile(const std::string& path) {
  if (!is_plain_file(path)) return;
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  // That says nothing about the file: without names, findings would be other ones.
  if (fd < 0 && (errno == EMFILE || errno == ENFILE))
    throw std::system_error(errno, std::generic_category(), "cannot open '" + path + "'");
  struct stat info{};
  if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    auto size = static_cast<std::size_t>(info.st_size);
    void* at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    good_ = at != MAP_FAILED;
    if (good_) bytes_ = {static_cast<const char*>(at), size};
  }
  if (fd >= 0) close(fd);
}

PlainFile::~PlainFile() {
  if (good_) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace duress::finding
