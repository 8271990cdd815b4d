#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""numpy and torch take batches as they lie in the loader, and give them back.
usage: dlpack.py libpinfold.so ROOT"""
import ctypes
import gc
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import python_ctypes as pinfold

LIBRARY, ROOT = sys.argv[1:]


def read(take, pointer, slots, **options):
    """The bytes of an epoch; more batches than slots, so that each must have been given back."""
    out, count = [], 0
    for tensor, batch in pinfold.batches(LIBRARY, ROOT, batch_size=3, slots=slots, **options):
        images = take(tensor)
        assert pointer(images) == batch.data, "it was copied"
        assert tuple(images.shape) == tuple(batch.shape) == (batch.count, 3, 224, 224)
        out.append(np.asarray(images).tobytes())
        count += 1
        if slots == 1:
            del images
    assert count > 8
    # A tensor that outlives the loader, which the loop's last variable is.
    if slots > 1:
        assert np.asarray(images).tobytes() == out[-1]
    del images, tensor
    gc.collect()
    return b"".join(out)


def refused(wanted, run):
    try:
        run()
    except RuntimeError as error:
        assert str(error) == wanted, error
    else:
        sys.exit(f"not refused: {wanted}")


def keep_all():
    kept = [np.from_dlpack(tensor) for tensor, _ in pinfold.batches(LIBRARY, ROOT, batch_size=3, slots=2)]
    sys.exit(f"{len(kept)} batches out of 2 slots")


def twice():
    for tensor, _ in pinfold.batches(LIBRARY, ROOT, batch_size=3):
        first = np.from_dlpack(tensor)
        assert first.flags.writeable and first.dtype == np.float32
        np.from_dlpack(tensor)


if tuple(int(n) for n in np.__version__.split(".")[:2]) < (2, 1):
    print(f"skipped: numpy {np.__version__} does not know DLPack 1.0; 2.1 does")
    sys.exit(77)
once = read(np.from_dlpack, lambda a: a.ctypes.data, 2)
refused("all 2 slots are lent: release a batch first", keep_all)
refused("the batch was handed over before", twice)
print(f"numpy {np.__version__}: {len(once)} bytes, not copied")
try:
    import torch
except ImportError:
    print("skipped: torch is not installed")
    sys.exit()
assert read(torch.from_dlpack, lambda t: t.data_ptr(), 2) == once
print(f"torch {torch.__version__}: the same, not copied")
