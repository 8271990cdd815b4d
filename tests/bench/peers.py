#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images per second of another loader on an ImageFolder tree: decode, Resize(256), CenterCrop(224), normalise, f32 NCHW,
batches of 64.  usage: peers.py TREE torchvision|tv-io|opencv|opencv-area|dali|dali-fast WORKERS [BATCHES]
Exits 77 with the reason where the loader is not installed."""
import os
import sys
import time

TREE, PEER = sys.argv[1], sys.argv[2]
WORKERS, BATCHES = int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 24
BATCH = 64
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def report(n, seconds):
    print(f"{n / seconds:.1f} images/s")


def torch_loader():
    import torch
    import torchvision.datasets as D
    import torchvision.transforms as T
    torch.set_num_threads(1)
    transform = T.Compose([T.Resize(256), T.CenterCrop(224), T.ToTensor(), T.Normalize(MEAN, STD)])
    loader = D.folder.default_loader
    if PEER == "tv-io":
        import torchvision.io as io
        from torchvision.transforms import v2
        transform = v2.Compose([v2.Resize(256, antialias=True), v2.CenterCrop(224),
                                v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)])

        def loader(path):
            return io.decode_image(io.read_file(path), mode=io.ImageReadMode.RGB)
    data = D.ImageFolder(TREE, transform, loader=loader)
    n, start = 0, None
    for i, (x, _) in enumerate(torch.utils.data.DataLoader(data, batch_size=BATCH, num_workers=WORKERS)):
        if i == 2:
            start = time.perf_counter()
        elif i > 2:
            n += x.shape[0]
        if i == BATCHES + 2:
            break
    report(n, time.perf_counter() - start)


def opencv():
    from concurrent.futures import ThreadPoolExecutor

    import cv2
    import numpy as np
    cv2.setNumThreads(1)
    how = cv2.INTER_AREA if PEER.endswith("area") else cv2.INTER_LINEAR
    mean, scale = np.float32(MEAN) * 255, 1 / (np.float32(STD) * 255)
    files = [os.path.join(d, f) for d, _, names in sorted(os.walk(TREE)) for f in sorted(names)][: BATCH * BATCHES]
    out = np.empty((BATCH, 3, 224, 224), np.float32)

    def one(item):
        i, path = item
        picture = cv2.cvtColor(cv2.imread(path, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
        h, w = picture.shape[:2]
        s = 256 / min(h, w)
        picture = cv2.resize(picture, (max(256, int(w * s)), max(256, int(h * s))), interpolation=how)
        y, x = (picture.shape[0] - 224) // 2, (picture.shape[1] - 224) // 2
        picture = picture[y:y + 224, x:x + 224]
        o = cv2.multiply(cv2.subtract(picture.astype(np.float32), np.broadcast_to(mean, picture.shape)),
                         np.broadcast_to(scale, picture.shape))
        for c in range(3):
            out[i % BATCH, c] = o[:, :, c]
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(one, enumerate(files[:BATCH])))
        start = time.perf_counter()
        list(pool.map(one, enumerate(files)))
        report(len(files), time.perf_counter() - start)


def dali():
    from nvidia.dali import fn, pipeline_def, types
    smooth = PEER == "dali"

    @pipeline_def(batch_size=BATCH, num_threads=WORKERS, device_id=None, prefetch_queue_depth=2)
    def pipe():
        data, label = fn.readers.file(file_root=TREE, random_shuffle=False, name="r")
        picture = fn.decoders.image(data, device="cpu", output_type=types.RGB)
        picture = fn.resize(picture, resize_shorter=256, antialias=smooth,
                            interp_type=types.INTERP_TRIANGULAR if smooth else types.INTERP_LINEAR)
        return fn.crop_mirror_normalize(picture, crop=(224, 224), mean=[m * 255 for m in MEAN],
                                        std=[s * 255 for s in STD], dtype=types.FLOAT, output_layout="CHW"), label
    p = pipe()
    p.build()
    for _ in range(3):
        p.run()
    start = time.perf_counter()
    for _ in range(BATCHES):
        p.run()
    report(BATCHES * BATCH, time.perf_counter() - start)


try:
    {"torchvision": torch_loader, "tv-io": torch_loader, "opencv": opencv, "opencv-area": opencv, "dali": dali,
     "dali-fast": dali}[PEER]()
except ImportError as e:
    print(f"skipped: {e}")
    sys.exit(77)
