# SPDX-License-Identifier: Apache-2.0
# duress_write_symbols(OUTPUT TABLE): writes the dynamic list that exports the hooks and every DURESS_INTERCEPTED(name)
# of the table from a target's executable, so that its shared libraries bind to them.
function(duress_write_symbols output table)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(STRINGS ${table} lines REGEX "^DURESS_INTERCEPTED\\(")
  set(text "{\n  __duress_*;\n  __tsan_*;\n  Annotate*;\n  ompt_start_tool;\n")
  foreach(line ${lines})
    string(REGEX REPLACE "^DURESS_INTERCEPTED\\(([^)]+)\\).*" "  \\1;\n" entry "${line}")
    string(APPEND text "${entry}")
  endforeach()
  string(APPEND text "};\n")
  file(CONFIGURE OUTPUT ${output} CONTENT "${text}" @ONLY)
endfunction()
