# SPDX-License-Identifier: Apache-2.0
# Manual pages of the program and of each of its commands, where scdoc is found.
set(pinfold_man_dir "")
if(PINFOLD_MAN STREQUAL "off")
  message(STATUS "manual pages: none (PINFOLD_MAN=off)")
  return()
endif()
find_program(PINFOLD_SCDOC scdoc)
set(pinfold_man_why "")
if(NOT PINFOLD_SCDOC)
  set(pinfold_man_why "scdoc was not found")
elseif(CMAKE_CROSSCOMPILING)
  # The commands' pages are made from what the program says.
  set(pinfold_man_why "the program for another machine cannot be run")
endif()
if(pinfold_man_why AND PINFOLD_MAN STREQUAL "on")
  message(FATAL_ERROR "PINFOLD_MAN=on, but ${pinfold_man_why}")
elseif(pinfold_man_why)
  message(STATUS "manual pages: none (${pinfold_man_why})")
  return()
endif()
set(pinfold_man_dir ${PROJECT_BINARY_DIR}/man)
add_custom_command(OUTPUT ${pinfold_man_dir}/pinfold.1
  COMMAND ${PROJECT_SOURCE_DIR}/man/make-pages $<TARGET_FILE:pinfold_program> ${pinfold_man_dir}
  DEPENDS pinfold_program man/make-pages man/pinfold.1.scd)
add_custom_target(pinfold_man ALL DEPENDS ${pinfold_man_dir}/pinfold.1)
