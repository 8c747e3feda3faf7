// SPDX-License-Identifier: Apache-2.0
//
// Plans and executions as bytes, for files that other processes read. Both ends are the same build of
// duress (Folder compares protocol_name()), so structures are copied as they are in memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "exec/plan.h"
#include "exec/remote.h"

namespace duress::cluster {

std::string plan_bytes(const exec::Plan& plan);
/// Nothing if the bytes are invalid.
std::optional<exec::Plan> read_plan(std::string_view bytes);

/// Compressed where that pays.
std::string run_bytes(const exec::RemoteRun& run);
std::optional<exec::RemoteRun> read_run(std::string_view bytes);

/// Two builds that give the same name understand each other's bytes.
std::string protocol_name();

}  // namespace duress::cluster
