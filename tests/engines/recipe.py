# SPDX-License-Identifier: Apache-2.0
"""Resize, CenterCrop, ToTensor and Normalize of torchvision in Pillow and numpy, checked by the checksums that torchvision
itself left in tests/golden, so that an engine's test needs no torch."""
import hashlib
import warnings
from pathlib import Path

import numpy as np
from PIL import Image

# Of palettes, whose alpha the recipe drops.
warnings.filterwarnings("ignore", module="PIL")
TREE = Path(__file__).parents[1] / "golden/tree"


def make(path, resize, crop, mean, std):
    """float32 3 x crop x crop; the filter is bicubic."""
    with Image.open(path) as file:
        picture = file.convert("RGB")
    w, h = picture.size
    short, long = min(w, h), max(w, h)
    new = (resize, int(resize * long / short)) if w <= h else (int(resize * long / short), resize)
    if new != (w, h):
        picture = picture.resize(new, Image.BICUBIC)
    left, top = int(round((new[0] - crop) / 2.0)), int(round((new[1] - crop) / 2.0))
    pixels = np.asarray(picture.crop((left, top, left + crop, top + crop)), np.float32).transpose(2, 0, 1)
    mean, std = (np.float32(v).reshape(3, 1, 1) for v in (mean, std))
    return (pixels / np.float32(255) - mean) / std


def lite0(path):
    return make(path, 256, 224, [0.5] * 3, [0.5] * 3)


def check():
    """Whether it makes what torchvision made of the tree; returns of how many pictures."""
    count = 0
    for line in (TREE.parent / "tree.tsv").read_text().splitlines():
        path, _, pipeline, *rest = line.split("\t") if line[0] != "#" else "---"
        if pipeline != "bicubic232":
            continue
        got = make(TREE / path, 232, 224, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
        assert hashlib.sha256(got.tobytes()).hexdigest() == rest[3], f"{path}: Pillow and numpy are not as torchvision"
        count += 1
    assert count > 20
    return count
