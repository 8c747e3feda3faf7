// SPDX-License-Identifier: Apache-2.0
#include "collide/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "finding/text.h"

namespace duress::collide {
namespace {

constexpr std::uint64_t kKeptPerPair = 4;  // records of the same two instructions
constexpr std::size_t kStackBytes = 32 * 1024;
constexpr Address kLongestCopy = Address{1} << 20;

/// Whether [a, a + a_size) and [b, b + b_size) share a byte.
bool overlap(Address a, std::uint64_t a_size, Address b, std::uint64_t b_size) {
  return a < b + b_size && b < a + a_size;
}

finding::Access access_of(const Operand& operand) {
  return operand.writes ? finding::Access::kWrite : finding::Access::kRead;
}

}  // namespace

void Recorder::thread(int number, int parent, pid_t tid) {
  finding::ThreadRecord record;
  record.id = number;
  record.parent = parent;
  // A thread without a name of its own has its creator's.
  std::string name = finding::first_line(read_file(fmt::format("/proc/{}/task/{}/comm", pid_, tid)));
  if (name != finding::first_line(read_file(fmt::format("/proc/{}/comm", pid_)))) record.name = name;
  auto [it, fresh] = threads_.try_emplace(number, record);
  if (!fresh && !record.name.empty()) it->second.name = record.name;
}

finding::InstructionRecord Recorder::describe(Module& module, const Function& function, std::size_t index,
                                              const Operand& operand, Address data) const {
  const Instruction& instruction = function.instructions()[index];
  finding::InstructionRecord record;
  record.address = instruction.address + module.bias();
  record.text = disassemble(module.bytes(record.address, instruction.length), instruction.address);
  record.operand = operand;
  record.atomic = instruction.atomic;
  record.updates = function.updates(index);
  record.direct = instruction.update != Update::kNone;
  record.adds = instruction.update == Update::kAdds;
  record.wide = operand.size > 8 || (operand.size != 0 && data % 8 + operand.size > 8);
  record.only_gcc = module.only_gcc();
  record.bits = instruction.bits;
  return record;
}

std::vector<Address> Recorder::stack(Address innermost, const Registers& registers,
                                     const std::string& bytes) {
  if (!unwinder_ || unwinder_modules_ != space_.records().size()) {
    unwinder_modules_ = space_.records().size();
    unwinder_ = std::make_unique<Unwinder>(space_.records());
  }
  std::vector<Address> result{innermost};
  std::vector<Address> callers = unwinder_->callers(registers, bytes);
  result.insert(result.end(), callers.begin(), callers.end());
  return result;
}

/// Whether other processes or devices may change the memory, by rules that this process does not show.
bool Recorder::shared_outside(Address data) const {
  for (const Mapping& mapping : read_maps(pid_)) {
    if (mapping.begin <= data && data < mapping.end) return mapping.shared;
  }
  return true;  // gone already
}

/// Who was met, in `record`. The registers are those after the access.
bool Recorder::other_side(const Collision& collision, finding::AccessRecord& record) {
  record.thread = collision.other_thread;
  record.access = finding::Access::kWrite;
  record.address = collision.data;
  record.size = collision.operand.size;
  if (collision.other_thread < 0) return !shared_outside(collision.data);
  thread(collision.other_thread, -1, collision.other_tid);
  bool changed = collision.before != collision.after;
  if (!collision.hit.detailed) return changed;

  const Registers& registers = collision.hit.registers;
  const Address ip = registers[kRip];
  record.stack = stack(ip, registers, collision.hit.stack);
  Module* module = space_.module_at(ip);
  auto function = module != nullptr ? module->function_at(ip) : std::nullopt;
  if (!function) return changed;
  std::optional<std::size_t> index = function->at(ip - module->bias());
  if (index && !function->instructions()[*index].repeats) index.reset();  // else it is not finished
  if (!index) index = function->ending_at(ip - module->bias());
  if (!index) return changed;
  const Instruction& instruction = function->instructions()[*index];
  for (std::size_t i = 0; i < instruction.operands; ++i) {
    const Operand& operand = instruction.operand[i];
    if (!operand.writes && !collision.operand.writes) continue;
    auto moved = [&](int number) {
      return number >= 0 && number < kRip && (instruction.writes_registers >> number & 1) != 0;
    };
    // Where a register of the address was overwritten, the trap itself has to be believed; a string
    // instruction's registers have moved on, by no more than one of its copies is long.
    bool known = !moved(operand.base) && !moved(operand.index);
    Address data = operand.address(registers, module->bias());
    if (instruction.repeats && data - collision.data > kLongestCopy) continue;
    if (known && !overlap(data, operand.size, collision.data, collision.operand.size)) continue;
    if (instruction.atomic || instruction.unsure || function->speculative(*index)) return false;
    // Hand-written string functions read beyond the end of what they were given, and throw it away.
    if (module->runtime() && !operand.writes && operand.size > 8) return false;
    if (!known) data = collision.data;
    record.access = access_of(operand);
    record.address = data;
    record.size = operand.size;
    record.instruction = describe(*module, *function, *index, operand, data);
    record.stack[0] = record.instruction->address + 1;
    return true;
  }
  return changed;
}

bool Recorder::add(const Collision& collision) {
  const Address met = collision.hit.detailed ? collision.hit.registers[kRip] : 0;
  ++seen_[collision.code];
  if (++pairs_[{collision.code, met}] > kKeptPerPair) return true;
  Module* module = space_.module_at(collision.code);
  auto function = module != nullptr ? module->function_at(collision.code) : std::nullopt;
  if (!function) return false;
  auto index = function->at(collision.code - module->bias());
  if (!index) return false;

  finding::RaceRecord race;
  race.analysis = "Collide";
  race.cur.thread = collision.thread;
  race.cur.access = access_of(collision.operand);
  race.cur.address = collision.data;
  race.cur.size = collision.operand.size;
  race.cur.instruction = describe(*module, *function, *index, collision.operand, collision.data);
  thread(collision.thread, -1, collision.tid);
  if (!other_side(collision, race.prev)) return false;
  std::string bytes(kStackBytes, '\0');
  long got = space_.memory().read(collision.registers[kRsp], bytes.data(), bytes.size());
  bytes.resize(static_cast<std::size_t>(std::max(0l, got)));
  race.cur.stack = stack(collision.code + 1, collision.registers, bytes);

  // The bytes that both touch.
  Address begin = std::max(race.cur.address, race.prev.address);
  Address end = std::min(race.cur.address + race.cur.size, race.prev.address + race.prev.size);
  race.address = begin;
  race.size = end - begin;
  race.modules_loaded = space_.records().size();
  race.collision = finding::CollisionRecord{collision.before.substr(begin - collision.data, race.size),
                                            collision.after.substr(begin - collision.data, race.size),
                                            collision.held_microseconds};
  races_.push_back(std::move(race));
  return true;
}

std::uint64_t Recorder::seen(Address code) const {
  auto it = seen_.find(code);
  return it == seen_.end() ? 0 : it->second;
}

finding::ProcessLog Recorder::log() const {
  finding::ProcessLog log;
  log.pid = pid_;
  log.chain = "Collide";
  log.modules = space_.records();
  log.threads = threads_;
  log.races = races_;
  return log;
}

}  // namespace duress::collide
