// SPDX-License-Identifier: Apache-2.0
#include "collide/unwinder.h"

#include <elfutils/libdwfl.h>

#include <cstring>

namespace duress::collide {
namespace {

constexpr std::size_t kMaxFrames = 64;
constexpr pid_t kAnyThread = 1;  // elfutils wants one; the callbacks answer for it

struct Snapshot {
  const Registers* registers = nullptr;
  const std::string* stack = nullptr;
  std::vector<Address> result;
  bool first = true;
};

int no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) {
  return -1;
}

// Nothing is looked for outside of the binaries: no debug files, no servers.
int no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                  char**) {
  return -1;
}

const Dwfl_Callbacks kFiles = {no_elf, no_debug_file, nullptr, nullptr};

pid_t next_thread(Dwfl*, void* snapshot, void** thread) {
  if (*thread != nullptr) return 0;
  *thread = snapshot;
  return kAnyThread;
}

bool get_thread(Dwfl*, pid_t, void* snapshot, void** thread) {
  *thread = snapshot;
  return true;
}

bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* argument) {
  // The attached state is for good, so it points to where the current snapshot is named.
  const Snapshot& snapshot = **static_cast<Snapshot**>(argument);
  Address start = (*snapshot.registers)[kRsp];
  if (address < start || address - start > snapshot.stack->size() ||
      snapshot.stack->size() - (address - start) < sizeof *result)
    return false;
  std::memcpy(result, snapshot.stack->data() + (address - start), sizeof *result);
  return true;
}

bool set_registers(Dwfl_Thread* thread, void* argument) {
  const Snapshot& snapshot = **static_cast<Snapshot**>(argument);
  Dwarf_Word values[kRegisters];
  for (int i = 0; i < kRegisters; ++i) values[i] = (*snapshot.registers)[i];
  if (!dwfl_thread_state_registers(thread, 0, kRegisters, values)) return false;
  dwfl_thread_state_register_pc(thread, values[kRip]);
  return true;
}

const Dwfl_Thread_Callbacks kThreads = {next_thread,   get_thread, read_memory,
                                        set_registers, nullptr,    nullptr};

int add_frame(Dwfl_Frame* frame, void* argument) {
  auto& snapshot = *static_cast<Snapshot*>(argument);
  Dwarf_Addr pc = 0;
  bool activation = false;
  if (!dwfl_frame_pc(frame, &pc, &activation)) return DWARF_CB_ABORT;
  if (snapshot.first) {
    snapshot.first = false;
    return DWARF_CB_OK;
  }
  // Where a signal came in, the instruction itself is meant and not the one before.
  snapshot.result.push_back(activation ? pc + 1 : pc);
  return snapshot.result.size() < kMaxFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

}  // namespace

struct Unwinder::Impl {
  Dwfl* dwfl = nullptr;
  Snapshot* current = nullptr;
  bool attached = false;
};

Unwinder::Unwinder(const std::vector<finding::ModuleRecord>& modules) : impl_(std::make_unique<Impl>()) {
  impl_->dwfl = dwfl_begin(&kFiles);
  if (impl_->dwfl == nullptr) return;
  dwfl_report_begin(impl_->dwfl);
  for (const finding::ModuleRecord& module : modules)
    dwfl_report_elf(impl_->dwfl, module.path.c_str(), module.path.c_str(), -1, module.base, true);
  dwfl_report_end(impl_->dwfl, nullptr, nullptr);
  impl_->attached = dwfl_attach_state(impl_->dwfl, nullptr, kAnyThread, &kThreads, &impl_->current);
}

Unwinder::~Unwinder() {
  if (impl_->dwfl != nullptr) dwfl_end(impl_->dwfl);
}

std::vector<Address> Unwinder::callers(const Registers& registers, const std::string& stack) {
  Snapshot snapshot;
  snapshot.registers = &registers;
  snapshot.stack = &stack;
  if (!impl_->attached) return {};
  impl_->current = &snapshot;
  dwfl_getthread_frames(impl_->dwfl, kAnyThread, add_frame, &snapshot);
  impl_->current = nullptr;
  return std::move(snapshot.result);
}

}  // namespace duress::collide
