"""Other ways to choose k of n points on a card, in PyTorch as people write them, beside ours.

usage: python bench/card_peers.py [--points 1000000] [--features 128] [-k 100]

farthest           the point farthest from those chosen, k times (k-center)
kmeans             seeds far apart in a sample, 25 rounds of Lloyd, the nearest point of each centre
facility location  greedy, with 2000 candidates drawn at random, their similarities with all held
"""

import argparse
import json
import statistics
import time

import torch

import fwsr


def farthest(X, k):
    chosen = torch.zeros(k, dtype=torch.long, device=X.device)
    squares = (X * X).sum(1)
    least = torch.full((len(X),), float("inf"), device=X.device)
    for t in range(1, k):
        x = X[chosen[t - 1]]
        least = torch.minimum(least, squares - 2 * (X @ x) + x @ x)
        chosen[t] = least.argmax()
    return chosen


def kmeans(X, k, rounds=25):
    sample = X[torch.randint(len(X), (20 * k,), device=X.device)]
    centres = sample[farthest(sample, k)]
    for _ in range(rounds):
        group = ((centres * centres).sum(1) - 2 * X @ centres.T).argmin(1)
        sums = torch.zeros_like(centres).index_add_(0, group, X)
        counts = torch.bincount(group, minlength=k).clamp(min=1)
        centres = sums / counts[:, None]
    return ((X * X).sum(1)[:, None] - 2 * X @ centres.T).argmin(0)


def facility_location(X, k, candidates=2000):
    among = torch.randint(len(X), (candidates,), device=X.device)
    Y = X[among]
    similar = -torch.cdist(X, Y)
    similar -= similar.min()
    best = torch.zeros(len(X), device=X.device)
    chosen = []
    for _ in range(k):
        gains = torch.stack([torch.relu(part - best[:, None]).sum(0)
                             for part in similar.split(200, dim=1)]).flatten()
        t = int(gains.argmax())
        chosen.append(t)
        best = torch.maximum(best, similar[:, t])
    return among[chosen]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("-k", type=int, default=100)
    arguments = parser.parse_args()
    n, d, k = arguments.points, arguments.features, arguments.k
    torch.manual_seed(0)
    centres = torch.randn(64, d, device="cuda")
    X = centres[torch.randint(64, (n,), device="cuda")] + torch.randn(n, d, device="cuda")
    ways = {
        "fwsr": lambda: fwsr.select(X, k, method="fwsr"),
        "fwsr, no certificate": lambda: fwsr.select(X, k, method="fwsr", certificate="none"),
        "exchange (the default)": lambda: fwsr.select(X, k),
        "farthest": lambda: farthest(X, k),
        "kmeans": lambda: kmeans(X, k),
        "facility location": lambda: facility_location(X, k),
    }
    times = {name: [] for name in ways}
    for _ in range(4):
        for name, way in ways.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            way()
            torch.cuda.synchronize()
            times[name].append(time.perf_counter() - start)
    for name, seconds in times.items():
        print(json.dumps({"case": name, "n": n, "d": d, "k": k,
                          "seconds": round(statistics.median(seconds[1:]), 4)}))


if __name__ == "__main__":
    main()
