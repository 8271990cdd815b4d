# SPDX-License-Identifier: Apache-2.0
set(PINFOLD_SOURCES
  src/base/clock.c src/base/cpu.c src/base/error.c src/base/memory.c src/base/mt19937.c
  src/codec/decoder.c src/codec/jpeg.c src/codec/jpeg_header.c src/codec/jpeg_window.c src/codec/png.c src/codec/png_chunks.c
  datasets/dataset.c datasets/folder.c datasets/names.c datasets/order.c
  transforms/filter.c transforms/normalize.c transforms/plan.c transforms/preset.c transforms/recipe.c transforms/region.c transforms/resample.c
  transforms/stream.c transforms/taps.c
  src/gpu/probe.c
  src/load/ahead.c src/load/batch.c src/load/device.c src/load/info.c src/load/open.c src/load/preprocess.c src/load/read.c
  src/load/ring.c src/load/sample.c src/load/slots.c src/load/worker.c)
