// SPDX-License-Identifier: Apache-2.0
#include "report/compile_commands.h"

#include <llvm/Object/ELFObjectFile.h>

#include <filesystem>
#include <set>

#include "report/dwarf.h"

namespace duress::report {

std::vector<std::string> command_in(const std::string& producer) {
  // "clang version 19.1.7 (...) /usr/lib/llvm-19/bin/clang -O1 -D A=a\ b file.cc"
  std::vector<std::string> words;
  std::size_t at = producer.find(" /");
  if (at == std::string::npos) return words;
  std::string word;
  for (++at; at <= producer.size(); ++at) {
    if (at == producer.size() || producer[at] == ' ') {
      if (!word.empty()) words.push_back(word);
      word.clear();
    } else {
      if (producer[at] == '\\' && at + 1 < producer.size()) ++at;
      word += producer[at];
    }
  }
  if (words.size() < 2) words.clear();  // a path, but no command
  return words;
}

std::vector<CompileCommand> recorded_commands(const std::string& program) {
  std::vector<CompileCommand> all;
  DwarfFile binary(program);
  if (!binary.context) return all;
  std::set<std::string> seen;
  for (const auto& unit : binary.context->compile_units()) {
    DWARFDie die = unit->getUnitDIE();
    std::string producer = dwarf::toString(die.find(dwarf::DW_AT_producer), "");
    CompileCommand command;
    command.arguments = command_in(producer);
    command.directory = dwarf::toString(die.find(dwarf::DW_AT_comp_dir), "");
    std::filesystem::path file = dwarf::toString(die.find(dwarf::DW_AT_name), "");
    if (command.arguments.empty() || file.empty()) continue;
    command.file = (command.directory / file).lexically_normal().string();
    if (seen.insert(command.file).second) all.push_back(std::move(command));
  }
  return all;
}

LinkedLibraries linked_libraries(const std::string& program) {
  LinkedLibraries libraries;
  DwarfFile binary(program);
  const auto* object =
      binary.context ? llvm::dyn_cast<llvm::object::ELF64LEObjectFile>(binary.file.getBinary()) : nullptr;
  if (object == nullptr) return libraries;
  const llvm::object::ELF64LEFile& elf = object->getELFFile();
  auto entries = elf.dynamicEntries();
  if (!entries) {
    llvm::consumeError(entries.takeError());
    return libraries;
  }
  const char* strings = nullptr;
  for (const auto& entry : *entries) {
    if (entry.getTag() != llvm::ELF::DT_STRTAB) continue;
    if (auto mapped = elf.toMappedAddr(entry.getPtr())) {
      strings = reinterpret_cast<const char*>(*mapped);
    } else {
      llvm::consumeError(mapped.takeError());
    }
  }
  if (strings == nullptr) return libraries;
  const char* end = reinterpret_cast<const char*>(elf.base()) + elf.getBufSize();
  for (const auto& entry : *entries) {
    bool name = entry.getTag() == llvm::ELF::DT_NEEDED;
    if (!name && entry.getTag() != llvm::ELF::DT_RUNPATH && entry.getTag() != llvm::ELF::DT_RPATH) continue;
    if (entry.getVal() >= static_cast<std::uint64_t>(end - strings)) continue;
    std::string text(llvm::StringRef(strings + entry.getVal()));
    (name ? libraries.names : libraries.folders).push_back(std::move(text));
  }
  return libraries;
}

}  // namespace duress::report
