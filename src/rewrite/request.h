// SPDX-License-Identifier: Apache-2.0
//
// What duress-rewrite is asked for, on its standard input, as JSON:
//   {"units": [{"directory": "/src", "file": "/src/bank.cc", "command": ["clang++", "-std=c++20", ...]}],
//    "edits": [{"kind": "lock", "mutex": "m", "places": [{"file": ..., "line": 7, "name": "balance"}]}]}
// and what it answers: {"files": [{"path": ..., "text": ...}]} or {"error": "..."}.
#pragma once

#include <string>
#include <vector>

namespace duress::rewrite {

/// A translation unit and how it is compiled.
struct Unit {
  std::string directory, file;
  std::vector<std::string> command;
};

/// A line of the source that accesses a variable.
struct Place {
  std::string file;
  unsigned line = 0;
  std::string name;  // of the variable or member, unqualified
};

struct Edit {
  enum class Kind { kAtomic, kLock, kNewLock, kJoin, kPublish } kind = Kind::kAtomic;
  std::string mutex;           // kLock: its name, qualified ("Account::m") or not
  std::vector<Place> places;   // accesses; kJoin and kPublish: the first is the access that must come later
  std::vector<Place> threads;  // kJoin: where the threads are made, or joined now; kPublish: what moves down
};

struct Request {
  std::vector<Unit> units;
  std::vector<Edit> edits;
};

/// "" or what is wrong with the text.
std::string read_request(const std::string& text, Request& request);

}  // namespace duress::rewrite
