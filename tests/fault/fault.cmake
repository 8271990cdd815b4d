# SPDX-License-Identifier: Apache-2.0
# The fault sweeps: fault/api of the library's functions, fault/commands of the program's commands.
# Every call of one of these goes through tests/fault's doors.
set(pinfold_doors
  open openat close fstat stat lstat fstatat faccessat read pread __read_chk __pread_chk write copy_file_range fdopendir readdir mkdir mkdirat rename renameat
  unlink unlinkat fsync mmap mlock fopen fdopen tmpfile fileno open_memstream fork
  pthread_create pthread_join pthread_mutex_init pthread_cond_init pthread_condattr_init pthread_condattr_setclock
  pfi_malloc pfi_calloc pfi_realloc pfi_aligned_alloc pfi_free pfi_pages_alloc pfi_pages_free
  pfi_gpu_default pfi_now_ns pfi_parallel_run pfi_retry_wait)
set(pinfold_door_definitions)
# Points of one row, fault and way at most; 0 = all.
set(pinfold_most_api 0)
set(pinfold_most_commands 10)
if(PINFOLD_SANITIZE)
  list(APPEND pinfold_doors malloc calloc realloc posix_memalign free strdup strndup)
  # Each point is a process that takes a hundred times as long.
  set(pinfold_door_definitions PFI_GATE_WRAPS_HEAP)
  set(pinfold_most_api 2)
  set(pinfold_most_commands 1)
endif()

# The fake device's own memory does not fail.
add_library(pinfold_spared OBJECT ${pinfold_fake_gpu})
pinfold_test_target(pinfold_spared)
target_compile_definitions(pinfold_spared PRIVATE malloc=gate_spare_malloc calloc=gate_spare_calloc
  posix_memalign=gate_spare_posix_memalign)

function(pinfold_fault_program name)
  add_executable(${name} ${ARGN} fault/sweep.c fault/outputs.c fault/gate.c fault/gate_heap.c fault/gate_calls.c
    fault/gate_stream.c $<TARGET_OBJECTS:pinfold_spared>)
  pinfold_program_target(${name})
  target_compile_definitions(${name} PRIVATE ${pinfold_door_definitions})
  set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON)
  foreach(door ${pinfold_doors})
    target_link_options(${name} PRIVATE -Wl,--wrap=${door})
  endforeach()
endfunction()

# Not under ThreadSanitizer, whose runtime does not live in a forked child that starts threads.
if(NOT PINFOLD_SANITIZE MATCHES "thread")
  pinfold_fault_program(fault_api fault/api.c fault/scenarios.c)
  add_test(NAME fault/api COMMAND fault_api --most ${pinfold_most_api})
  set(pinfold_swept ${pinfold_program_sources})
  list(FILTER pinfold_swept EXCLUDE REGEX "/main\\.c$")
  pinfold_fault_program(fault_commands fault/commands.c fault/rows.c fault/program.c ${pinfold_swept})
  target_compile_definitions(fault_commands PRIVATE PINFOLD_HAVE_LIBMD)
  target_link_options(fault_commands PRIVATE -Wl,--wrap=pfi_cli_crew_run -Wl,--wrap=pfi_cli_seconds)
  add_test(NAME fault/commands COMMAND fault_commands --most ${pinfold_most_commands})
endif()
