#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example's logits are those of ONNX Runtime in Python on torchvision's tensors, bit for bit.
usage: compare_onnxruntime.py EXAMPLE libpinfold.so MODEL"""
import subprocess
import sys
import tempfile
from pathlib import Path

import models
import numpy as np
import onnxruntime
import recipe

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import python_ctypes as pinfold

EXAMPLE, LIBRARY, MODEL = sys.argv[1:]


def run(*arguments):
    return subprocess.run([EXAMPLE, *map(str, arguments)], capture_output=True, text=True)


def session():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(MODEL, options, providers=["CPUExecutionProvider"])


def compare(folder):
    """Inputs, all logits, and the lines that are printed."""
    done = run(MODEL, recipe.TREE, "tf_efficientnet_lite0", folder / "logits")
    names = sorted(p for p in recipe.TREE.rglob("*") if p.is_file())
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    logits = np.fromfile(folder / "logits", np.float32).reshape(-1, 1000)
    model, row, good = session(), 0, []
    for tensor, batch in pinfold.batches(LIBRARY, str(recipe.TREE), "tf_efficientnet_lite0", batch_size=16):
        images, statuses = np.from_dlpack(tensor), batch.statuses[:batch.count]
        there = np.zeros_like(images)
        for i, status in enumerate(statuses):
            if status == 0:
                there[i] = recipe.lite0(names[batch.indices[i]])
                good.append((names[batch.indices[i]], row + i))
        assert there.tobytes() == images.tobytes(), f"inputs of batch {batch.number} differ"
        assert model.run(None, {"images": there})[0].tobytes() == logits[row:row + batch.count].tobytes(), \
            f"logits of batch {batch.number} differ"
        row += batch.count
    assert row == len(logits) == len(names) and len(good) == len(lines) > 30
    for (path, i), line in zip(good, lines):
        best = [word.split() for word in line[1:]]
        assert line[0] == str(path.relative_to(recipe.TREE)) and len(best) == 5
        assert [int(c) for c, _ in best] == np.argsort(-logits[i], kind="stable")[:5].tolist()
        assert [np.float32(v) for _, v in best] == [logits[i][int(c)] for c, _ in best]
    errors = done.stderr.splitlines()
    assert done.returncode == 1 and len(errors) == row - len(good), errors
    print(f"{len(good)} pictures: inputs and logits are equal, {len(errors)} damaged ones are named")


def refusals(folder):
    cases = models.refused(folder) + [
        (folder / "two.onnx", "takes 2 inputs"), (folder / "half.onnx", "the first of type 10"),
        (folder / "flat.onnx", "with 2 dimensions"), (recipe.TREE.parent / "tree.tsv", "onnxruntime: ")]
    for model, wanted in cases:
        done = run(model, recipe.TREE)
        assert done.returncode == 1 and wanted in done.stderr and done.stderr.count("\n") == 1 and not done.stdout, \
            (model, done)
    (folder / "empty").mkdir()
    for arguments, code, wanted in [((MODEL, folder / "empty"), 1, "empty"), ((MODEL,), 2, "usage: "),
                                    ((MODEL, recipe.TREE, "resnet51"), 1, "resnet51"),
                                    ((MODEL, recipe.TREE, "resnet50", folder / "no/file"), 1, "no/file")]:
        done = run(*arguments)
        assert done.returncode == code and wanted in done.stderr, done
    # One picture at a time, by a model that takes no more.
    done = run(models.small(folder, "one", [[1, 3, 224, 224]]), recipe.TREE)
    assert len(done.stdout.splitlines()) > 30, done
    print(f"{len(cases) + 4} refusals say why")


print(f"recipe.py: {recipe.check()} pictures as torchvision's checksums")
with tempfile.TemporaryDirectory() as work:
    compare(Path(work))
    refusals(Path(work))
