#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what tests/cli/export wrote with the formats' own readers.
usage: export-readers.py FOLDER SAMPLES; needs numpy, and where they are there
safetensors and torch."""
import hashlib
import json
import sys
from pathlib import Path

import numpy as np

folder, n = Path(sys.argv[1]), int(sys.argv[2])
images = np.load(folder / "npy/images.npy", allow_pickle=False)
assert images.dtype == np.float32 and images.shape == (n, 3, 31, 31)
labels = np.load(folder / "npy/labels.npy")
assert labels.dtype == np.int64 and labels.tolist() == sorted(labels.tolist())
assert np.load(folder / "npy32b/labels.npy").dtype == np.int32
assert np.load(folder / "npy/indices.npy").tolist() == list(range(n))
assert not np.load(folder / "npy/statuses.npy").any()
assert np.isfinite(images).all() and images.std() > 0.1

samples = json.loads((folder / "raw/manifest.json").read_text())["samples"]
for i, sample in enumerate(samples):
    one = np.load(folder / "each" / (sample["path"] + ".npy"))
    assert one.shape == (3, 31, 31) and (one == images[i]).all(), sample

manifest = json.loads((folder / "raw/manifest.json").read_text())
data = (folder / "raw/data.bin").read_bytes()
types = {"F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "u1", "F16": "<f2"}
raw = {}
for t in manifest["tensors"]:
    part = data[t["offset"]:t["offset"] + t["bytes"]]
    assert t["sha256"] in (None, hashlib.sha256(part).hexdigest())
    raw[t["name"]] = np.ndarray(t["shape"], types[t["dtype"]], part, strides=t["strides"])
assert (raw["images"] == images).all() and (raw["labels"] == labels).all()
assert raw["indices"].tolist() == list(range(n)) and not raw["statuses"].any()
bad = json.loads((folder / "raw-bad/manifest.json").read_text())
assert bad["bad_samples"] == 1 and bad["samples"][0]["status"] == "PINFOLD_E_CORRUPT"
assert not np.frombuffer((folder / "raw-bad/data.bin").read_bytes()[:4 * 2883], "<f4").any()

try:
    from safetensors import safe_open
    from safetensors.numpy import load_file
except ImportError:
    print("skipped: safetensors is not installed")
    sys.exit()
file = load_file(folder / "s.safetensors")
assert (file["images"] == images).all() and (file["labels"] == labels).all()
assert bytes(file["paths"]).count(b"\n") == n
u8 = load_file(folder / "u8")["images"]
assert u8.shape == (n, 31, 31, 3) and u8.dtype == np.uint8
with safe_open(folder / "s.safetensors", "numpy") as f:
    metadata = f.metadata()
    assert json.loads(metadata["classes"]) == ["a", "b"]
    assert json.loads(metadata["recipe"])["resize_short"] == 33

try:
    import torch
    from safetensors.torch import load_file as load_torch
except ImportError:
    print("skipped: torch is not installed")
    sys.exit()
bf16 = load_torch(folder / "bf.safetensors")["images"]
assert bf16.dtype == torch.bfloat16
assert torch.equal(bf16, torch.from_numpy(images).to(torch.bfloat16))
assert torch.from_numpy(np.load(folder / "npy/images.npy")).shape == (n, 3, 31, 31)
