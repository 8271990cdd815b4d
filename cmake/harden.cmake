# SPDX-License-Identifier: Apache-2.0
# What the compiler and the linker can do against a fault that got past the tests: checked copies, guarded stacks,
# variables that start as zero, addresses that are not known beforehand, tables that are read-only once linked.
# Flags that the compiler lacks are left out; sanitizers bring their own.
include(CheckCCompilerFlag)
include(CheckPIESupported)
set(pinfold_harden_compile "")
set(pinfold_harden_link "")
if(PINFOLD_HARDENING AND NOT PINFOLD_SANITIZE)
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection -ftrivial-auto-var-init=zero)
    string(MAKE_C_IDENTIFIER "PINFOLD_HAS${flag}" has)
    check_c_compiler_flag(${flag} ${has})
    if(${has})
      list(APPEND pinfold_harden_compile ${flag})
    endif()
  endforeach()
  # It needs optimisation, and a distribution's own setting stays.
  if(NOT CMAKE_C_FLAGS MATCHES "_FORTIFY_SOURCE")
    list(APPEND pinfold_harden_compile
      "$<$<NOT:$<OR:$<CONFIG:Debug>,$<CONFIG:>>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>")
  endif()
  set(pinfold_harden_link -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
  check_pie_supported(LANGUAGES C)
endif()
