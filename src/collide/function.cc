// SPDX-License-Identifier: Apache-2.0
#include "collide/function.h"

#include <algorithm>

namespace duress::collide {
namespace {

constexpr std::size_t kWindow = 16;  // instructions between the load and the store of one update

std::uint32_t bit(int number) {
  return number >= 0 && number < kRip ? 1u << number : 0;
}

std::uint32_t address_registers(const Operand& operand) {
  return bit(operand.base) | bit(operand.index);
}

}  // namespace

std::optional<Function> Function::decode(std::string_view bytes, Address begin) {
  Function result;
  const Address end = begin + bytes.size();
  for (std::size_t offset = 0; offset < bytes.size();) {
    auto instruction = collide::decode(bytes.substr(offset), begin + offset);
    if (!instruction) return std::nullopt;
    if (instruction->target && *instruction->target >= begin && *instruction->target < end)
      result.labels_.insert(*instruction->target);
    if (instruction->writes_registers == bit(kRbp) && instruction->reads_registers == bit(kRsp) &&
        instruction->operands == 0)
      result.frame_pointer_ = true;  // mov rbp, rsp or lea rbp, [rsp + x]
    offset += instruction->length;
    result.instructions_.push_back(*instruction);
  }
  for (Address label : result.labels_) {
    if (!result.at(label)) return std::nullopt;
  }
  return result;
}

std::optional<std::size_t> Function::at(Address address) const {
  auto it = std::lower_bound(instructions_.begin(), instructions_.end(), address,
                             [](const Instruction& a, Address b) { return a.address < b; });
  if (it == instructions_.end() || it->address != address) return std::nullopt;
  return static_cast<std::size_t>(it - instructions_.begin());
}

std::optional<std::size_t> Function::ending_at(Address address) const {
  auto it = std::lower_bound(instructions_.begin(), instructions_.end(), address,
                             [](const Instruction& a, Address b) { return a.end() < b; });
  if (it == instructions_.end() || it->end() != address) return std::nullopt;
  return static_cast<std::size_t>(it - instructions_.begin());
}

std::vector<std::size_t> Function::samples(const std::function<bool(Address)>& writable) const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    const Instruction& instruction = instructions_[i];
    if (instruction.operands == 0 || instruction.atomic || instruction.unsure || speculative(i)) continue;
    const Operand& operand = instruction.operand[0];
    if (frame_pointer_ && operand.base == kRbp) continue;
    if (operand.base == kRip && !writable(static_cast<Address>(operand.displacement))) continue;
    result.push_back(i);
  }
  return result;
}

bool Function::straight(std::size_t from, std::size_t to) const {
  for (std::size_t i = from + 1; i <= to; ++i) {
    if (labels_.count(instructions_[i].address) != 0) return false;
    if (i < to && instructions_[i].calls) return false;
  }
  return true;
}

bool Function::stores_back(std::size_t load, std::size_t store) const {
  const Instruction& first = instructions_[load];
  const Instruction& last = instructions_[store];
  if (first.operands != 1 || last.operands != 1 || !first.plain_load || !last.plain_store) return false;
  const Operand& operand = first.operand[0];
  if (!operand.same_place(last.operand[0]) || !straight(load, store)) return false;
  const std::uint32_t address = address_registers(operand);
  if ((first.writes_registers & address) != 0) return false;
  std::uint32_t derived = first.writes_registers;  // registers whose value comes from the load
  for (std::size_t i = load + 1; i < store; ++i) {
    const Instruction& step = instructions_[i];
    if ((step.writes_registers & address) != 0) return false;
    if ((step.reads_registers & derived) != 0)
      derived |= step.writes_registers;
    else
      derived &= ~step.writes_registers;
  }
  return (last.reads_registers & ~address & derived) != 0;
}

bool Function::updates(std::size_t index) const {
  const Instruction& instruction = instructions_[index];
  if (instruction.update != Update::kNone) return true;
  if (instruction.plain_store) {
    for (std::size_t i = index; i-- > 0 && index - i <= kWindow;) {
      if (stores_back(i, index)) return true;
    }
  }
  if (instruction.plain_load) {
    std::size_t end = std::min(instructions_.size(), index + kWindow + 1);
    for (std::size_t i = index + 1; i < end; ++i) {
      if (stores_back(index, i)) return true;
    }
  }
  return false;
}

bool Function::speculative(std::size_t index) const {
  const Instruction& load = instructions_[index];
  if (!load.plain_load) return false;
  std::size_t end = std::min(instructions_.size(), index + kWindow);
  for (std::size_t i = index + 1; i < end; ++i) {
    const Instruction& step = instructions_[i];
    if (((step.reads_registers | step.writes_registers) & load.writes_registers) != 0) return step.cmov;
    if (step.jumps) return false;
  }
  return false;
}

}  // namespace duress::collide
