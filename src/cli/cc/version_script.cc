// SPDX-License-Identifier: Apache-2.0
#include "cli/cc/version_script.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

namespace duress::cc {
namespace {

constexpr std::string_view kHooks = " __duress_*; __tsan_*; ";

std::string without_comments(std::string text) {
  for (std::size_t at; (at = text.find("/*")) != std::string::npos;) {
    std::size_t end = text.find("*/", at + 2);
    text.erase(at, end == std::string::npos ? end : end + 2 - at);
  }
  return text;
}

/// Behind `label:`, from `begin` on; npos: it is not there before `end`.
std::size_t behind_label(const std::string& text, std::string_view label, std::size_t begin,
                         std::size_t end) {
  for (std::size_t at = begin; (at = text.find(label, at)) < end; at += label.size()) {
    std::size_t colon = text.find_first_not_of(" \t\r\n", at + label.size());
    if (colon < end && text[colon] == ':') return colon + 1;
  }
  return std::string::npos;
}

/// The hooks are global in the script's first node, which may have each label once. False: it is no such
/// script.
bool add_hooks(std::string& text) {
  std::size_t brace = text.find('{');
  std::size_t end = text.find("};", brace);
  if (brace == std::string::npos || end == std::string::npos) return false;
  std::size_t global = behind_label(text, "global", brace, end);
  if (global != std::string::npos) {
    text.insert(global, kHooks);
  } else if (behind_label(text, "local", brace, end) != std::string::npos) {
    text.insert(brace + 1, " global:" + std::string(kHooks));
  } else {
    text.insert(brace + 1, kHooks);
  }
  return true;
}

/// The same path if the file is no such script or cannot be copied.
std::string opened(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  text = without_comments(std::move(text));
  if (!add_hooks(text)) return path;
  int fd = memfd_create("version-script", 0);
  if (fd < 0) return path;
  if (write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    close(fd);
    return path;
  }
  return "/proc/self/fd/" + std::to_string(fd);
}

bool is_option(const std::string& word) {
  return word == "--version-script" || word == "-version-script";
}

/// `--version-script=FILE` or `-version-script=FILE`.
void open_joined(std::string& word) {
  std::size_t equals = word.find('=');
  if (equals != std::string::npos && is_option(word.substr(0, equals)))
    word = word.substr(0, equals + 1) + opened(word.substr(equals + 1));
}

/// The words of one -Wl, argument.
std::string open_words(const std::string& list) {
  std::string result, previous;
  for (std::size_t at = 0; at <= list.size();) {
    std::size_t end = std::min(list.find(',', at), list.size());
    std::string word = list.substr(at, end - at);
    std::string next = word;
    is_option(previous) ? void(next = opened(word)) : open_joined(next);
    result += (at ? "," : "") + next;
    previous = word;
    at = end + 1;
  }
  return result;
}

}  // namespace

void open_version_scripts(std::vector<std::string>& args) {
  constexpr std::string_view kLinker = "-Wl,";
  bool file_follows = false;  // in the argument of the next -Xlinker, or in the next -Wl,
  for (std::size_t i = 0; i < args.size(); ++i) {
    bool of_linker = args[i] == "-Xlinker" && i + 1 < args.size();
    if (args[i].starts_with(kLinker)) {
      std::string list = args[i].substr(kLinker.size());
      args[i] = std::string(kLinker) + (file_follows ? opened(list) : open_words(list));
      file_follows = is_option(list);
    } else if (of_linker) {
      std::string& word = args[++i];
      bool option = is_option(word);
      file_follows ? void(word = opened(word)) : open_joined(word);
      file_follows = option;
    }
  }
}

}  // namespace duress::cc
