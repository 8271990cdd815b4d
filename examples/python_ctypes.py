#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Batches as numpy arrays over the loader's own memory, by ctypes alone; needs numpy 2.1.
usage: python_ctypes.py libpinfold.so ROOT [PRESET]"""
import ctypes as c
import sys

import numpy as np

I32, I64, P = c.c_int32, c.c_int64, c.c_void_p


def struct(name, fields):
    return type(name, (c.Structure,), {"_fields_": fields})


# What lies behind the fields that are used is zero, which means the defaults.
Recipe = struct("Recipe", [("struct_size", c.c_size_t), ("rest", c.c_char * 504)])
Options = struct("Options", [("struct_size", c.c_size_t), ("recipe", P), ("allocator", P), ("stream", P),
                             ("seed", c.c_uint64), ("batch_size", I32), ("workers", I32), ("slots", I32),
                             ("shuffle", I32), ("rest", c.c_char * 456)])
Error = struct("Error", [("status", I32), ("sys_code", I32), ("sample", I64), ("message", c.c_char * 496)])
Batch = struct("Batch", [("data", P), ("device_data", P), ("ready_event", P), ("labels", c.POINTER(I64)),
                         ("indices", c.POINTER(I64)), ("statuses", c.POINTER(I32)), ("size", c.c_size_t),
                         ("shape", I64 * 4), ("epoch", I64), ("number", I64), ("count", I32), ("bad_count", I32)])


class Tensor:
    """For from_dlpack() of numpy, torch and others, once: the array gives the batch back when it is collected."""
    def __init__(self, call, batch):
        self.call, self.batch = call, batch

    def __dlpack_device__(self):
        return 1, 0  # the CPU

    def __dlpack__(self, **_):
        managed, capsule = P(), c.pythonapi.PyCapsule_New
        self.call("batch_to_dlpack", c.byref(self.batch), None, 0, c.byref(managed))
        capsule.restype, capsule.argtypes = c.py_object, [P, c.c_char_p, P]
        return capsule(managed, b"dltensor_versioned", None)


def batches(library, root, preset=None, **options):
    """Yields each batch's Tensor and what else the C struct has."""
    lib, error = c.CDLL(library), Error()

    def call(name, *arguments):
        if getattr(lib, "pinfold_" + name)(*arguments, c.byref(error)) < 0:
            raise RuntimeError(error.message.decode())
        return error.status == 0
    recipe, dataset, loader, batch = Recipe(c.sizeof(Recipe)), P(), P(), c.POINTER(Batch)()
    if preset:
        call("recipe_preset", c.byref(recipe), preset.encode())
    options = Options(c.sizeof(Options), c.cast(c.byref(recipe), P), **options)
    call("dataset_open", c.byref(dataset), root.encode(), None)
    call("loader_open", c.byref(loader), dataset, c.byref(options))
    call("loader_start", loader, I64(0))
    try:
        while call("loader_next", loader, -1, c.byref(batch)):
            yield Tensor(call, batch.contents), batch.contents
    finally:
        lib.pinfold_loader_close(loader)
        lib.pinfold_dataset_close(dataset)


if __name__ == "__main__":
    for tensor, batch in batches(*sys.argv[1:], batch_size=16):
        images, labels = np.from_dlpack(tensor), batch.labels[:batch.count]
        print(images.shape, images.dtype, f"mean {images.mean():.4f}", "labels", labels)
