"""Other people's ways to choose k points, and ours, at one size: seconds, memory and quality, each in a process of its own.

usage: peer_sizes.py POINTS.npy -k K --seconds S --program FWSR    prints JSON
       peer_sizes.py POINTS.npy -k K --one NAME                    one of them, in this process

Who takes longer than S seconds is stopped, and the answer says so.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np
import peers


def mini_batch_kmeans(points, k, seed):
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.metrics import pairwise_distances_argmin

    means = MiniBatchKMeans(k, n_init=1, random_state=seed).fit(points).cluster_centers_
    return [int(i) for i in pairwise_distances_argmin(means, points)]


def faiss_kmeans(points, k, seed):
    import faiss

    means = faiss.Kmeans(points.shape[1], k, niter=25, seed=seed, max_points_per_centroid=len(points))
    means.train(np.ascontiguousarray(points))
    index = faiss.IndexFlatL2(points.shape[1])
    index.add(np.ascontiguousarray(points))
    return [int(i) for i in index.search(means.centroids, 1)[1][:, 0]]


def fps_sampling(points, k, seed):
    import fpsample

    return [int(i) for i in fpsample.fps_sampling(np.ascontiguousarray(points), k)]


METHODS = {name: function for name, (function, _) in peers.PEERS.items()}
METHODS |= {"mini-batch k-means + nearest": mini_batch_kmeans, "faiss k-means + nearest": faiss_kmeans,
            "fpsample": fps_sampling}
OURS = {"fwsr (default method)": [], "fwsr --method fwsr": ["--method", "fwsr"], "fwsr --method kmeans": ["--method", "kmeans"]}
PAIRWISE = ("FasterPAM", "facility location")  # all distances at once: where these do not fit, nothing is tried


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def one(path, k, name):
    points = peers.centred(np.load(path).astype(np.float32))
    METHODS[name](points[: 4 * k], k, 0)  # imports, and compiles where the peer compiles
    before, start = peak(), time.perf_counter()
    picks = METHODS[name](points, k, 0)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "memory": peak() - before, "picks": picks}


def ours(program, path, k, more):
    command = [program, "select", path, "-k", str(k), "--certificate", "none", "--json", "--quiet", *more]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    taken = answer["seconds"]
    return {"seconds": sum(taken.values()) - taken["read"] - taken["write"], "picks": answer["exemplars"],
            "memory": max(0, answer["peak_memory_bytes"] - os.path.getsize(path))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("points")
    parser.add_argument("-k", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--program")
    parser.add_argument("--one")
    arguments = parser.parse_args()
    if arguments.one:
        json.dump(one(arguments.points, arguments.k, arguments.one), sys.stdout)
        return
    found = {name: ours(arguments.program, arguments.points, arguments.k, more) for name, more in OURS.items()}
    points = peers.centred(np.load(arguments.points).astype(np.float32))
    room = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for name in METHODS:
        if name in PAIRWISE and 8 * len(points) ** 2 > room:
            found[name] = {"skipped": f"needs {4e-9 * len(points) ** 2:.0f} GB for all distances"}
            continue
        command = [sys.executable, __file__, arguments.points, "-k", str(arguments.k), "--one", name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=arguments.seconds)
        except subprocess.TimeoutExpired:
            found[name] = {"skipped": f"stopped after {arguments.seconds:.0f} s"}
            continue
        if done.returncode != 0:
            found[name] = {"skipped": (done.stderr.strip().splitlines() or ["no message"])[-1][:100]}
            continue
        found[name] = json.loads(done.stdout[done.stdout.index("{"):])
    for result in found.values():
        if "picks" in result:
            result.update(peers.quality(points, result.pop("picks")))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
