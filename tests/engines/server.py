#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the server answers to pictures posted one by one is what ONNX Runtime in Python says of torchvision's tensors, bit
for bit, and to many at once, which it batches, the same to a rounding.
usage: server.py EXAMPLE MODEL"""
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import models
import numpy as np
import onnxruntime
import recipe

EXAMPLE, MODEL = sys.argv[1:]


class Server:
    def __init__(self, *options):
        self.process = subprocess.Popen([EXAMPLE, "--port", "0", *options], stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        self.address = f"http://127.0.0.1:{self.process.stdout.readline().split()[-1]}"
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(60) == 0

    def post(self, path):
        """The classes and logits, or the status and the reason."""
        try:
            with urllib.request.urlopen(self.address, path.read_bytes()) as answer:
                lines = [line.split() for line in answer.read().decode().splitlines()]
            return [int(c) for c, _ in lines], [np.float32(v) for _, v in lines]
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


def reference(paths):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(MODEL, options, providers=["CPUExecutionProvider"])
    answers = {}
    for path in paths:
        try:
            images = recipe.lite0(path)[None]
        except Exception:
            continue
        logits = session.run(None, {"images": images})[0][0]
        best = np.argsort(-logits, kind="stable")[:5]
        answers[path] = best.tolist(), [logits[i] for i in best]
    return answers


def one_by_one(paths, wanted):
    with Server("--batch", "1", MODEL) as server:
        for path in paths:
            got = server.post(path)
            if isinstance(got[0], list):
                assert got == wanted[path], (path, got, wanted[path])
            else:
                assert got[0] in (400, 415) and got[1].endswith("\n") and path not in wanted, (path, got)


def at_once(paths, wanted):
    with Server("--batch", "8", "--queue", "1000", MODEL) as server, ThreadPoolExecutor(32) as pool:
        for path, got in zip(paths * 4, pool.map(server.post, paths * 4)):
            assert isinstance(got[0], list) == (path in wanted)
            if path in wanted:
                assert np.allclose(sorted(got[1]), sorted(wanted[path][1]), atol=1e-4), (path, got, wanted[path])


def refusals(folder):
    cases = models.refused(folder)
    for model, words in cases:
        done = subprocess.run([EXAMPLE, str(model)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and words in done.stderr and done.stderr.count("\n") == 1, (model, done)
        assert str(model) in done.stderr, done
    # A model that takes two at a time gets two.
    with Server(str(models.small(folder, "pair", [[2, 3, 224, 224]]))) as server:
        classes, values = server.post(next(p for p in GOOD))
        assert len(classes) == 5 and values == sorted(values, reverse=True)
    print(f"{len(cases)} refusals say why")


PATHS = sorted(p for p in recipe.TREE.rglob("*") if p.is_file() and p.stat().st_size)
GOOD = reference(PATHS)
# Pillow alone opens formats that torchvision's ImageFolder does not, and the reverse is not so.
print(f"recipe.py: {recipe.check()} pictures as torchvision's checksums")
one_by_one(PATHS, GOOD)
at_once(PATHS, GOOD)
with tempfile.TemporaryDirectory() as work:
    refusals(Path(work))
print(f"{len(GOOD)} pictures are answered as by Python, {len(PATHS) - len(GOOD)} others are not")
