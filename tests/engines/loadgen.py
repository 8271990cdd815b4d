#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LoadGen runs both scenarios to a valid result, and its accuracy log has each sample's logits as ONNX Runtime in Python
gives them for torchvision's tensors, bit for bit.
usage: loadgen.py EXAMPLE MODEL"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import models
import numpy as np
import onnxruntime
import recipe

EXAMPLE, MODEL = sys.argv[1:]
BATCH = {"single-stream": 1, "offline": 8}


def run(*arguments):
    return subprocess.run([EXAMPLE, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def make_set(root):
    """The sound pictures of the tree, which are a few photographs and much else."""
    (root / "class").mkdir(parents=True)
    paths = []
    for path in sorted(p for p in recipe.TREE.rglob("*") if p.is_file()):
        try:
            images = recipe.lite0(path)
        except Exception:
            continue
        (root / "class" / f"{len(paths):03}{path.suffix}").symlink_to(path)
        paths.append(images)
    return np.stack(paths)


def performance(scenario, root, folder):
    done = run(MODEL, root, scenario, "performance", folder, 1)
    assert done.returncode == 0, done
    text = (folder / "mlperf_log_summary.txt").read_text()
    summary = {name.strip(): value.strip() for name, value in re.findall(r"^(.+?) ?: (.+)$", text, re.M)}
    assert summary["Result is"] == "VALID", summary
    assert summary["Scenario"].lower().replace(" ", "") == scenario.replace("-", ""), summary
    assert summary["SUT name"] == "ONNX Runtime", summary
    figure = {"offline": "Samples per second", "single-stream": "90.0th percentile latency (ns)"}[scenario]
    assert float(summary[figure]) > 0
    return f"{figure} {summary[figure]}"


def accuracy(scenario, root, folder, images):
    done = run(MODEL, root, scenario, "accuracy", folder)
    assert done.returncode == 0, done
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(MODEL, options, providers=["CPUExecutionProvider"])
    log = sorted(json.loads((folder / "mlperf_log_accuracy.json").read_text()), key=lambda entry: entry["seq_id"])
    order = [entry["qsl_idx"] for entry in log]
    assert sorted(order) == list(range(len(images))), order
    for start in range(0, len(order), BATCH[scenario]):
        part = slice(start, start + BATCH[scenario])
        wanted = session.run(None, {"images": images[order[part]]})[0]
        got = b"".join(bytes.fromhex(entry["data"]) for entry in log[part])
        assert got == wanted.tobytes(), f"{scenario}: logits of {order[part]} differ"
    return len(order)


def refusals(root, folder):
    cases = [((model, root, "offline", "accuracy", folder), 1, wanted) for model, wanted in models.refused(folder)
             if model.stem in ("size", "nhwc", "none")]
    (folder / "bad/class").mkdir(parents=True)
    (folder / "bad/class/broken.jpg").write_bytes(b"\xff\xd8\xff")
    cases += [((MODEL, folder / "bad", "offline", "accuracy", folder), 1, "class/broken.jpg"),
              ((MODEL, folder / "nowhere", "offline", "accuracy", folder), 1, "nowhere"),
              ((MODEL, root, "server", "accuracy", folder), 2, "usage: "),
              ((MODEL, root, "offline", "speed", folder), 2, "usage: "), ((), 2, "usage: ")]
    for arguments, code, wanted in cases:
        done = run(*arguments)
        assert done.returncode == code and wanted in done.stderr, (arguments, done)
    return len(cases)


with tempfile.TemporaryDirectory() as work:
    work = Path(work)
    samples = make_set(work / "set")
    for scenario in BATCH:
        (work / scenario).mkdir()
        said = performance(scenario, work / "set", work / scenario)
        count = accuracy(scenario, work / "set", work / scenario, samples)
        print(f"{scenario}: valid, {said}; {count} samples' logits are equal")
    print(f"{refusals(work / 'set', work)} refusals say why")
