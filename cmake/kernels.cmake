# SPDX-License-Identifier: Apache-2.0
# Vector kernels of the target's architecture: each file alone is compiled for
# its level, and runs only where the CPU has it.
list(APPEND PINFOLD_SOURCES src/base/cpu_level.c transforms/flip.c transforms/kernels.c transforms/pack.c)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(pinfold_sse41_flags -msse4.1)
  set(pinfold_avx2_flags -mavx2 -mfma -mf16c)
  set(pinfold_avx512_flags -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512vl -mavx512vbmi -mavx512vnni)
  list(APPEND PINFOLD_SOURCES transforms/x86/init.c)
  foreach(level sse41 avx2 avx512)
    foreach(kernel horizontal vertical store flip)
      set(file transforms/x86/${kernel}_${level}.c)
      if(file STREQUAL "transforms/x86/flip_avx2.c")
        continue() # bound by its loads and stores: SSE4.1's serves
      endif()
      list(APPEND PINFOLD_SOURCES ${file})
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${pinfold_${level}_flags}")
    endforeach()
  endforeach()
else()
  list(APPEND PINFOLD_SOURCES transforms/none.c)
endif()
