// SPDX-License-Identifier: Apache-2.0
//
// A binary that is loaded into the target, and the instructions in it that are worth a breakpoint.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/prng.h"
#include "collide/elf_file.h"
#include "collide/function.h"

namespace duress::collide {

/// Whether a library is part of the C or C++ run-time system. Its code is never sampled: what it does between
/// threads is synchronisation, in ways that only its authors can call right or wrong.
bool is_runtime_library(const std::string& path);

class Module {
 public:
  Module(int id, std::string path, std::shared_ptr<ElfFile> file, Address bias);

  int id() const { return id_; }
  const std::string& path() const { return path_; }
  Address bias() const { return bias_; }
  Address begin() const { return begin_; }
  Address end() const { return end_; }
  bool holds(Address address) const { return begin_ <= address && address < end_; }
  bool runtime() const { return runtime_; }
  bool only_gcc() const { return file_->only_gcc(); }

  /// Bytes of all functions: how likely this module is to be sampled.
  std::uint64_t weight();

  /// An instruction to sample, at an address of the target.
  struct Candidate {
    Address address = 0;
    std::uint8_t length = 0;
  };

  /// A random one, each with the same chance. Nothing if the dice fell on bytes that are none: try again.
  std::optional<Candidate> pick(Prng& prng);

  /// The function around an address of the target, decoded in the file's addresses.
  std::optional<Function> function_at(Address address);
  /// The file's bytes for an address of the target; fewer where the segment ends.
  std::string bytes(Address address, std::size_t size) const;

 private:
  /// Of one function, in the file's addresses.
  const std::vector<Candidate>& candidates(std::size_t function);

  int id_;
  std::string path_;
  std::shared_ptr<ElfFile> file_;
  Address bias_, begin_, end_;
  bool runtime_;
  bool weighed_ = false;
  std::vector<std::uint64_t> ends_;  // running sum of the functions' sizes
  std::unordered_map<std::size_t, std::vector<Candidate>> candidates_;
};

}  // namespace duress::collide
