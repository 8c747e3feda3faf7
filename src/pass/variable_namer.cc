// SPDX-License-Identifier: Apache-2.0
#include "pass/variable_namer.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Operator.h"
#include "pass/compat.h"
#include "pass/debug_names.h"

namespace duress::pass {
namespace dwarf = llvm::dwarf;
namespace {

// Long chains of pointers say little about a variable and cost compile time.
constexpr unsigned kMaxDepth = 6;
// Pointers that one address may lead to. Where merges of pointers lead to merges it would be each path: in an
// interpreter's loop (sqlite3VdbeExec) that took 80 of the 119 s of compiling sqlite3.c.
constexpr unsigned kMaxPointers = 64;

uint64_t bytes(const llvm::DIType* type) {
  type = strip_qualifiers(type);
  return type == nullptr ? 0 : type->getSizeInBits() / 8;
}

const llvm::DIType* pointee(const llvm::DIType* type) {
  auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(strip_qualifiers(type));
  if (derived == nullptr) return nullptr;
  switch (derived->getTag()) {
    case dwarf::DW_TAG_pointer_type:
    case dwarf::DW_TAG_reference_type:
    case dwarf::DW_TAG_rvalue_reference_type:
      return derived->getBaseType();
    default:
      return nullptr;
  }
}

bool is_record(const llvm::DICompositeType* type) {
  return type->getTag() == dwarf::DW_TAG_structure_type || type->getTag() == dwarf::DW_TAG_class_type ||
         type->getTag() == dwarf::DW_TAG_union_type;
}

/// The member or base class that holds [offset, offset + size). Unions: the first that fits best.
const llvm::DIDerivedType* member_at(const llvm::DICompositeType* type, uint64_t offset, uint64_t size) {
  const llvm::DIDerivedType* best = nullptr;
  for (const llvm::DINode* node : type->getElements()) {
    auto* member = llvm::dyn_cast_or_null<llvm::DIDerivedType>(node);
    if (member == nullptr || member->isStaticMember() || member->isVirtual()) continue;
    if (member->getTag() != dwarf::DW_TAG_member && member->getTag() != dwarf::DW_TAG_inheritance) continue;
    uint64_t begin = member->getOffsetInBits() / 8;
    uint64_t end = member->isBitField() ? (member->getOffsetInBits() + member->getSizeInBits() + 7) / 8
                                        : begin + bytes(member->getBaseType());
    // A bit-field is accessed through a storage unit that may hold its neighbours.
    if (member->isBitField() ? !(begin < offset + size && offset < end)
                             : !(begin <= offset && offset + size <= end)) {
      continue;
    }
    if (best == nullptr || bytes(member->getBaseType()) < bytes(best->getBaseType())) best = member;
  }
  return best;
}

/// The constant in an offset in bytes such as 8 * i + 8, where the optimiser has put a member's offset into
/// the index.
uint64_t constant_part(llvm::Value* bytes) {
  auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(bytes);
  if (sum == nullptr || !is_sum(*sum)) return 0;
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1));
  return constant == nullptr || constant->isNegative() ? 0 : constant->getZExtValue();
}

std::string record_name(const llvm::DIType* written, const llvm::DICompositeType* type) {
  // `typedef struct {...} Point;` has no name but its typedef's.
  if (type->getName().empty()) {
    for (auto* step = llvm::dyn_cast_or_null<llvm::DIDerivedType>(written); step != nullptr;
         step = llvm::dyn_cast_or_null<llvm::DIDerivedType>(step->getBaseType())) {
      if (step->getTag() == dwarf::DW_TAG_typedef) return type_name(step);
    }
    // In C++ the typedef's name may only be in the linkage name.
    std::string name = llvm::demangle(type->getIdentifier().str());
    constexpr llvm::StringRef kPrefix = "typeinfo name for ";
    if (llvm::StringRef(name).starts_with(kPrefix)) return name.substr(kPrefix.size());
  }
  return type_name(type);
}

bool is_reference(const llvm::DIType* type) {
  const llvm::DIType* bare = strip_qualifiers(type);
  return bare != nullptr && (bare->getTag() == dwarf::DW_TAG_reference_type ||
                             bare->getTag() == dwarf::DW_TAG_rvalue_reference_type);
}

