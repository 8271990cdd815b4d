# SPDX-License-Identifier: Apache-2.0
# Finds the libraries of the optional formats.  Sets pinfold_format_sources, pinfold_format_definitions,
# pinfold_format_include, pinfold_format_libraries, and pinfold_format_names for static consumers.
set(pinfold_format_sources "")
set(pinfold_format_definitions "")
set(pinfold_format_include "")
set(pinfold_format_libraries "")
set(pinfold_format_names "")

# pinfold_format(NAME LIBRARY PACKAGE HEADER LIBRARIES SOURCES CHECK): a format whose library is found, whose header
# compiles CHECK, and which is not switched off, is built.
function(pinfold_format name library package header libraries sources check)
  set(option ${PINFOLD_${name}})
  if(option STREQUAL "off")
    message(STATUS "${name}: none (PINFOLD_${name}=off)")
    return()
  endif()
  find_path(PINFOLD_${name}_INCLUDE ${header})
  set(found ${PINFOLD_${name}_INCLUDE})
  set(files "")
  foreach(one ${libraries})
    find_library(PINFOLD_${name}_LIB_${one} ${one})
    list(APPEND files ${PINFOLD_${name}_LIB_${one}})
    if(NOT PINFOLD_${name}_LIB_${one})
      set(found "")
    endif()
  endforeach()
  if(found)
    set(CMAKE_REQUIRED_INCLUDES ${PINFOLD_${name}_INCLUDE})
    check_c_source_compiles("${check}" PINFOLD_${name}_USABLE)
  endif()
  if(found AND PINFOLD_${name}_USABLE)
    find_package(PkgConfig QUIET)
    set(version "?")
    if(PKG_CONFIG_FOUND)
      pkg_check_modules(PINFOLD_${name}_PC QUIET ${package})
      if(PINFOLD_${name}_PC_VERSION)
        set(version ${PINFOLD_${name}_PC_VERSION})
      endif()
    endif()
    message(STATUS "${name}: ${library} ${version}")
    foreach(list sources definitions include libraries names)
      set(all ${pinfold_format_${list}})
      if(list STREQUAL "sources")
        list(APPEND all ${sources})
      elseif(list STREQUAL "definitions")
        list(APPEND all "PFI_WITH_${name}=\"${version}\"")
      elseif(list STREQUAL "include")
        list(APPEND all ${PINFOLD_${name}_INCLUDE})
      elseif(list STREQUAL "libraries")
        list(APPEND all ${files})
      else()
        list(APPEND all ${libraries})
      endif()
      set(pinfold_format_${list} "${all}" PARENT_SCOPE)
    endforeach()
  elseif(option STREQUAL "on")
    message(FATAL_ERROR "PINFOLD_${name}=on, but ${library} was not found or is too old; scripts/setup installs it")
  else()
    message(STATUS "${name}: none (${library} was not found or is too old; scripts/setup installs it)")
  endif()
endfunction()

# Before 4.5 libtiff knows only one error handler for the whole process.
pinfold_format(TIFF libtiff libtiff-4 tiffio.h "tiff"
  "src/codec/tiff.c;src/codec/tiff_header.c;src/codec/tiff_lib.c;src/codec/tiff_modes.c;src/codec/tiff_raw.c;src/codec/tiff_unpack.c" "
  #include <tiffio.h>
  #if TIFFLIB_VERSION < 20221213
  #error too old
  #endif
  int main(void) { return 0; }")
pinfold_format(WEBP libwebp libwebpdemux webp/demux.h "webpdemux;webp" "src/codec/webp.c" "
  #include <webp/demux.h>
  #if WEBP_DEMUX_ABI_VERSION < 0x0107
  #error too old
  #endif
  int main(void) { return 0; }")
