# SPDX-License-Identifier: Apache-2.0
# Kernels of the target's architecture.
list(APPEND PINFOLD_SOURCES src/base/cpu_level.c transforms/flip.c transforms/kernels.c transforms/none.c
  transforms/pack.c)
