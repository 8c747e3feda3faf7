// SPDX-License-Identifier: Apache-2.0
//
// What a compiler command line asks for, as far as the wrapper must know: does it link, and what? The line
// itself is passed on, but for our own option; response files are opened only to look.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace duress::cc {

struct Request {
  bool has_input = false;
  bool only_assembly = true;  // every input is assembly
  bool links = true;          // no -c, -S, -E, ...
  bool relocatable = false;   // -r
  bool shared = false;
  bool is_static = false;
  bool no_stdlib = false;
  bool has_debug_option = false;  // -g, -g0, -ggdb, ...
  bool sanitize_thread = false;
  bool sanitize_address = false;
  bool other_target = false;  // not 64-bit x86 Linux
  bool is_cc1 = false;        // the compiler's inner interface
  bool only_run = false;      // -fduress=run
  bool tsan_objects = false;  // --tsan-objects
  std::string tsan_runtime;   // the word that links ThreadSanitizer's own runtime; empty: none
  std::string problem;        // of our own option; empty: none
};

Request read_arguments(const std::vector<std::string>& args);

/// -fduress=... and --tsan-objects, which the compiler does not know.
bool is_own_option(std::string_view word);

/// The file is ThreadSanitizer's runtime as rustc brings it, which links it whatever the linker's options
/// say.
bool is_rust_tsan_runtime(std::string_view path);

}  // namespace duress::cc
