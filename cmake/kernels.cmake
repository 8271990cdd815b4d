# SPDX-License-Identifier: Apache-2.0
# Vector kernels of the target's architecture: each file alone is compiled for
# its level, and runs only where the CPU has it.
list(APPEND PINFOLD_SOURCES src/base/cpu_level.c transforms/flip.c transforms/kernels.c transforms/pack.c)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(pinfold_sse41_flags -msse4.1)
  set(pinfold_avx2_flags -mavx2 -mfma -mf16c)
  set(pinfold_avx512_flags -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512vl -mavx512vbmi -mavx512vnni)
  # Longer vectors flip no faster than SSE4.1's.
  list(APPEND PINFOLD_SOURCES transforms/x86/init.c transforms/x86/flip_sse41.c)
  set_source_files_properties(transforms/x86/flip_sse41.c PROPERTIES COMPILE_OPTIONS "${pinfold_sse41_flags}")
  foreach(level sse41 avx2 avx512)
    foreach(kernel horizontal vertical store)
      set(file transforms/x86/${kernel}_${level}.c)
      list(APPEND PINFOLD_SOURCES ${file})
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${pinfold_${level}_flags}")
    endforeach()
  endforeach()
  set(pinfold_fast src/codec/fastjpeg)
  list(APPEND PINFOLD_SOURCES ${pinfold_fast}/entropy_avx2.c ${pinfold_fast}/kernels_sse41.c
    ${pinfold_fast}/kernels_avx2.c ${pinfold_fast}/kernels_avx512.c)
  set_source_files_properties(${pinfold_fast}/kernels_sse41.c PROPERTIES COMPILE_OPTIONS -msse4.1)
  set_source_files_properties(${pinfold_fast}/kernels_avx2.c ${pinfold_fast}/entropy_avx2.c
    PROPERTIES COMPILE_OPTIONS "-mavx2;-mbmi2")
  set_source_files_properties(${pinfold_fast}/kernels_avx512.c
    PROPERTIES COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512vl")
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  list(APPEND PINFOLD_SOURCES transforms/arm/init.c src/codec/fastjpeg/entropy_neon.c src/codec/fastjpeg/kernels_neon.c)
  foreach(kernel horizontal vertical store flip)
    list(APPEND PINFOLD_SOURCES transforms/arm/${kernel}_neon.c)
  endforeach()
else()
  list(APPEND PINFOLD_SOURCES transforms/none.c)
endif()