/// The type of a lambda has no name, and a function around it.
const llvm::DISubprogram* function_of_closure(const llvm::DIScope* type) {
  auto* composite = llvm::dyn_cast_or_null<llvm::DICompositeType>(type);
  if (composite == nullptr || composite->getTag() != dwarf::DW_TAG_class_type ||
      !composite->getName().empty())
    return nullptr;
  const llvm::DIScope* scope = composite->getScope();
  while (auto* block = llvm::dyn_cast_or_null<llvm::DILexicalBlockBase>(scope)) scope = block->getScope();
  return llvm::dyn_cast_or_null<llvm::DISubprogram>(scope);
}

/// What a member of a closure is named after; "" of other members. A lambda in a lambda captures what the
/// outer one has captured: the variable belongs to the function around both.
std::string captured_name(const llvm::DICompositeType* type, const llvm::DIDerivedType* member) {
  const llvm::DISubprogram* function = function_of_closure(type);
  if (function == nullptr || member->getName().empty() || member->getName() == "this") return {};
  while (const llvm::DISubprogram* outer = function_of_closure(function->getScope())) function = outer;
  return function_name(function) + "()::" + member->getName().str();
}

}  // namespace

VariableNamer::VariableNamer(llvm::Module& module)
    : module_(module),
      layout_(module.getDataLayout()),
      metadata_kind_(module.getContext().getMDKindID("duress.var")) {}

void VariableNamer::remember(llvm::Instruction* inst, llvm::Value* address, uint64_t size) {
  Variable variable = name(inst, address, size);
  if (variable.kind == kDuressUnknown) return;
  llvm::LLVMContext& context = module_.getContext();
  auto* kind = llvm::ConstantInt::get(llvm::Type::getInt8Ty(context), variable.kind);
  inst->setMetadata(metadata_kind_, llvm::MDNode::get(context, {llvm::MDString::get(context, variable.name),
                                                                llvm::ConstantAsMetadata::get(kind)}));
}

Variable VariableNamer::name(llvm::Instruction* inst, llvm::Value* address, uint64_t size) {
  if (llvm::MDNode* known = inst->getMetadata(metadata_kind_)) {
    auto* kind = llvm::mdconst::extract<llvm::ConstantInt>(known->getOperand(1));
    return {llvm::cast<llvm::MDString>(known->getOperand(0))->getString().str(),
            static_cast<DuressVariable>(kind->getZExtValue())};
  }
  pointers_left_ = kMaxPointers;
  std::optional<Variable> found = from_address(address, size, 0, nullptr);
  // A type and an offset say more than "something behind p".
  if (!found || found->kind == kDuressPointee) {
    if (std::optional<Variable> typed = from_tbaa(inst, size)) return *typed;
  }
  return found ? *found : Variable{};
}

llvm::Value* VariableNamer::split_offset(llvm::Value* address, uint64_t* offset, bool* indexed) {
  for (unsigned steps = 0; steps < 32; ++steps) {
    auto* gep = llvm::dyn_cast<llvm::GEPOperator>(address);
    if (gep == nullptr) {
      auto* cast = llvm::dyn_cast<llvm::Operator>(address);
      if (cast == nullptr || cast->getOpcode() != llvm::Instruction::BitCast) return address;
      address = cast->getOperand(0);
      continue;
    }
    if (!gep->getType()->isPointerTy()) return address;
    for (auto it = llvm::gep_type_begin(gep); it != llvm::gep_type_end(gep); ++it) {
      auto* index = llvm::dyn_cast<llvm::ConstantInt>(it.getOperand());
      if (llvm::StructType* type = it.getStructTypeOrNull()) {
        if (index == nullptr) return address;
        *offset += layout_.getStructLayout(type)->getElementOffset(index->getZExtValue());
      } else if (index != nullptr) {
        *offset += static_cast<uint64_t>(index->getSExtValue()) *
                   layout_.getTypeAllocSize(it.getIndexedType()).getKnownMinValue();
      } else {
        if (it.getIndexedType()->isIntegerTy(8)) *offset += constant_part(it.getOperand());
        *indexed = true;
      }
    }
    address = gep->getPointerOperand();
  }
  return address;
}

