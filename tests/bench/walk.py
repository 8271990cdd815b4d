#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a tree's walk takes, and torchvision's, in turns.

usage: walk.py PINFOLD ROOT [ROUNDS [OPTIONS...]]   (needs torchvision; OPTIONS go to 'pinfold ls')"""
import statistics, subprocess, sys, time
from torchvision.datasets.folder import IMG_EXTENSIONS, find_classes, make_dataset

pinfold, root = sys.argv[1:3]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5


def theirs():
    start = time.perf_counter()
    _, class_to_idx = find_classes(root)
    n = len(make_dataset(root, class_to_idx, IMG_EXTENSIONS))
    return time.perf_counter() - start, n


def ours():
    start = time.perf_counter()
    subprocess.run([pinfold, "ls", root, "--classes", *sys.argv[4:]], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


theirs(), ours()  # warm
times = [(theirs(), ours()) for _ in range(rounds)]
a, b = (statistics.median(t) for t in zip(*((x[0], y) for x, y in times)))
print(f"{times[0][0][1]} samples: torchvision {a:.3f} s, pinfold {b:.3f} s, ratio {b / a:.3f}, "
      f"each round's {' '.join(f'{y / x[0]:.3f}' for x, y in times)}")
