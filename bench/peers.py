"""Other people's ways to choose k representative points: picks, seconds and quality.

usage: peers.py POINTS.npy -k K [--repeats R] [--only NAME,...] [--picks FILE.json ...]    prints JSON

Every method gets the points centred as fwsr sees them, in memory, and may use all cores. Quality
is the reconstruction error ||A - P_T A||^2 / ||A||^2 of the k points chosen, and the mean distance
to the nearest of them. --picks adds the quality of picks chosen elsewhere ({"name": [indices]}).
"""

import argparse
import importlib.util
import json
import os
import sys
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")  # about options of ours that newer versions rename


def centred(points):
    """fwsr's default: from each point its own mean over the features."""
    return points - points.mean(axis=1, keepdims=True)


def distances(points):
    """All Euclidean distances, in one matrix product (float32 in, float32 out)."""
    squares = np.einsum("ij,ij->i", points, points)
    result = points @ points.T
    result *= -2
    result += squares[:, None]
    result += squares
    np.maximum(result, 0, out=result)
    np.sqrt(result, out=result)
    np.fill_diagonal(result, 0)
    return result


def fasterpam(points, k, seed):
    import kmedoids

    found = kmedoids.fasterpam(distances(points), k, init="random", random_state=seed, n_cpu=os.cpu_count())
    return [int(i) for i in found.medoids]


def facility_location(points, k, seed):
    """Similarities are made here: apricot's own go through scikit-learn and cost more."""
    from apricot import FacilityLocationSelection

    similarity = distances(points)
    np.subtract(similarity.max(), similarity, out=similarity)
    chosen = FacilityLocationSelection(k, metric="precomputed", optimizer="lazy", n_jobs=1, random_state=seed)
    return [int(i) for i in chosen.fit(similarity).ranking]


def farthest_points(points, k, seed):
    from skmatter.sample_selection import FPS

    return [int(i) for i in FPS(n_to_select=k, initialize=seed).fit(points).selected_idx_]


def cur(points, k, seed):
    """Leverage scores computed once: recomputing them after every pick takes k factorisations."""
    from skmatter.sample_selection import CUR

    return [int(i) for i in CUR(n_to_select=k, recompute_every=0, random_state=seed).fit(points).selected_idx_]


def pivoted_qr(points, k, seed):
    """LAPACK's geqp3 on A (d x n) goes on to the end; its first k pivots are the answer."""
    import scipy.linalg

    pivots = scipy.linalg.qr(points.T, mode="r", pivoting=True, check_finite=False)[1]
    return [int(i) for i in pivots[:k]]


def kmeans_nearest(points, k, seed):
    from sklearn.cluster import KMeans
    from sklearn.metrics import pairwise_distances_argmin

    means = KMeans(k, n_init=1, random_state=seed).fit(points).cluster_centers_
    return [int(i) for i in pairwise_distances_argmin(means, points)]


def random(points, k, seed):
    return [int(i) for i in np.random.default_rng(seed).choice(len(points), k, replace=False)]


PEERS = {  # name: (function, the package it needs)
    "FasterPAM": (fasterpam, "kmedoids"),
    "facility location": (facility_location, "apricot"),
    "k-means + nearest": (kmeans_nearest, "sklearn"),
    "farthest points (FPS)": (farthest_points, "skmatter"),
    "CUR": (cur, "skmatter"),
    "pivoted QR": (pivoted_qr, "scipy"),
    "random": (random, "numpy"),
}


def quality(points, picks):
    """||A - P_T A||^2 / ||A||^2 in double, and the mean distance to the nearest pick."""
    chosen = points[picks]
    left, values, _ = np.linalg.svd(chosen.astype(np.float64).T, full_matrices=False)
    basis = left[:, values > 1e-10 * values[0]]  # orthonormal, spans the picks
    error = kept = near = 0.0
    squares = np.einsum("ij,ij->i", chosen, chosen)
    for first in range(0, len(points), 4096):
        block = points[first : first + 4096].astype(np.float64)
        energy = np.einsum("ij,ij->", block, block)
        error += energy - np.linalg.norm(block @ basis) ** 2
        kept += energy
        square = np.einsum("ij,ij->i", block, block)[:, None] - 2 * block @ chosen.T + squares
        near += np.sqrt(np.maximum(square.min(axis=1), 0)).sum()
    return {"reconstruction_error": error / kept, "mean_distance": near / len(points), "distinct": len(set(picks))}


def measure(points, k, repeats, names):
    """Rounds over all peers, so that a slow minute of the machine hits all of them."""
    results, tiny = {}, points[: 4 * k]
    for name in names:
        function, package = PEERS[name]
        if importlib.util.find_spec(package) is None:
            results[name] = {"skipped": f"{package} is not installed"}
            continue
        try:
            function(tiny, k, 0)  # imports, and compiles where the peer compiles (numba)
            results[name] = {"seconds": []}
        except Exception as error:  # a peer of another version: say so and go on
            results[name] = {"skipped": f"{type(error).__name__}: {error}"}
    for seed in range(repeats):
        for name, result in results.items():
            if "skipped" in result:
                continue
            start = time.perf_counter()
            picks = PEERS[name][0](points, k, seed)
            result["seconds"].append(time.perf_counter() - start)
            print(f"  {name}: {result['seconds'][-1]:.3f} s", file=sys.stderr)
            if seed == 0:
                result.update(quality(points, picks))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points", help="n x d array")
    parser.add_argument("-k", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", help="names, separated by commas")
    parser.add_argument("--picks", help="JSON file: {name: [indices]}")
    arguments = parser.parse_args()
    points = centred(np.load(arguments.points).astype(np.float32))
    names = list(PEERS)
    if arguments.only is not None:
        names = [name for name in arguments.only.split(",") if name]
        unknown = [name for name in names if name not in PEERS]
        if unknown:
            parser.error(f"no peer {unknown}; choose from {', '.join(PEERS)}")
    results = measure(points, arguments.k, arguments.repeats, names)
    if arguments.picks:
        with open(arguments.picks, encoding="utf-8") as file:
            for name, picks in json.load(file).items():
                results[name] = quality(points, picks)
    json.dump(results, sys.stdout)
    print()


if __name__ == "__main__":
    main()
