# SPDX-License-Identifier: Apache-2.0
# For CMAKE_PROJECT_INCLUDE, by scripts/coverage: the library's files alone are counted.  Inlined functions would count
# as their callers, and threads count the same lines at once.
cmake_language(DEFER CALL target_compile_options pinfold_objects PRIVATE --coverage -fprofile-update=atomic -fno-inline)
add_link_options(--coverage)
