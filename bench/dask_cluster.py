"""A Dask cluster of this machine beside one process: time, bytes a step, time of a round trip, memory of workers.

    python3 bench/dask_cluster.py [--points 1000000] [--features 128] [-k 50] [--repeats 3]

Two workers with a thread each against one process with two threads, in turn; medians are compared.
"""

import argparse
import os
import statistics
import time

import dask.array as da
import distributed
import numpy as np

import fwsr
import fwsr.dask


def seconds(run):
    begun = time.perf_counter()
    return run(), time.perf_counter() - begun


def memory():
    """Of this process, resident, in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak():
    """The most there was, in bytes."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def numbers(place, shape):
    return np.random.default_rng(place).standard_normal(shape, dtype=np.float32)


def chunk(n, block_info=None):
    return numbers(block_info[None]["chunk-location"][0], block_info[None]["chunk-shape"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("-k", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    n, d, k = args.points, args.features, args.k
    chunks = (tuple(len(part) for part in np.array_split(np.arange(n), 16)), (d,))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0",
                                  memory_limit=0) as cluster, distributed.Client(cluster) as client:
        small = da.random.default_rng(0).standard_normal((8192, d), chunks=(1024, -1), dtype=np.float32)
        fwsr.dask.select(small, k, method="fwsr", client=client)  # imports
        before = client.run(memory)
        lazy = da.map_blocks(chunk, n, chunks=chunks, dtype=np.float32).persist()
        distributed.wait(lazy)
        points = client.run(memory)
        X = np.concatenate([numbers(place, (rows, d)) for place, rows in enumerate(chunks[0])])  # no worker joins them
        times = {"here": [], "there": []}
        for _ in range(args.repeats):
            alone, took = seconds(lambda: fwsr.select(X, k, method="fwsr", n_jobs=2))
            times["here"].append(took)
            found, took = seconds(lambda: fwsr.dask.select(lazy, k, method="fwsr", client=client))
            times["there"].append(took)
            assert found.exemplars.tolist() == alone.exemplars.tolist()
            assert found.certificate == alone.certificate
        most = client.run(peak)
        here, there = (statistics.median(times[one]) for one in ("here", "there"))
        print(f"{n} x {d}, k = {k}: one process {here:.2f} s, two workers {there:.2f} s, ratio {there / here:.2f}; "
              f"load {os.getloadavg()[0]:.1f}")
        print("seconds one process", {a: round(b, 2) for a, b in alone.seconds.items()})
        print("seconds two workers", {a: round(b, 2) for a, b in found.seconds.items()})
        print("wire", found.wire)
        few, more = (fwsr.dask.select(small, m, method="fwsr", certificate="none", alpha=5, client=client).wire
                     for m in (5, 25))
        step = {name: (more[name] - few[name]) / 20 for name in more}
        print(f"a step: {step['round_trips']:.1f} round trips, to each worker {step['sent'] / 2:.0f} bytes, from all "
              f"{step['received']:.0f}; 8 d = {8 * d}")
        found, took = seconds(lambda: fwsr.dask.select(small, 200, method="fwsr", certificate="none", client=client))
        print(f"a round trip with little to do: {1000 * took / found.wire['round_trips']:.2f} ms "
              f"({found.wire['round_trips']} in {took:.2f} s)")
        for place, bytes_ in most.items():
            print(f"{place}: {before[place] / 2**20:.0f} MiB before, {points[place] / 2**20:.0f} with its chunks, "
                  f"{bytes_ / 2**20:.0f} at the most")


if __name__ == "__main__":
    main()
