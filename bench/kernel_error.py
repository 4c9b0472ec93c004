"""How well chosen points reconstruct an RBF kernel matrix: 1 - tr(K_T^T K_TT^-1 K_T) / tr K.

usage: kernel_error.py POINTS.npy --gamma G --picks FILE.json       FILE: {"name": [indices]}; prints JSON
"""

import argparse
import json
import sys

import numpy as np


def rbf(a, b, gamma):
    squares = (a * a).sum(1)[:, None] + (b * b).sum(1) - 2 * a @ b.T
    return np.exp(-gamma * np.maximum(squares, 0))


def kernel_error(points, picks, gamma):
    chosen = points[picks].astype(np.float64)
    values, vectors = np.linalg.eigh(rbf(chosen, chosen, gamma))
    keep = values > 1e-10 * values[-1]
    half_inverse = vectors[:, keep] / np.sqrt(values[keep])
    kept = 0.0
    for first in range(0, len(points), 4096):
        block = rbf(points[first : first + 4096].astype(np.float64), chosen, gamma)
        kept += np.linalg.norm(block @ half_inverse) ** 2
    return 1 - kept / len(points)  # K_ii = 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points")
    parser.add_argument("--gamma", type=float, required=True)
    parser.add_argument("--picks", required=True)
    arguments = parser.parse_args()
    points = np.load(arguments.points, mmap_mode="r")
    with open(arguments.picks, encoding="utf-8") as file:
        json.dump({name: kernel_error(points, picks, arguments.gamma) for name, picks in json.load(file).items()}, sys.stdout)


if __name__ == "__main__":
    main()
