// SPDX-License-Identifier: Apache-2.0
//
// Small things done with files and descriptors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace duress::exec {

/// Closes what it holds.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

/// The whole file, or its last `most` bytes if it is longer; nothing if it cannot be read.
std::optional<std::string> read_file(const std::string& path, std::uint64_t most = ~std::uint64_t{0});

/// Replaces the file as a whole, so that a reader or a crash never sees half of it. "" or what went wrong
/// (and in errno why).
std::string write_file(const std::string& path, const std::string& text);

/// Makes the folder and its parents, and a .gitignore in `root` if that did not exist. "" or what went wrong.
std::string make_folder(const std::string& path, const std::string& root);

/// Waits until no other process holds the lock of that file, which is made if it does not exist, and holds it
/// until the descriptor is closed. Nothing if the file system has no locks.
Descriptor lock_file(const std::string& path);

/// duress::hash_of of a file's content; of the empty text if it cannot be read.
std::uint64_t hash_of_file(const std::string& path);

}  // namespace duress::exec
