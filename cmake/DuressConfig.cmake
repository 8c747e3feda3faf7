# SPDX-License-Identifier: Apache-2.0
# find_package(Duress CONFIG): from an installed prefix, a copy of one, or Duress' own build folder. Gives
#   duress::annotate   <duress/annotate.h>
#   duress::test       <duress/test.h>, <duress/gtest.h>: duress::check
#   Duress_EXECUTABLE, Duress_C_COMPILER, Duress_CXX_COMPILER, Duress_TOOLCHAIN_FILE
#   Duress_ENABLED     whether this project is being built with duress-cc or duress-c++
#   duress_test_launcher(TARGET... [COMMAND run|classify] [DURESS_ARGS ...])
#   duress_discover_tests(TARGET [COMMAND run|classify|none] [DURESS_ARGS ...] [arguments of gtest_discover_tests])
# All of it works, and does nothing, when the project is built with another compiler.

# <prefix>/share/cmake/Duress
get_filename_component(Duress_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(Duress_EXECUTABLE "${Duress_PREFIX}/bin/duress")
set(Duress_C_COMPILER "${Duress_PREFIX}/bin/duress-cc")
set(Duress_CXX_COMPILER "${Duress_PREFIX}/bin/duress-c++")
set(Duress_TOOLCHAIN_FILE "${Duress_PREFIX}/share/duress/duress-toolchain.cmake")
set(Duress_INCLUDE_DIR "${Duress_PREFIX}/include")
foreach(_duress_file Duress_EXECUTABLE Duress_C_COMPILER Duress_TOOLCHAIN_FILE Duress_INCLUDE_DIR)
  if(NOT EXISTS "${${_duress_file}}")
    set(Duress_FOUND FALSE)
    set(Duress_NOT_FOUND_MESSAGE "'${${_duress_file}}' is missing; install duress again")
    return()
  endif()
endforeach()
unset(_duress_file)

set(Duress_ENABLED FALSE)
if("${CMAKE_CXX_COMPILER} ${CMAKE_C_COMPILER}" MATCHES "duress-(cc|c\\+\\+)")
  set(Duress_ENABLED TRUE)
endif()

if(NOT TARGET duress::annotate)
  add_library(duress::annotate INTERFACE IMPORTED)
  set_target_properties(duress::annotate PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Duress_INCLUDE_DIR}")
endif()
if(NOT TARGET duress::test)
  add_library(duress::test INTERFACE IMPORTED)
  set_target_properties(duress::test PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Duress_INCLUDE_DIR}"
    INTERFACE_COMPILE_FEATURES cxx_std_17 INTERFACE_LINK_LIBRARIES duress::annotate)
endif()

# Tests of these targets are started by duress: CTest then fails where a race is found. What duress starts only to list
# its cases (--gtest_list_tests) runs by itself and unwatched.
function(duress_test_launcher)
  cmake_parse_arguments(D "" "COMMAND" "DURESS_ARGS" ${ARGN})
  if(NOT D_COMMAND)
    set(D_COMMAND run)
  endif()
  if(NOT D_COMMAND MATCHES "^(run|classify|explore|none)$")
    message(FATAL_ERROR "duress_test_launcher: COMMAND is run, classify, explore or none, not '${D_COMMAND}'")
  endif()
  if(D_COMMAND STREQUAL "none" OR NOT Duress_ENABLED)
    return()
  endif()
  set(launcher "${Duress_EXECUTABLE}" ${D_COMMAND} ${D_DURESS_ARGS} --)
  foreach(target ${D_UNPARSED_ARGUMENTS})
    if(CMAKE_VERSION VERSION_LESS 3.29)  # there is no other way to put something before a test's command
      set_property(TARGET ${target} PROPERTY CROSSCOMPILING_EMULATOR "${launcher}")
    else()
      set_property(TARGET ${target} PROPERTY TEST_LAUNCHER "${launcher}")
    endif()
  endforeach()
endfunction()

macro(duress_discover_tests target)
  cmake_parse_arguments(_DURESS "" "COMMAND" "DURESS_ARGS" ${ARGN})
  # The next option of gtest_discover_tests ends our list.
  set(_duress_own "")
  set(_duress_rest ${_DURESS_UNPARSED_ARGUMENTS})
  set(_duress_ours TRUE)
  foreach(_duress_word ${_DURESS_DURESS_ARGS})
    if(_duress_word MATCHES "^(EXTRA_ARGS|WORKING_DIRECTORY|TEST_PREFIX|TEST_SUFFIX|TEST_FILTER|NO_PRETTY_TYPES|NO_PRETTY_VALUES|PROPERTIES|TEST_LIST|DISCOVERY_TIMEOUT|XML_OUTPUT_DIR|DISCOVERY_MODE|DISCOVERY_EXTRA_ARGS)$")
      set(_duress_ours FALSE)
    endif()
    if(_duress_ours)
      list(APPEND _duress_own "${_duress_word}")
    else()
      list(APPEND _duress_rest "${_duress_word}")
    endif()
  endforeach()
  if(NOT _DURESS_COMMAND)
    set(_DURESS_COMMAND run)
  endif()
  duress_test_launcher(${target} COMMAND ${_DURESS_COMMAND} DURESS_ARGS ${_duress_own})
  include(GoogleTest)
  gtest_discover_tests(${target} ${_duress_rest})
endmacro()
