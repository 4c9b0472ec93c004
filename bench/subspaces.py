"""Subspaces found by ssc and ssc-omp, and what the coresets and ssc-omp take, for bench/results/subspaces.md.

    python bench/subspaces.py build/release/bin/fwsr [recovery] [faces] [times]

Needs NumPy and SciPy. recovery: unions of random subspaces; faces: ten people of Extended Yale B at a time, and all 38
(FWSR_DATA or ../shared/data); times: seconds and memory at 10,000 and 100,000 points.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.io import loadmat
from scipy.optimize import linear_sum_assignment

PROGRAM = sys.argv[1]
PARTS = sys.argv[2:] or ["recovery", "faces", "times"]
FOLDER = tempfile.TemporaryDirectory(prefix="fwsr-bench-")


def run(x, k, method, *more):
    path = Path(FOLDER.name) / "points.npy"
    np.save(path, x)
    command = [PROGRAM, "select", str(path), "-k", str(k), "--method", method, "--center", "none", "--certificate",
               "none", "--json", "--quiet", *more]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def accuracy(found, true):
    """The best share of points whose cluster is their class, over all ways to name the clusters."""
    table = np.zeros((max(found) + 1, max(true) + 1))
    np.add.at(table, (found, true), 1)
    rows, columns = linear_sum_assignment(-table)
    return table[rows, columns].sum() / len(true)


def within(answer, codes, true):
    """The mean share, in absolute codes, that stays in the subspace of the point; and of points where all does."""
    c = np.zeros((len(true), len(true)))
    c[answer["exemplars"]] = np.abs(codes).T
    same = (true[:, None] == true[None]) * c
    all_, own = c.sum(axis=0), same.sum(axis=0)
    used = all_ > 0
    share = own[used] / all_[used]
    return share.mean(), (share > 1 - 1e-6).mean()


def judge(x, true, method, clusters):
    codes = Path(FOLDER.name) / "codes.npy"
    answer = run(x, len(x), f"{method}:clusters={clusters}", "--codes", str(codes))
    share, preserved = within(answer, np.load(codes), true)
    return accuracy(np.array(answer["clusters"]), true), share, preserved, answer["seconds"]["steps"]


def recovery():
    """As You, Robinson and Vidal: 5 subspaces of dimension 6 in 9, without noise, and with noise in 50."""
    print("| points a subspace | noise | method | accuracy | codes within | points all within | seconds |")
    print("|---|---|---|---|---|---|---|")
    for d, noise in ((9, 0.0), (50, 0.1)):
        for each in (30, 100, 320):
            for method in ("ssc:alpha=50", "ssc-omp:sparsity=6"):
                rows = []
                for seed in range(5):
                    rng = np.random.default_rng(seed)
                    bases = [np.linalg.qr(rng.standard_normal((d, 6)))[0] for _ in range(5)]
                    x = np.vstack([rng.standard_normal((each, 6)) @ b.T for b in bases])
                    x /= np.linalg.norm(x, axis=1, keepdims=True)
                    x += noise * rng.standard_normal(x.shape) / np.sqrt(d)
                    rows.append(judge(x, np.repeat(np.arange(5), each), method, 5))
                a, share, all_, seconds = np.mean(rows, axis=0)
                print(f"| {each} in {d} | {noise} | `{method}` | {a:.3f} | {share:.3f} | {all_:.3f} | {seconds:.2f} |",
                      flush=True)


def faces():
    """Ten people at a time."""
    root = Path(os.environ.get("FWSR_DATA", "../shared/data"))
    file = loadmat(root / "yaleb/YaleB_32x32.mat")
    x, y = file["fea"].astype(np.float64) / 255, file["gnd"].ravel() - 1
    print("| method | accuracy, mean | median | codes within | points all within | seconds |\n|---|---|---|---|---|---|")
    for method in ("ssc:alpha=20", "ssc:alpha=20:affine=yes", "ssc-omp:sparsity=5"):
        rows = []
        for first in (0, 10, 20, 28):
            rows.append(judged := [])
            chosen = (y >= first) & (y < first + 10)
            points = x[chosen] / np.linalg.norm(x[chosen], axis=1, keepdims=True)
            judged.extend(judge(points, y[chosen] - first, method, 10))
        mean = np.mean(rows, axis=0)
        print(f"| `{method}` | {mean[0]:.3f} | {np.median([r[0] for r in rows]):.3f} | {mean[1]:.3f} | {mean[2]:.3f} "
              f"| {mean[3]:.1f} |", flush=True)
    points = x / np.linalg.norm(x, axis=1, keepdims=True)
    print("\n| all 38 people | accuracy | codes within | points all within | seconds |\n|---|---|---|---|---|")
    for sparsity in (3, 5, 8):
        a, share, all_, seconds = judge(points, y, f"ssc-omp:sparsity={sparsity}", 38)
        print(f"| `ssc-omp:sparsity={sparsity}` | {a:.3f} | {share:.3f} | {all_:.3f} | {seconds:.1f} |", flush=True)


def times():
    print("| points | features | command | planned, s | seconds | CPU, s | planned, MB | memory, MB | load |")
    print("|---|---|---|---|---|---|---|---|---|")
    commands = [(100, "coreset:clusters=20"), (100, "coreset:variant=lightweight"), (40, "fw-coreset:problem=ball"),
                (40, "fw-coreset:problem=hull"), (100, "fw-coreset:problem=hull"), (100, "ksvd"), (100, "ssc-omp"),
                (100, "ssc-omp:clusters=20")]
    for n, d in ((10_000, 50), (100_000, 50)):
        rng = np.random.default_rng(0)
        bases = rng.standard_normal((20, 5, d))
        x = np.einsum("ik,ikd->id", rng.standard_normal((n, 5)), bases[rng.integers(0, 20, n)])
        x = (x + 0.1 * rng.standard_normal((n, d))).astype(np.float32)
        for k, method in commands:
            plan = run(x, k, method, "--dry-run")["plan"]
            before = os.times()
            answer = run(x, k, method)
            after = os.times()
            took = answer["seconds"]["setup"] + answer["seconds"]["steps"]
            cpu = after.children_user + after.children_system - before.children_user - before.children_system
            planned = plan["seconds"]["setup"] + plan["seconds"]["steps"]
            memory = answer["peak_memory_bytes"] - x.nbytes
            print(f"| {n:,} | {d} | `-k {k} --method {method}` | {planned:.2f} | {took:.2f} | {cpu:.2f} "
                  f"| {plan['memory_bytes'] / 1e6:.0f} | {memory / 1e6:.0f} | {os.getloadavg()[0]:.1f} |", flush=True)


for part in PARTS:
    print(f"\n## {part}\n", flush=True)
    {"recovery": recovery, "faces": faces, "times": times}[part]()
