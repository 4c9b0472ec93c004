"""Algorithm 1 of the paper as a careful person writes it in NumPy: the peer that fwsr's forms are measured against.

usage: literal.py POINTS.npy -k K [--type float32|float64] [--repeats R]    prints JSON
       literal.py --check PROGRAM        compares its picks with those of `fwsr` on the built-in digits

O(n^2) time and memory a step, nothing wasted on purpose:
  - K = A^T A is one BLAS product on all cores, in the type of the points;
  - X holds only its non-zero rows, so that <X, P> and <X, K> cost n m and not n^2;
  - the gradient is never multiplied out: K X follows X <- (1 - gamma) X + gamma e_j s^T by a rank-one update;
  - every n x n operation writes into memory taken before the first step.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np


def choose(points, exemplars, delta=1e-8, beta=None):
    """The picks of Algorithm 1 in order, and the number of steps. Defaults are fwsr's: points
    centred by their own mean, q = 2, beta = 10 k, doubled when the gap closes or nothing new comes."""
    a = points - points.mean(axis=1, keepdims=True)  # n x d: the transpose of the paper's A
    n = len(a)
    kernel = a @ a.T  # NumPy sees a matrix times its own transpose and calls SYRK, half the flops of GEMM
    residual = kernel.copy()  # P = K - K X, minus half the gradient
    product = np.zeros_like(kernel)  # K X
    scratch = np.empty_like(kernel)
    rows = {}  # the non-zero rows of X; a dictionary keeps the order of choosing
    beta = 10.0 * exemplars if beta is None else beta
    stop = delta * float(np.trace(kernel, dtype=np.float64))
    patience, idle, steps = max(50, 2 * exemplars), 0, 0
    while len(rows) < exemplars and steps < 100 * exemplars + 1000:
        # line 9: the row of P with the largest norm. einsum reads P once and forms no P * P.
        j = int(np.argmax(np.einsum("ij,ij->i", residual, residual)))
        p_j = residual[j].astype(np.float64)
        score = np.linalg.norm(p_j)
        if score == 0:
            break
        if idle >= patience:
            beta, idle = 2 * beta, 0
        # lines 10-12, 15: num = <S - X, P>, den = <S - X, K (S - X)> with S = beta e_j v^T.
        v = p_j / score
        x_p = sum(float(row @ residual[i]) for i, row in rows.items())
        x_k = sum(float(row @ kernel[i]) for i, row in rows.items())
        s_kx = float(v @ product[j])
        while True:
            num = beta * score - x_p
            den = beta**2 * float(kernel[j, j]) - 2 * beta * s_kx + x_k - x_p
            if 2 * num > stop and den > 0:
                break
            beta, idle = 2 * beta, 0  # line 13: the gap is closed; enlarge the ball and go on
        gamma = min(1.0, num / den)
        # lines 7 and 16
        known = j in rows
        rows = {} if gamma == 1 else {i: (1 - gamma) * row for i, row in rows.items()}
        s = (gamma * beta * v).astype(kernel.dtype)
        rows[j] = rows[j] + s if j in rows else s
        idle, steps = idle + 1 if known else 0, steps + 1
        if len(rows) < exemplars:  # the last step needs no new gradient
            product *= 1 - gamma
            np.multiply(kernel[:, j, None], s, out=scratch)  # outer product, into memory we have
            product += scratch
            np.subtract(kernel, product, out=residual)
    return list(rows), steps


def measure(path, exemplars, kind, repeats):
    points = np.ascontiguousarray(np.load(path), dtype=kind)
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        picks, steps = choose(points, exemplars)
        seconds.append(time.perf_counter() - start)
    return {"seconds": seconds, "picks": picks, "steps": steps, "points": len(points),
            "features": points.shape[1], "type": kind, "numpy": np.__version__}


def check(program):
    """The picks of the program and of `choose` on the built-in digits must be the same."""
    digits = np.loadtxt(pathlib.Path(__file__).parent.parent / "data/digits.csv.gz", delimiter=",", skiprows=1)[:, :64]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/digits.npy"
        for kind in ("float64", "float32"):
            np.save(path, digits.astype(kind))
            command = [program, "select", path, "-k", "20", "--method", "fwsr", "--json"]
            answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            theirs = [pick["index"] for pick in answer["picks"]]
            ours, _ = choose(digits.astype(kind), 20)
            failed += ours != theirs
            print(f"digits, {kind}: {'same picks' if ours == theirs else f'picks differ: {ours} and {theirs}'}")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points", nargs="?", help="n x d array")
    parser.add_argument("-k", type=int, default=50)
    parser.add_argument("--type", choices=["float32", "float64"], default="float32")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--check", metavar="PROGRAM")
    arguments = parser.parse_args()
    if arguments.check:
        return check(arguments.check)
    if not arguments.points:
        parser.error("name a file of points, or --check PROGRAM")
    json.dump(measure(arguments.points, arguments.k, arguments.type, arguments.repeats), sys.stdout)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
