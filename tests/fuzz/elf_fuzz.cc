// SPDX-License-Identifier: Apache-2.0
//
// ELF files of any bytes, as collide reads them (segments, symbols, unwind tables, code), and the table of sites in them.
#include <string>

#include "collide/elf_file.h"
#include "collide/function.h"
#include "report/site_table.h"

using namespace duress;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  report::SiteTable sites = report::SiteTable::parse(bytes);
  for (std::uint32_t i = 0; i < sites.entries(); ++i) sites.find(i);
  auto file = collide::ElfFile::from_bytes(std::string(bytes));
  if (!file) return 0;
  file->bias(0x400000, 0);
  file->extent();
  file->only_gcc();
  std::size_t left = 64;
  for (const collide::Range& range : file->functions()) {
    if (left-- == 0) break;
    auto function = collide::Function::decode(file->code(range), range.begin);
    if (function) function->samples([&](collide::Address address) { return file->writable(address); });
  }
  return 0;
}
