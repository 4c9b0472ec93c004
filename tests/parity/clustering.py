"""Clustering and covering against other people's programs and against plain NumPy.

    python tests/parity/clustering.py PATH_TO_FWSR_PROGRAM OUT.json [--quick]

kmedoids   the kmedoids package (FasterPAM): mean and best cost over 20 seeds, time on the same matrix, one thread each
kmeans     scikit-learn: mean inertia at equal restarts
facility   the plain greedy rule
herding    its definition

Writes what was measured to OUT.json and ends with 1 when a bar is not met. --quick: a tenth of the problems.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[variable] = "1"

import kmedoids
import numpy as np
import scipy.spatial.distance
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances

PROGRAM = sys.argv[1]
QUICK = "--quick" in sys.argv
FOLDER = tempfile.TemporaryDirectory(prefix="fwsr-parity-")
SEEDS = range(2 if QUICK else 20)
PROBLEMS = 10 if QUICK else 100
results, failures = {}, []


def expect(bar, met):
    if not met:
        failures.append(bar)
        print("NOT MET:", bar, flush=True)


def stored(array, name="points"):
    path = os.path.join(FOLDER.name, name + ".npy")
    np.save(path, array)
    return path


def fwsr(path, k, method, seed=0, *more):
    """The answer of one run, as its JSON says."""
    center = [] if "precomputed" in method else ["--center", "none"]
    command = [PROGRAM, "select", path, "-k", str(k), "--method", method, "--seed", str(seed), *center,
               "--threads", "1", "--certificate", "none", "--json", *more]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{' '.join(command)}: {run.stderr}")
    return json.loads(run.stdout)


def blobs(rng, n, d, centres, spread=3.0):
    means = spread * rng.normal(size=(centres, d))
    return means[rng.integers(centres, size=n)] + rng.normal(size=(n, d))


def digits():
    return load_digits().data


# ---- k-medoids ------------------------------------------------------------------------------------


def medoid_problems():
    rng = np.random.default_rng(1)
    yield "digits, k 10", digits(), 10
    yield "digits, k 50", digits(), 50
    yield "noise 600 x 5, k 8", rng.normal(size=(600, 5)), 8
    yield "noise 1500 x 20, k 20", rng.normal(size=(1500, 20)), 20
    yield "uniform 1000 x 2, k 25", rng.uniform(size=(1000, 2)), 25
    yield "blobs 800 x 10, k 12", blobs(rng, 800, 10, 12), 12
    yield "blobs 2000 x 20, k 10", blobs(rng, 2000, 20, 30), 10
    yield "blobs 2000 x 20, k 50", blobs(rng, 2000, 20, 30), 50
    yield "sorted blobs 1200 x 4, k 6", np.sort(blobs(rng, 1200, 4, 9), axis=0), 6
    yield "heavy tails 1000 x 6, k 15", rng.standard_t(2, size=(1000, 6)), 15


def check_medoids():
    rows = []
    for name, x, k in medoid_problems():
        path, d = stored(x), pairwise_distances(x)
        ours = [fwsr(path, k, "kmedoids", s)["facts"]["cost"] for s in SEEDS]
        theirs = [kmedoids.fasterpam(d, k, random_state=s, init="random", n_cpu=1).loss for s in SEEDS]
        batch = [fwsr(path, k, "kmedoids-batch", s)["facts"]["cost"] for s in SEEDS]
        row = {"problem": name, "mean": np.mean(ours), "mean_theirs": np.mean(theirs), "best": min(ours),
               "best_theirs": min(theirs), "mean_ratio": np.mean(ours) / np.mean(theirs),
               "best_ratio": min(ours) / min(theirs), "batch_mean_ratio": np.mean(batch) / np.mean(theirs)}
        rows.append(row)
        print(row, flush=True)
        expect(f"kmedoids, {name}: mean cost within 0.5 %", row["mean_ratio"] <= 1.005)
        expect(f"kmedoids, {name}: best cost within 0.5 %", row["best_ratio"] <= 1.005)
        expect(f"kmedoids-batch, {name}: mean cost within 2 %", row["batch_mean_ratio"] <= 1.02)
    results["kmedoids"] = rows


def check_medoid_times():
    rows = []
    rng = np.random.default_rng(2)
    for n in (2000, 5000):
        d = pairwise_distances(blobs(rng, n, 20, 30))
        for number in (np.float32, np.float64):
            matrix = np.ascontiguousarray(d, dtype=number)
            path = stored(matrix, "matrix")
            for k in (10, 50):
                ours, theirs = [], {"C": [], "F": []}  # the package is faster in Fortran's order
                for s in range(5 if QUICK else 15):
                    answer = fwsr(path, k, "kmedoids:metric=precomputed", s)
                    ours.append(answer["seconds"]["steps"])
                    for order, times in theirs.items():
                        laid_out = np.asarray(matrix, order=order)
                        start = time.perf_counter()
                        kmedoids.fasterpam(laid_out, k, random_state=s, init="random", n_cpu=1)
                        times.append(time.perf_counter() - start)
                row = {"n": n, "k": k, "number": number.__name__, "seconds": np.median(ours),
                       "seconds_theirs": np.median(theirs["F"]), "seconds_theirs_c_order": np.median(theirs["C"]),
                       "ratio": np.median(ours) / np.median(theirs["F"]),
                       "ratio_of_least": min(ours) / min(theirs["F"])}
                rows.append(row)
                print(row, flush=True)
                expect(f"kmedoids, n {n}, k {k}, {number.__name__}: within 1.5 x of the time", row["ratio_of_least"] <= 1.5)
    results["kmedoids_times"] = rows


# ---- k-means --------------------------------------------------------------------------------------


def inertias(x, k, restarts, seeds):
    path = stored(x)
    ours = [fwsr(path, k, f"kmeans:restarts={restarts}", s)["facts"]["inertia"] for s in seeds]
    theirs = [KMeans(k, n_init=restarts, random_state=s).fit(x).inertia_ for s in seeds]
    return np.mean(ours), np.mean(theirs)


def check_means():
    rng = np.random.default_rng(3)
    ratios = []
    for p in range(PROBLEMS):
        n, d = int(rng.integers(50, 1500)), int(rng.integers(1, 30))
        x = blobs(rng, n, d, int(rng.integers(1, 20))) if p % 2 else rng.normal(size=(n, d)) + 10 * (p % 3)
        if p % 5 == 0:
            x = x.astype(np.float32)
        ours, theirs = inertias(x, int(rng.integers(2, 25)), 1 + p % 3, range(6))
        ratios.append(ours / theirs)
    row = {"problems": len(ratios), "mean_ratio": np.mean(ratios), "least": min(ratios), "most": max(ratios)}
    expect("kmeans, random problems: mean inertia within 1 %", row["mean_ratio"] <= 1.01)
    for k in (10, 30):
        for restarts in (1, 5):
            ours, theirs = inertias(digits(), k, restarts, SEEDS)
            row[f"digits_k{k}_restarts{restarts}"] = ours / theirs
            expect(f"kmeans, digits, k {k}, {restarts} restarts: mean inertia within 1 %", ours / theirs <= 1.01)
    print(row, flush=True)
    results["kmeans"] = row


# ---- facility location ----------------------------------------------------------------------------


def plain_greedy(d, k):
    """The largest gain, of equal ones (to 1e-12) the first; ends when nothing is gained."""
    similar = d.max() - d
    have, picks = np.zeros(len(d)), []
    while len(picks) < k:
        gains = np.maximum(similar - have, 0).sum(axis=1)
        gains[picks] = -1
        if picks and gains.max() <= 0:
            break
        picks.append(int(np.flatnonzero(gains >= gains.max() * (1 - 1e-12))[0]))
        have = np.maximum(have, similar[picks[-1]])
    return picks


def check_facility():
    rng = np.random.default_rng(4)
    same = 0
    for p in range(PROBLEMS):
        n, dim = int(rng.integers(2, 300)), int(rng.integers(1, 12))
        metric = ("squared", "euclidean", "manhattan")[p % 3]
        x = rng.normal(size=(n, dim))
        if p % 4 == 0:  # ties and copies
            x, metric = rng.integers(0, 4, size=(n, min(dim, 3))).astype(float), "squared"
        name = {"squared": "sqeuclidean", "manhattan": "cityblock"}.get(metric, metric)
        d = scipy.spatial.distance.cdist(x, x, name)
        k = int(rng.integers(1, min(n, 30) + 1))
        ours = fwsr(stored(x), k, f"facility:metric={metric}:hold={0 if p % 2 else 15000}")["exemplars"]
        same += ours == plain_greedy(d, k)
        if ours != plain_greedy(d, k):
            print("facility", p, ours, plain_greedy(d, k))
    results["facility"] = {"problems": PROBLEMS, "same_picks": same}
    print(results["facility"], flush=True)
    expect("facility: the picks of the plain greedy rule", same == PROBLEMS)


# ---- herding --------------------------------------------------------------------------------------


def plain_herding(kernel, k, greedy):
    n, picks, margin = len(kernel), [], np.inf
    for m in range(1, k + 1):
        scores = kernel.mean(axis=0) - kernel[picks].sum(axis=0) / m
        if greedy:
            scores = scores - np.diag(kernel) / (2 * m)
        scores[picks] = -np.inf
        order = np.argsort(-scores, kind="stable")
        if m < n:
            margin = min(margin, scores[order[0]] - scores[order[1]])
        picks.append(int(order[0]))
    mean = kernel.mean() - 2 * kernel[picks].mean() + kernel[np.ix_(picks, picks)].mean()
    return picks, np.sqrt(max(0, mean)), margin / np.diag(kernel).max()


def check_herding():
    rng = np.random.default_rng(5)
    same, unclear, met, error = 0, 0, 0, 0.0
    for p in range(PROBLEMS):
        n, dim = int(rng.integers(3, 400)), int(rng.integers(1, 12))
        x, k = rng.normal(size=(n, dim)), int(rng.integers(1, min(n, 30) + 1))
        greedy, polynomial = p % 2 == 0, p % 4 >= 2
        more = ["--kernel", "polynomial", "--degree", "2"] if polynomial else []
        answer = fwsr(stored(x), k, f"herding:rule={'greedy' if greedy else 'herding'}", 0, *more)
        gamma = answer["gamma"]
        kernel = (gamma * x @ x.T + 1) ** 2 if polynomial else np.exp(
            -gamma * scipy.spatial.distance.cdist(x, x, "sqeuclidean"))
        picks, mmd, margin = plain_herding(kernel, k, greedy)
        unclear += margin < 1e-12
        same += answer["exemplars"] == picks
        met += answer["exemplars"] == picks or margin < 1e-12
        if answer["exemplars"] == picks:
            error = max(error, abs(answer["facts"]["mmd"] ** 2 - mmd ** 2))
    results["herding"] = {"problems": PROBLEMS, "same_picks": same, "too_close_to_call": unclear,
                          "largest_difference_of_mmd2": error}
    print(results["herding"], flush=True)
    expect("herding: the picks of the definition", met == PROBLEMS)
    expect("herding: its mmd", error < 1e-9)


def main():
    for check in (check_medoids, check_medoid_times, check_means, check_facility, check_herding):
        check()
    results["not_met"] = failures
    results["versions"] = {name: version(name) for name in ("kmedoids", "numpy", "scikit-learn", "scipy")}
    with open(sys.argv[2], "w") as out:
        json.dump(results, out, indent=1, default=float)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
