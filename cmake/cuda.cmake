# SPDX-License-Identifier: Apache-2.0
# Finds the CUDA Runtime's headers and its static library: in a toolkit, or in
# what scripts/setup unpacked into the build folder.  Sets pinfold_gpu_source,
# pinfold_cuda_include, pinfold_cuda_libraries, PINFOLD_CUDART.
set(pinfold_gpu_source src/gpu/none.c)
set(pinfold_cuda_include "")
set(pinfold_cuda_libraries "")
set(PINFOLD_CUDART "")

if(NOT PINFOLD_CUDA STREQUAL "off")
  set(pinfold_cuda_roots ${PROJECT_BINARY_DIR}/cuda ${PROJECT_SOURCE_DIR}/build/cuda)
  find_path(PINFOLD_CUDA_INCLUDE cuda_runtime_api.h
    HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda ${pinfold_cuda_roots} PATH_SUFFIXES include)
  find_library(PINFOLD_CUDART_STATIC libcudart_static.a
    HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda ${pinfold_cuda_roots}
    PATH_SUFFIXES lib64 lib lib/x64 targets/x86_64-linux/lib)
  if(PINFOLD_CUDA_INCLUDE AND PINFOLD_CUDART_STATIC)
    set(PINFOLD_CUDART ${PINFOLD_CUDART_STATIC})
    set(pinfold_gpu_source src/gpu/cuda.c)
    set(pinfold_cuda_include ${PINFOLD_CUDA_INCLUDE})
    set(pinfold_cuda_libraries ${PINFOLD_CUDART} ${CMAKE_DL_LIBS} rt)
    message(STATUS "CUDA back end: ${PINFOLD_CUDART}")
  elseif(PINFOLD_CUDA STREQUAL "on")
    message(FATAL_ERROR
      "PINFOLD_CUDA=on, but cuda_runtime_api.h or libcudart_static.a was not found; scripts/setup fetches them")
  else()
    message(STATUS "CUDA back end: none (no CUDA toolkit found; scripts/setup fetches what is needed)")
  endif()
else()
  message(STATUS "CUDA back end: none (PINFOLD_CUDA=off)")
endif()
