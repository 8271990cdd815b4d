# SPDX-License-Identifier: Apache-2.0
# vcpkg overlay port of the tree that it lies in: vcpkg install pinfold --overlay-ports=packaging/vcpkg
# vcpkg itself could not be had where this was written: packaging/check runs this file with stand-ins of vcpkg's
# functions that configure, build and install by CMake, so options and paths are tested, and vcpkg's own checks are not.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

# The CMake package's main target is the shared library.
vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)

set(options -DPINFOLD_CUDA=off -DPINFOLD_MAN=off)
foreach(feature tiff webp)
  string(TOUPPER ${feature} name)
  if(feature IN_LIST FEATURES)
    list(APPEND options -DPINFOLD_${name}=on)
  else()
    list(APPEND options -DPINFOLD_${name}=off)
  endif()
endforeach()
if("program" IN_LIST FEATURES)
  list(APPEND options -DPINFOLD_BUILD_PROGRAM=ON)
else()
  list(APPEND options -DPINFOLD_BUILD_PROGRAM=OFF)
endif()

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS ${options})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/pinfold)
vcpkg_fixup_pkgconfig()
if("program" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES pinfold AUTO_CLEAN)
endif()
file(REMOVE "${CURRENT_PACKAGES_DIR}/lib/libpinfold.a" "${CURRENT_PACKAGES_DIR}/debug/lib/libpinfold.a")
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
  "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
