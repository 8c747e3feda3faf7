// SPDX-License-Identifier: Apache-2.0
#include "collide/decoder.h"

#include <Zydis/Zydis.h>

namespace duress::collide {
namespace {

const ZydisDecoder& decoder() {
  static const ZydisDecoder instance = [] {
    ZydisDecoder result;
    ZydisDecoderInit(&result, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return result;
  }();
  return instance;
}

/// The DWARF number of the general register that holds `reg`, or kNoRegister.
int dwarf_number(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP) return kRip;
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64) return kNoRegister;
  // Instructions count rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi.
  static constexpr int kOrder[] = {0, 2, 1, 3, 7, 6, 4, 5};
  int id = ZydisRegisterGetId(whole);
  return id < 8 ? kOrder[id] : id;
}

std::uint32_t bit(int number) {
  return number >= 0 && number < kRip ? 1u << number : 0;
}

constexpr ZydisOperandActions kReads = ZYDIS_OPERAND_ACTION_MASK_READ;
constexpr ZydisOperandActions kWrites = ZYDIS_OPERAND_ACTION_MASK_WRITE;

bool is_string(const ZydisDecodedInstruction& instruction) {
  return instruction.meta.category == ZYDIS_CATEGORY_STRINGOP;
}

/// Names memory without touching it, or in a way that no program's data takes part in.
bool leaves_memory_alone(const ZydisDecodedInstruction& instruction) {
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_MPX:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
    case ZYDIS_CATEGORY_IOSTRINGOP:
      return true;
    default:
      return instruction.mnemonic == ZYDIS_MNEMONIC_CLFLUSH || instruction.mnemonic == ZYDIS_MNEMONIC_LEA;
  }
}

bool may_touch_less(const ZydisDecodedInstruction& instruction) {
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
      return true;
    default:
      break;
  }
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_CMOV:  // reads memory even where the source would not
    case ZYDIS_CATEGORY_FCMOV:
    case ZYDIS_CATEGORY_GATHER:
    case ZYDIS_CATEGORY_AVX2GATHER:
    case ZYDIS_CATEGORY_SCATTER:
    case ZYDIS_CATEGORY_COMPRESS:
    case ZYDIS_CATEGORY_EXPAND:
      return true;
    default:
      return instruction.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED;
  }
}

/// What a read-modify-write, or a test, does with its constant operand.
void add_update(const ZydisDecodedInstruction& raw, const ZydisDecodedOperand* operands, Instruction& out) {
  std::uint64_t constant = 0;
  bool has_constant = false;
  for (int i = 0; i < raw.operand_count_visible; ++i) {
    if (operands[i].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) continue;
    constant = operands[i].imm.value.u;
    has_constant = true;
  }
  const Operand& target = out.operand[0];
  std::uint64_t all = target.size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * target.size)) - 1;
  bool updates = target.reads && target.writes;
  switch (raw.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
    case ZYDIS_MNEMONIC_ADC:
    case ZYDIS_MNEMONIC_SBB:
      if (updates) out.update = Update::kAdds;
      return;
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
      if (has_constant) out.bits = constant & all;
      break;
    case ZYDIS_MNEMONIC_AND:
      if (has_constant) out.bits = ~constant & all;
      break;
    case ZYDIS_MNEMONIC_TEST:
      if (has_constant) out.bits = constant & all;
      return;
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTS:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTC:
      if (has_constant) out.bits = std::uint64_t{1} << (constant & (8 * target.size - 1));
      break;
    default:
      break;
  }
  if (updates) out.update = out.bits != 0 ? Update::kBits : Update::kOther;
}

void add_memory(const ZydisDecodedInstruction& raw, const ZydisDecodedOperand& operand, Instruction& out) {
  const auto& memory = operand.mem;
  bool explicitly = operand.visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
  if (memory.type == ZYDIS_MEMOP_TYPE_VSIB) out.unsure = true;
  if (memory.type != ZYDIS_MEMOP_TYPE_MEM) return;
  if (!explicitly && !is_string(raw)) return;  // push, pop, call, ret, leave
  if (memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS) return;  // thread-local
  Operand found;
  found.base = memory.base == ZYDIS_REGISTER_NONE ? kNoRegister : dwarf_number(memory.base);
  found.index = memory.index == ZYDIS_REGISTER_NONE ? kNoRegister : dwarf_number(memory.index);
  found.scale = memory.scale == 0 ? 1 : memory.scale;
  found.displacement = memory.disp.has_displacement ? memory.disp.value : 0;
  if (found.base == kRip) found.displacement += static_cast<std::int64_t>(out.end());
  found.size = operand.size / 8;
  found.reads = (operand.actions & kReads) != 0;
  found.writes = (operand.actions & kWrites) != 0;
  if (found.base == kRsp || found.size == 0 || found.size > 64 || out.operands == out.operand.size()) return;
  if (raw.address_width != 64) out.unsure = true;
  // bt with a register reaches beyond its operand.
  bool by_register = raw.operand_count_visible > 1 && raw.meta.category == ZYDIS_CATEGORY_BITBYTE &&
                     raw.raw.imm[0].size == 0;
  if (by_register && (raw.mnemonic == ZYDIS_MNEMONIC_BT || raw.mnemonic == ZYDIS_MNEMONIC_BTS ||
                      raw.mnemonic == ZYDIS_MNEMONIC_BTR || raw.mnemonic == ZYDIS_MNEMONIC_BTC)) {
    out.unsure = true;
  }
  if (found.size > 8) out.vector = true;
  out.operand[out.operands++] = found;
}

}  // namespace

