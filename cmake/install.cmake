# SPDX-License-Identifier: Apache-2.0
# What is installed, in the components runtime (the shared library), development, program and documentation; the CMake
# package and pkg-config file; the target uninstall.  A static consumer needs the libraries below ours;
# libcudart_static.a is installed beside, so that it needs no CUDA toolkit.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
set(pinfold_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pinfold)
set_target_properties(pinfold_static PROPERTIES EXPORT_NAME pinfold_static)
install(TARGETS pinfold EXPORT pinfoldTargets LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
install(FILES $<TARGET_FILE:pinfold_static> DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/pinfold DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT pinfoldTargets NAMESPACE pinfold:: DESTINATION ${pinfold_package_dir})
install(FILES LICENSE README.md CHANGELOG.md TYPE DOC COMPONENT documentation)
install(DIRECTORY docs examples TYPE DOC COMPONENT documentation PATTERN Doxyfile EXCLUDE)
if(TARGET pinfold_program)
  install(TARGETS pinfold_program COMPONENT program)
  set(pinfold_data ${CMAKE_INSTALL_DATAROOTDIR})
  install(FILES completions/pinfold.bash DESTINATION ${pinfold_data}/bash-completion/completions RENAME pinfold COMPONENT program)
  install(FILES completions/_pinfold DESTINATION ${pinfold_data}/zsh/site-functions COMPONENT program)
  install(FILES completions/pinfold.fish DESTINATION ${pinfold_data}/fish/vendor_completions.d COMPONENT program)
  include(cmake/man.cmake)
  if(pinfold_man_dir)
    install(DIRECTORY ${pinfold_man_dir}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  endif()
endif()
if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake)
endif()

list(TRANSFORM pinfold_format_names PREPEND "-l" OUTPUT_VARIABLE pinfold_private)
list(APPEND pinfold_private -ljpeg -lz -lm -pthread)
list(JOIN pinfold_private " " pinfold_private)
set(pinfold_cudart_name "")
if(PINFOLD_CUDART)
  set(pinfold_cudart_name pinfold/libcudart_static.a)
  install(FILES ${PINFOLD_CUDART} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pinfold)
  set(pinfold_private "\${libdir}/${pinfold_cudart_name} ${pinfold_private} -ldl -lrt")
endif()
# Relative to the file, so that the tree may be moved.
file(RELATIVE_PATH pinfold_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /${CMAKE_INSTALL_INCLUDEDIR})
set(pinfold_includedir "\${pcfiledir}/${pinfold_up}")
configure_file(cmake/pinfold.pc.in pinfold.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pinfold.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(cmake/pinfoldConfig.cmake.in pinfoldConfig.cmake
  INSTALL_DESTINATION ${pinfold_package_dir})
# Before 1.0 a minor version may break programs.
write_basic_package_version_file(pinfoldConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pinfoldConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/pinfoldConfigVersion.cmake
  DESTINATION ${pinfold_package_dir})
