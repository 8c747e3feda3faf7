// SPDX-License-Identifier: Apache-2.0
//
// From a place in an object to the member that lies there, by the object's declared type.
#pragma once

#include "report/dwarf.h"

namespace duress::report {

/// What lies `offset` bytes into an object of type `written` that is called `name`; `element`: the object may
/// be one of an array of them.
DeclaredVariable member_inside(DWARFDie written, std::string name, std::uint64_t offset, std::uint64_t size,
                               bool element);

/// The way from an object of type `written` to the one that begins `offset` bytes into it: "[2].mutex"; "" if
/// that is the object itself, or there is none. Types of the C and C++ libraries are not looked into.
std::string path_inside(DWARFDie written, std::uint64_t offset);

}  // namespace duress::report
