"""The plain k-medoids that many papers run: Lloyd's iteration with medoids, from a random start."""

from __future__ import annotations

import numpy as np


def distances(points: np.ndarray) -> np.ndarray:
    """Euclidean, between all pairs of points."""
    norms = (points**2).sum(axis=1)
    squared = norms[:, None] + norms - 2 * (points @ points.T)
    np.fill_diagonal(squared, 0)
    return np.sqrt(np.maximum(squared, 0))


def medoids(between: np.ndarray, k: int, seed: int, limit: int = 100) -> np.ndarray:
    """k random points; then each point goes to its nearest, and of each such cluster the point with
    the least sum of distances to the others takes the place, until nothing changes."""
    chosen = np.sort(np.random.default_rng(seed).choice(len(between), k, replace=False))
    for _ in range(limit):
        nearest = between[:, chosen].argmin(axis=1)
        nearest[chosen] = np.arange(k)  # its own, also where another is a copy
        clusters = [np.flatnonzero(nearest == place) for place in range(k)]
        better = np.sort([c[between[np.ix_(c, c)].sum(axis=1).argmin()] for c in clusters])
        if np.array_equal(better, chosen):
            break
        chosen = better
    return chosen