Address Operand::address(const Registers& registers, Address bias) const {
  if (base == kRip) return static_cast<Address>(displacement) + bias;
  Address result = static_cast<Address>(displacement);
  if (base != kNoRegister) result += registers[base];
  if (index != kNoRegister) result += registers[index] * static_cast<std::uint64_t>(scale);
  return result;
}

bool Operand::same_place(const Operand& other) const {
  return base == other.base && index == other.index && scale == other.scale &&
         displacement == other.displacement && size == other.size;
}

std::optional<Instruction> decode(std::string_view bytes, Address address) {
  ZydisDecodedInstruction raw;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), bytes.data(), bytes.size(), &raw, operands)))
    return std::nullopt;
  Instruction out;
  out.address = address;
  out.length = raw.length;
  out.atomic = (raw.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0;
  out.repeats =
      (raw.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
  out.cmov = raw.meta.category == ZYDIS_CATEGORY_CMOV;
  out.calls = raw.meta.category == ZYDIS_CATEGORY_CALL;
  out.jumps = out.calls || raw.meta.category == ZYDIS_CATEGORY_COND_BR ||
              raw.meta.category == ZYDIS_CATEGORY_UNCOND_BR || raw.meta.category == ZYDIS_CATEGORY_RET;
  bool memory_is_data = !leaves_memory_alone(raw);
  bool register_source = false, register_target = false;
  for (int i = 0; i < raw.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      int number = dwarf_number(operand.reg.value);
      if ((operand.actions & kReads) != 0) out.reads_registers |= bit(number);
      if ((operand.actions & kWrites) != 0) out.writes_registers |= bit(number);
      // A move of 32 bits or more says what the whole register holds; a shorter one leaves the rest.
      if (number != kNoRegister && (operand.actions & kReads) != 0) register_source = true;
      if (number != kNoRegister && (operand.actions & kWrites) != 0) register_target = true;
    } else if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      if (operand.mem.base != ZYDIS_REGISTER_NONE) out.reads_registers |= bit(dwarf_number(operand.mem.base));
      if (operand.mem.index != ZYDIS_REGISTER_NONE)
        out.reads_registers |= bit(dwarf_number(operand.mem.index));
      if (memory_is_data) add_memory(raw, operand, out);
    } else if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand.imm.is_relative && out.jumps) {
      ZyanU64 target = 0;
      if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&raw, &operand, address, &target))) out.target = target;
    }
  }
  if (out.calls) out.writes_registers |= 0xfff;  // what a callee may change, rbx and rbp to be sure
  if (raw.mnemonic == ZYDIS_MNEMONIC_XCHG && out.operands > 0) out.atomic = true;
  if (may_touch_less(raw)) out.unsure = true;
  // A jump through memory at a fixed place is a call through the linker's table.
  if (out.jumps && out.operands > 0 && out.operand[0].base == kRip) out.operands = 0;
  if (out.operands > 0) {
    add_update(raw, operands, out);
    bool moves = raw.mnemonic == ZYDIS_MNEMONIC_MOV || raw.mnemonic == ZYDIS_MNEMONIC_MOVZX ||
                 raw.mnemonic == ZYDIS_MNEMONIC_MOVSX || raw.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
    out.plain_load = moves && out.operand[0].reads && register_target;
    out.plain_store = moves && out.operand[0].writes && register_source;
  }
  return out;
}

std::string disassemble(std::string_view bytes, Address address) {
  static const ZydisFormatter formatter = [] {
    ZydisFormatter result;
    ZydisFormatterInit(&result, ZYDIS_FORMATTER_STYLE_INTEL);
    for (ZydisFormatterProperty property :
         {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE,
          ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_FORMATTER_PROP_IMM_PADDING})
      ZydisFormatterSetProperty(&result, property, ZYDIS_PADDING_DISABLED);
    return result;
  }();
  ZydisDecodedInstruction raw;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  char text[128];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), bytes.data(), bytes.size(), &raw, operands)) ||
      !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &raw, operands, raw.operand_count_visible,
                                                    text, sizeof text, address, ZYAN_NULL))) {
    return {};
  }
  return text;
}

}  // namespace duress::collide
