// SPDX-License-Identifier: Apache-2.0
#include "collide/module.h"

#include <algorithm>

#include "finding/text.h"

namespace duress::collide {

bool is_runtime_library(const std::string& path) {
  std::string name = finding::base_name(path);
  for (const char* prefix :
       {"ld-linux",   "ld-musl",  "ld-2.",     "ld.so",     "libc.so",   "libc-2.",  "libc.musl",
        "libpthread", "libdl.so", "libdl-2.",  "librt.so",  "librt-2.",  "libm.so",  "libm-2.",
        "libmvec",    "libgcc_s", "libstdc++", "libc++.so", "libc++abi", "libgomp",  "libomp.so",
        "libatomic",  "libtsan",  "libasan",   "libubsan",  "libnss_",   "libresolv"}) {
    if (name.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

Module::Module(int id, std::string path, std::shared_ptr<ElfFile> file, Address bias)
    : id_(id),
      path_(std::move(path)),
      file_(std::move(file)),
      bias_(bias),
      runtime_(is_runtime_library(path_)) {
  Range extent = file_->extent();
  begin_ = extent.begin + bias_;
  end_ = extent.end + bias_;
}

std::uint64_t Module::weight() {
  if (!weighed_) {
    weighed_ = true;
    std::uint64_t sum = 0;
    for (const Range& range : file_->functions()) ends_.push_back(sum += range.end - range.begin);
  }
  return ends_.empty() ? 0 : ends_.back();
}

const std::vector<Module::Candidate>& Module::candidates(std::size_t function) {
  auto [it, fresh] = candidates_.try_emplace(function);
  if (!fresh) return it->second;
  const Range& range = file_->functions()[function];
  auto decoded = Function::decode(file_->code(range), range.begin);
  if (!decoded) return it->second;
  for (std::size_t i : decoded->samples([this](Address address) { return file_->writable(address); }))
    it->second.push_back({decoded->instructions()[i].address, decoded->instructions()[i].length});
  return it->second;
}

std::optional<Module::Candidate> Module::pick(Prng& prng) {
  if (weight() == 0) return std::nullopt;
  // A function by its size, then one of its bytes: that many of them as there are instructions to sample
  // stand for one each, so that all instructions have the same chance and only functions that were hit
  // need to be decoded.
  std::uint64_t byte = prng.below(ends_.back());
  auto function =
      static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), byte) - ends_.begin());
  std::uint64_t within = byte - (function == 0 ? 0 : ends_[function - 1]);
  const std::vector<Candidate>& found = candidates(function);
  if (within >= found.size()) return std::nullopt;
  return Candidate{found[within].address + bias_, found[within].length};
}

std::optional<Function> Module::function_at(Address address) {
  const std::vector<Range>& functions = file_->functions();
  Address wanted = address - bias_;
  auto it = std::upper_bound(functions.begin(), functions.end(), wanted,
                             [](Address a, const Range& range) { return a < range.begin; });
  if (it == functions.begin() || wanted > (--it)->end) return std::nullopt;
  return Function::decode(file_->code(*it), it->begin);
}

std::string Module::bytes(Address address, std::size_t size) const {
  return std::string(file_->rest_from(address - bias_).substr(0, size));
}

}  // namespace duress::collide
