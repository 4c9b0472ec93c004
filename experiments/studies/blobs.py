"""Experiment 2: how many of k Gaussian clusters k exemplars come from.

1000 points in 1500 dimensions from scikit-learn's make_blobs: centres uniform from -10 to 10 in
each coordinate, clusters of equal size and one standard deviation, 20 in the paper.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import fwsr

from .. import figures, page
from ..store import Key, Result, Store

POINTS, FEATURES, TRIALS = 1000, 1500, 10
CLUSTERS = [5, 10, 20, 30, 50, 75, 100]
#: The paper's text speaks of lower covariance, without a number.
LOWER, LOWER_CLUSTERS, LOWER_TRIALS = [10, 5, 1], [10, 50], 5
PAPER = Path(__file__).parents[1] / "paper/experiment2.json"

AS_MANY = -1  # as there are clusters
_AS_THERE = {"method": "fwsr", "alpha": 10, "eta": 0}
METHODS: dict[str, dict[str, Any]] = {
    "fwsr": {**_AS_THERE, "when_converged": "stop"},
    "fwsr, grow": _AS_THERE,
    "fwsr, no centring": {**_AS_THERE, "when_converged": "stop", "center": "none"},
    "fwsr, features centred": {**_AS_THERE, "when_converged": "stop", "center": "feature"},
    "fwsr, default radius": {"method": "fwsr"},
    "k-fwsr": {"method": "k-fwsr"},
    "smrs": {"method": "smrs", "alpha": 20, "tolerance": 1e-3},
    "smrs, alpha = 1.2": {"method": "smrs", "alpha": 1.2, "tolerance": 1e-3},
    "rrqr": {"method": "rrqr"},
    "kmedoids": {"method": "kmedoids"},
    "kmedoids, build": {"method": "kmedoids", "init": "build"},
    "kmedoids, kmeans++": {"method": "kmedoids", "init": "kmeans++"},
    "kmedoids, alternating": {"method": "kmedoids", "algorithm": "alternating"},
    "greedy-cssp": {"method": "greedy-cssp"},
    "facility": {"method": "facility"},
    "kmeans": {"method": "kmeans"},
    "kdpp": {"method": "kdpp"},
    "ssc, alpha = 2": {"method": "ssc", "alpha": 2},
    "ssc, alpha = 2, clusters": {"method": "ssc", "alpha": 2, "clusters": AS_MANY},
    "ssc-omp": {"method": "ssc-omp"},
    "ssc-omp, clusters": {"method": "ssc-omp", "clusters": AS_MANY},
    "ksvd": {"method": "ksvd"},
    "coreset": {"method": "coreset"},
    "coreset, clusters": {"method": "coreset", "clusters": AS_MANY},
    "coreset, lightweight": {"method": "coreset", "variant": "lightweight"},
    "fw-coreset": {"method": "fw-coreset"},
    "fw-coreset, ball": {"method": "fw-coreset", "problem": "ball"},
    "random": {"method": "random"},
}
#: Only to see whether it matters: run on the first trials.
CHECKS = {
    "fwsr, no centring", "fwsr, features centred", "smrs, alpha = 1.2", "kmedoids, build",
    "kmedoids, kmeans++",
}  # fmt: skip
CHECKED_TRIALS = 3
#: The paper's further relatives: for up to so many clusters, on the first trials; SSC on the first.
RELATIVES = {
    "ssc, alpha = 2", "ssc, alpha = 2, clusters", "ssc-omp", "ssc-omp, clusters", "ksvd",
    "coreset", "coreset, clusters", "coreset, lightweight", "fw-coreset", "fw-coreset, ball",
}  # fmt: skip
RELATIVE_CLUSTERS = 50


def keys(quick: bool) -> Iterator[Key]:
    for clusters in [5] if quick else CLUSTERS:
        for trial in range(1 if quick else TRIALS):
            yield {"deviation": 20, "clusters": clusters, "trial": trial}
    for deviation in [] if quick else LOWER:
        for clusters in LOWER_CLUSTERS:
            for trial in range(LOWER_TRIALS):
                yield {"deviation": deviation, "clusters": clusters, "trial": trial}


def measure(deviation: float, clusters: int, trial: int) -> Result:
    """For each method the part of the clusters that its exemplars come from, and their number."""
    from sklearn.datasets import make_blobs

    points, cluster = make_blobs(
        POINTS, FEATURES, centers=clusters, cluster_std=deviation, random_state=trial
    )
    result: Result = {"hit": {}, "exemplars": {}}
    for name, options in METHODS.items():
        if trial >= _trials(name, deviation, clusters):
            continue
        chosen = choose(points, clusters, trial, options)
        if name.startswith("smrs"):  # how many rows of its codes are not zero
            result[f"rows of {name}"] = int(chosen.facts["rows"])
        result["hit"][name] = round(len(np.unique(cluster[chosen.exemplars])) / clusters, 4)
        if name.startswith("fwsr"):
            result["exemplars"][name] = len(chosen)
    return result


def _trials(name: str, deviation: float, clusters: int) -> int:
    """On how many trials a method runs."""
    if name not in RELATIVES:
        return CHECKED_TRIALS if name in CHECKS else TRIALS
    if deviation != 20 or clusters > RELATIVE_CLUSTERS:
        return 0
    return 1 if name.startswith("ssc, ") else CHECKED_TRIALS


def choose(
    points: np.ndarray, clusters: int, trial: int, options: dict[str, Any]
) -> fwsr.Selection:
    told: dict[str, Any] = {
        word: clusters if value is AS_MANY else value for word, value in options.items()
    }
    return fwsr.select(points, clusters, seed=trial, n_jobs=1, **told)


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _hits(store: Store, deviation: float, clusters: int, name: str) -> list[float]:
    lines = store.find(deviation=deviation, clusters=clusters)
    return [r["hit"][name] for _, r in lines if name in r["hit"]]


def parts(stores: dict[str, Store], folder: Path) -> dict[str, str]:
    store = stores["blobs"]
    counts = sorted({key["clusters"] for key, _ in store.find(deviation=20)})
    rows = [
        [name, *(_mean(_hits(store, 20, k, name)) for k in counts)] for name in METHODS
    ]
    rows.append(["expected of random points", *(_chance(POINTS, k) for k in counts)])
    pairs = {(key["deviation"], key["clusters"]) for key, _ in store}
    lower = sorted((pair for pair in pairs if pair[0] != 20), reverse=True)
    paper = json.loads(PAPER.read_text())["lower"]
    of_lower = [
        [name, *(_mean(_hits(store, s, k, name)) for s, k in lower),
         f"~ {paper[name]:g}" if name in paper else None]
        for name in METHODS if name not in RELATIVES
    ]  # fmt: skip
    short = sum(r["exemplars"]["fwsr"] < key["clusters"] for key, r in store)
    whole = [
        [f"{deviation:g}", k, len(found),
         *(f"{np.mean([r[name] for _, r in found if name in r]):.0f}"
           for name in ("rows of smrs", "rows of smrs, alpha = 1.2"))]
        for deviation, k in [(20, k) for k in counts] + lower
        for found in [store.find(deviation=deviation, clusters=k)]
    ]
    _draw(store, counts, folder)
    return {
        "blobs-figure": page.figure("blobs", "part of the clusters hit against their number"),
        "blobs-table": page.table(["clusters", *map(str, counts)], rows),
        "blobs-lower": page.table(
            ["deviation; clusters", *(f"{s:g}; {k}" for s, k in lower), "paper"], of_lower
        ),
        "blobs-short": f"Of {len(store)} runs of FWSR with `stop`, {short} ended with fewer than k "
        "exemplars.",
        "blobs-rows": page.table(
            ["deviation", "clusters", "trials", "rows, smrs alpha 20", "rows, smrs alpha 1.2"],
            whole,
        ),
    }


def _chance(points: int, clusters: int) -> float:
    """The expected part of the clusters in k points drawn without replacement."""
    size = points // clusters
    missed = np.prod([(points - size - i) / (points - i) for i in range(clusters)])
    return float(1 - missed)


def _draw(store: Store, counts: list[int], folder: Path) -> None:
    made, (left, right) = figures.new(10, 4, columns=2)
    for axes, names in (
        (left, ("fwsr", "smrs", "rrqr", "kmedoids", "kmedoids, alternating")),
        (right, ("k-fwsr", "greedy-cssp", "facility", "kmeans", "kdpp", "random")),
    ):
        for name in names:
            runs = np.array([_hits(store, 20, k, name) for k in counts]).T
            figures.band(axes, counts, runs, name, 1)
        axes.set_xlabel("clusters = exemplars")
        axes.set_ylim(0, 1.05)
        axes.legend(fontsize=8, frameon=False, ncols=3, loc="upper center",
                    bbox_to_anchor=(0.5, -0.16))
    left.set_title("the paper's methods and settings", fontsize=10)
    right.set_title("further methods", fontsize=10)
    left.set_ylabel("clusters hit")
    figures.save(made, folder, "blobs")