std::optional<VariableNamer::Place> VariableNamer::object_at(llvm::Value* base, unsigned depth) {
  if (auto* global = llvm::dyn_cast<llvm::GlobalVariable>(base)) {
    llvm::SmallVector<llvm::DIGlobalVariableExpression*, 1> infos;
    global->getDebugInfo(infos);
    for (auto* info : infos) {
      const llvm::DIGlobalVariable* variable = info->getVariable();
      const llvm::DIScope* scope = variable->getScope();
      // A static member's definition may stand outside its class; the declaration says where it belongs.
      if (auto* declaration = variable->getStaticDataMemberDeclaration()) scope = declaration->getScope();
      return Place{variable->getType(), qualify(scope, variable->getName()), kDuressGlobal};
    }
    if (global->getName().empty()) return std::nullopt;
    return Place{nullptr, llvm::demangle(global->getName().str()), kDuressGlobal};
  }
  if (llvm::isa<llvm::AllocaInst>(base)) {
    std::optional<Place> place;
    for_each_variable(base, /*declares=*/true, [&](const llvm::DILocalVariable* variable) {
      if (place) return;
      auto* function = variable->getScope()->getSubprogram();
      place = Place{variable->getType(), function_name(function) + "()::" + variable->getName().str(),
                    kDuressLocal};
    });
    return place;
  }
  return pointee_of(base, depth);
}

std::optional<VariableNamer::Place> VariableNamer::pointee_of(llvm::Value* pointer, unsigned depth) {
  if (depth > kMaxDepth || pointers_left_ == 0) return std::nullopt;
  --pointers_left_;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(pointer)) {
    const llvm::DIType* type = nullptr;
    uint64_t size = layout_.getTypeStoreSize(load->getType()).getKnownMinValue();
    std::optional<Variable> holder = from_address(load->getPointerOperand(), size, depth + 1, &type);
    if (holder && pointee(type) != nullptr) {
      // What a lambda captures by reference is the variable of the function around it.
      if (!holder->captured.empty() && is_reference(type))
        return Place{pointee(type), holder->captured, kDuressLocal};
      // A local pointer is called by its own name alone: "*p".
      std::string name = holder->name;
      if (holder->kind == kDuressLocal) name = name.substr(name.rfind("::") + 2);
      return Place{pointee(type), "*" + name, kDuressPointee};
    }
  } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(pointer)) {
    const llvm::Function* callee = call->getCalledFunction();
    const llvm::DISubprogram* function = callee == nullptr ? nullptr : callee->getSubprogram();
    if (function != nullptr && function->getType() != nullptr) {
      auto types = function->getType()->getTypeArray();
      if (types.size() > 0 && pointee(types[0]) != nullptr) {
        return Place{pointee(types[0]), "*" + function_name(function) + "()", kDuressPointee};
      }
    }
  } else if (auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer)) {
    llvm::SmallVector<llvm::Value*, 4> choices(phi->incoming_values());
    if (std::optional<Place> place = common_place(phi, choices, depth)) return place;
  } else if (auto* select = llvm::dyn_cast<llvm::SelectInst>(pointer)) {
    if (std::optional<Place> place =
            common_place(select, {select->getTrueValue(), select->getFalseValue()}, depth)) {
      return place;
    }
  }
  std::optional<Place> place;
  for_each_variable(pointer, /*declares=*/false, [&](const llvm::DILocalVariable* variable) {
    if (place || pointee(variable->getType()) == nullptr) return;
    place = Place{pointee(variable->getType()), "*" + variable->getName().str(), kDuressPointee};
  });
  return place;
}

std::optional<VariableNamer::Place> VariableNamer::common_place(llvm::Value* merged,
                                                                llvm::ArrayRef<llvm::Value*> choices,
                                                                unsigned depth) {
  std::optional<Place> common;
  for (llvm::Value* choice : choices) {
    uint64_t offset = 0;
    bool indexed = false;
    llvm::Value* base = split_offset(choice, &offset, &indexed);
    if (base == merged || llvm::isa<llvm::ConstantData>(base)) continue;  // the next element; no object
    std::optional<Place> place = offset == 0 ? object_at(base, depth + 1) : std::nullopt;
    if (!place) return std::nullopt;
    if (!common) {
      common = place;
    } else if (common->name != place->name || common->kind != place->kind) {
      // One of several objects: only what they have in common, a type and so its fields, can be named.
      if (strip_qualifiers(common->type) != strip_qualifiers(place->type)) return std::nullopt;
      if (common->kind != kDuressPointee || place->kind != kDuressPointee)
        *common = {common->type, "", kDuressUnknown};
    }
  }
  return common;
}

