#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An example's logits are those of the same engine in Python on torchvision's tensors, bit for bit, and models that take
something else are refused in words.
usage: compare.py ENGINE EXAMPLE libpinfold.so MODEL"""
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import models
import numpy as np
import recipe

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import python_ctypes as pinfold

warnings.filterwarnings("ignore", module="torch")
ENGINE, EXAMPLE, LIBRARY, MODEL = sys.argv[1:]
# Each gives the function from images to logits, and how much it may differ by.
ENGINES = {}


def engine(function):
    ENGINES[function.__name__] = function
    return function


@engine
def openvino(model):
    import openvino
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1,
                                                            "INFERENCE_PRECISION_HINT": "f32"})
    return lambda images: compiled(images)[0], 0


@engine
def opencv(model):
    """Debian's module is of the same build as its library; its Python has no Pillow of the right version."""
    if subprocess.run(["/usr/bin/python3", "-E", "-c", "import cv2"], capture_output=True).returncode:
        print("python3-opencv is not installed: compared with ONNX Runtime, to 0.001")
        import onnxruntime
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        return lambda images: session.run(None, {"images": images})[0], 1e-3
    code = ("import cv2, numpy, sys; cv2.setNumThreads(1); net = cv2.dnn.readNetFromONNX(sys.argv[1]); "
            "net.setInput(numpy.load(sys.argv[2])); numpy.save(sys.argv[2], net.forward())")

    def classify(images):
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            np.save(file.name, images)
            subprocess.run(["/usr/bin/python3", "-E", "-c", code, model, file.name], check=True)
            return np.load(file.name)
    return classify, 0


@engine
def libtorch(model):
    import torch
    torch.set_num_threads(1)
    module = torch.jit.load(model).eval()
    # The example asks with one sample first, and torch optimizes by what it has seen.
    with torch.no_grad():
        module(torch.zeros(1, 3, 224, 224))

    def classify(images):
        with torch.no_grad():
            return module(torch.from_numpy(images)).numpy()
    return classify, 0


def torchscript(folder):
    """As models.failing(), in TorchScript."""
    import torch
    models = {"size": (lambda x: x.flatten(1) @ torch.ones(3 * 260 * 260, 2), (1, 3, 260, 260)),
              "nhwc": (lambda x: torch.conv2d(x, torch.ones(2, 224, 1, 1)).mean((2, 3)), (1, 224, 224, 3))}
    for name, (function, shape) in models.items():
        torch.jit.save(torch.jit.trace(function, torch.zeros(shape)), str(folder / f"{name}.pt"))
    (folder / "text.pt").write_text("no model")
    return [(folder / f"{name}.pt", "does not take float N x 3 x 224 x 224, which the preset gives") for name in models
            ] + [(folder / "none.pt", "none.pt: libtorch: "), (folder / "text.pt", "text.pt: libtorch: ")]


REFUSED = {"opencv": models.failing, "libtorch": torchscript}


def run(*arguments):
    return subprocess.run([EXAMPLE, *map(str, arguments)], capture_output=True, text=True)


def compare(folder):
    """Inputs, all logits, and the lines that are printed."""
    classify, tolerance = ENGINES[ENGINE](MODEL)
    done = run(MODEL, recipe.TREE, "tf_efficientnet_lite0", folder / "logits")
    names = sorted(p for p in recipe.TREE.rglob("*") if p.is_file())
    logits = np.fromfile(folder / "logits", np.float32).reshape(-1, 1000)
    row, lines = 0, []
    for tensor, batch in pinfold.batches(LIBRARY, str(recipe.TREE), "tf_efficientnet_lite0", batch_size=16):
        images = np.from_dlpack(tensor)
        there = np.zeros_like(images)
        for i in range(batch.count):
            if batch.statuses[i] == 0:
                path = names[batch.indices[i]]
                there[i] = recipe.lite0(path)
                best = logits[row + i].argmax()
                lines.append(f"{path.relative_to(recipe.TREE)}\t{best} {float(logits[row + i][best]):.9g}")
        assert there.tobytes() == images.tobytes(), f"inputs of batch {batch.number} differ"
        wanted = classify(there)
        differs = abs(wanted - logits[row:row + batch.count]).max()
        same = wanted.tobytes() == logits[row:row + batch.count].tobytes()
        assert same or differs <= tolerance > 0, f"logits of batch {batch.number} differ by {differs}"
        row += batch.count
    assert row == len(logits) == len(names) and done.stdout.splitlines() == lines and len(lines) > 30, done
    assert done.returncode == 1 and done.stderr.count("\n") == row - len(lines), done.stderr
    equal = f"to {tolerance}" if tolerance else "bit for bit"
    print(f"{len(lines)} pictures: inputs are equal, logits {equal}, {row - len(lines)} damaged ones are named")


def refusals(folder):
    cases = REFUSED.get(ENGINE, models.refused)(folder)
    for model, wanted in cases:
        done = run(model, recipe.TREE)
        assert done.returncode == 1 and wanted in done.stderr and str(model) in done.stderr, (model, done)
        assert done.stderr.count("\n") == 1 and not done.stdout, (model, done)
    (folder / "empty").mkdir()
    for arguments, code, wanted in [((MODEL, folder / "empty"), 1, "empty"), ((MODEL,), 2, "usage: "),
                                    ((MODEL, recipe.TREE, "resnet51"), 1, "resnet51"),
                                    ((MODEL, recipe.TREE, "resnet50", folder / "no/file"), 1, "no/file")]:
        done = run(*arguments)
        assert done.returncode == code and wanted in done.stderr, done
    if ENGINE not in REFUSED:
        # One picture at a time, by a model that takes no more.
        done = run(models.small(folder, "one", [[1, 3, 224, 224]]), recipe.TREE)
        assert len(done.stdout.splitlines()) > 30, done
    print(f"{len(cases) + 4} refusals say why")


print(f"recipe.py: {recipe.check()} pictures as torchvision's checksums")
with tempfile.TemporaryDirectory() as work:
    compare(Path(work))
    refusals(Path(work))
