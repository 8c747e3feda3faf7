# SPDX-License-Identifier: Apache-2.0
# duress_precompile(TARGET KIND): the target uses precompiled headers of others (the standard library, fmt, JSON, ...), one for all
#   targets of that kind. Nothing if DURESS_PCH is OFF.
# duress_make_pch(KIND OPTIONS ... LIBRARIES ... HEADERS ...): the kind. Its options are those of its targets, apart from warnings,
#   debug information and the level of optimisation.
# Sources do not rely on this: each includes what it uses. A build with DURESS_PCH=OFF shows what is missing; so does clang-tidy.

# ccache would find nothing again from another folder: a precompiled header has absolute paths in it. GCC wants equal options.
set(pch_default OFF)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(pch_default ON)
endif()
option(DURESS_PCH "Precompile headers of others" ${pch_default})

# A library of one empty file, because targets wait for all of the target whose precompiled header they use.
function(duress_make_pch kind)
  if(NOT DURESS_PCH)
    return()
  endif()
  cmake_parse_arguments(P "" "" "OPTIONS;LIBRARIES;HEADERS" ${ARGN})
  set(empty ${PROJECT_BINARY_DIR}/pch/${kind}.cc)
  file(CONFIGURE OUTPUT ${empty} CONTENT "")
  add_library(duress_pch_${kind} OBJECT ${empty})
  target_compile_options(duress_pch_${kind} PRIVATE ${P_OPTIONS})
  target_link_libraries(duress_pch_${kind} PRIVATE ${P_LIBRARIES})
  set_target_properties(duress_pch_${kind} PROPERTIES LIBRARIES "${P_LIBRARIES}")
  target_precompile_headers(duress_pch_${kind} PRIVATE ${P_HEADERS})
endfunction()

function(duress_precompile target kind)
  if(NOT DURESS_PCH)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM duress_pch_${kind})
  # Macros that the libraries' packages define must be the same, whether the target links with the library or not.
  get_target_property(libraries duress_pch_${kind} LIBRARIES)
  foreach(library ${libraries})
    target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:${library},INTERFACE_COMPILE_DEFINITIONS>)
  endforeach()
endfunction()

# Used by more than one target; what only some sources of a part need (LLVM in src/report) is not here.
duress_make_pch(target OPTIONS ${DURESS_IN_TARGET} HEADERS <algorithm> <array> <atomic> <new> <utility>)
if(DURESS_PCH)
  find_package(fmt REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()
set(duress_host OPTIONS ${DURESS_COLD} LIBRARIES fmt::fmt nlohmann_json::nlohmann_json
  HEADERS <algorithm> <array> <atomic> <chrono> <filesystem> <fstream> <functional> <map> <memory> <mutex> <optional> <regex> <set>
  <sstream> <string> <string_view> <thread> <unordered_map> <vector> <fmt/format.h> <nlohmann/json.hpp>)
duress_make_pch(host ${duress_host})
if(DURESS_TESTS)
  duress_make_pch(test ${duress_host} <gtest/gtest.h> LIBRARIES GTest::gtest OPTIONS -fPIE)
  if(DURESS_PCH)
    set_target_properties(duress_pch_test PROPERTIES POSITION_INDEPENDENT_CODE OFF)  # -fPIE instead, as in executables
  endif()
endif()
