# SPDX-License-Identifier: Apache-2.0
install(TARGETS pinfold EXPORT pinfoldTargets)
install(TARGETS pinfold_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/pinfold DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET pinfold_program)
  install(TARGETS pinfold_program)
endif()