std::optional<Variable> VariableNamer::from_address(llvm::Value* address, uint64_t size, unsigned depth,
                                                    const llvm::DIType** type) {
  if (depth > kMaxDepth) return std::nullopt;
  uint64_t offset = 0;
  bool indexed = false;
  llvm::Value* base = split_offset(address, &offset, &indexed);
  std::optional<Place> place = object_at(base, depth);
  if (!place) return std::nullopt;
  return inside(*place, offset, size, indexed, type);
}

Variable VariableNamer::inside(const Place& place, uint64_t offset, uint64_t size, bool indexed,
                               const llvm::DIType** result_type) {
  Variable variable{place.name, place.kind};
  bool nameless = place.kind == kDuressUnknown;
  std::string path;  // empty until a member has been entered
  const llvm::DIType* written = place.type;
  // p[i]: the pointee is one element of an array of them.
  if (place.kind == kDuressPointee && bytes(written) != 0) offset %= bytes(written);
  for (unsigned steps = 0; steps < 16; ++steps) {
    auto* type = llvm::dyn_cast_or_null<llvm::DICompositeType>(strip_qualifiers(written));
    if (type == nullptr) break;
    if (type->getTag() == dwarf::DW_TAG_array_type) {
      uint64_t element = bytes(type->getBaseType());
      if (element == 0 || size == 0) break;
      (path.empty() ? variable.name : path) += "[]";
      variable.kind = kDuressArray;
      if (size > element) break;  // several elements at once
      offset %= element;
      written = type->getBaseType();
      continue;
    }
    if (!is_record(type) || size == 0) break;
    const llvm::DIDerivedType* member = member_at(type, offset, size);
    if (member == nullptr) break;
    if (member->getTag() == dwarf::DW_TAG_inheritance) {
      path.clear();  // the field belongs to the base class
    } else if (member->getName().empty()) {
      // Anonymous struct or union: its members belong to the enclosing type.
      if (path.empty()) path = record_name(written, type) + "::";
    } else if (path.empty()) {
      path = record_name(written, type) + "::" + member->getName().str();
    } else {
      path += (llvm::StringRef(path).ends_with("::") ? "" : ".") + member->getName().str();
    }
    variable.kind = kDuressField;
    variable.captured = captured_name(type, member);
    if (!member->isBitField()) offset -= member->getOffsetInBits() / 8;
    written = member->getBaseType();
    if (member->isBitField()) break;
  }
  if (!path.empty()) variable.name = path;
  if (path.empty() && nameless) variable = {};
  if (result_type != nullptr) *result_type = indexed && place.type == nullptr ? nullptr : written;
  return variable;
}

void VariableNamer::index_types() {
  indexed_types_ = true;
  llvm::DebugInfoFinder finder;
  finder.processModule(module_);
  for (const llvm::DIType* type : finder.types()) {
    auto* composite = llvm::dyn_cast<llvm::DICompositeType>(type);
    if (composite == nullptr || composite->isForwardDecl() || !is_record(composite)) continue;
    if (!composite->getIdentifier().empty()) {
      types_.try_emplace(composite->getIdentifier(), composite);
    } else if (!composite->getName().empty()) {
      types_.try_emplace(composite->getName(), composite);
    }
  }
}

std::optional<Variable> VariableNamer::from_tbaa(llvm::Instruction* inst, uint64_t size) {
  llvm::MDNode* tag = inst->getMetadata(llvm::LLVMContext::MD_tbaa);
  if (tag == nullptr || tag->getNumOperands() < 3 || size == 0) return std::nullopt;
  auto* base = llvm::dyn_cast_or_null<llvm::MDNode>(tag->getOperand(0));
  auto* access = llvm::dyn_cast_or_null<llvm::MDNode>(tag->getOperand(1));
  auto* offset = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(tag->getOperand(2));
  if (base == nullptr || base == access || offset == nullptr || base->getNumOperands() == 0)
    return std::nullopt;
  auto* name = llvm::dyn_cast_or_null<llvm::MDString>(base->getOperand(0));
  if (name == nullptr) return std::nullopt;
  if (!indexed_types_) index_types();
  auto found = types_.find(name->getString());
  if (found == types_.end()) return std::nullopt;
  Variable variable =
      inside(Place{found->second, "", kDuressUnknown}, offset->getZExtValue(), size, false, nullptr);
  if (variable.kind == kDuressUnknown) return std::nullopt;
  return variable;
}

}  // namespace duress::pass
