"""Experiment 1: 30 points to be found again among 120 mixtures of them, against the noise.

Exemplars have standard normal entries (or uniform ones of deviation 1 that begin at 0). A mixture
is w1 e1 + w2 e2 + w3 e3, the weights uniform on the simplex, plus noise. The exemplars have none,
but in one of the arrangements, where all points have it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import fwsr

from .. import figures, page
from ..store import Key, Result, Store

EXEMPLARS, MIXTURES, FEATURES, MIXED = 30, 120, 200, 3
NOISE = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.5]
TRIALS = 10
#: Twenty settings each, ten where there is only a sparsity. eta is in units of the root-mean-square
#: norm of the points.
ALPHAS, ETAS = [0.5, 2, 5, 20, 50], [0, 0.3, 1, 3]
SMRS_ALPHAS, SMRS_AFFINE = [1.5, 2, 3, 5, 8, 12, 20, 30, 50, 100], [True, False]
SPARSITIES = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20]
PAPER = Path(__file__).parents[1] / "paper/experiment1.json"

ARRANGEMENTS = {
    "normal": "normal exemplars",
    "uniform": "uniform exemplars",
    "all": "normal exemplars, noise on them too",
}
TUNED: dict[str, list[tuple[Any, ...]]] = {
    "fwsr stop": [(a, e) for a in ALPHAS for e in ETAS],
    "fwsr grow": [(a, e) for a in ALPHAS for e in ETAS],
    "smrs": [(a, f) for a in SMRS_ALPHAS for f in SMRS_AFFINE],
    "ssc": [(a, f) for a in SMRS_ALPHAS for f in SMRS_AFFINE],
    "ssc-omp": [(s,) for s in SPARSITIES],
    "ksvd": [(s,) for s in SPARSITIES],
}
#: The paper's further relatives: for the first arrangement alone, up to this noise, and three
#: trials, as SSC takes long.
RELATIVES = ("ssc", "ssc-omp", "ksvd", "coreset", "coreset, lightweight", "fw-coreset",
             "fw-coreset, ball")  # fmt: skip
RELATIVE_TRIALS, RELATIVE_NOISE = 3, 0.8
#: What these settings are called.
WORDS = {"fwsr stop": ("alpha", "eta / scale"), "fwsr grow": ("alpha", "eta / scale"),
         "smrs": ("alpha", "affine"), "ssc": ("alpha", "affine"),
         "ssc-omp": ("sparsity",), "ksvd": ("sparsity",)}  # fmt: skip
#: Without settings to tune, or with those of the library. Scaled: each point divided by its norm.
PLAIN: dict[str, dict[str, Any]] = {
    "fwsr": {"method": "fwsr"},
    "fwsr, scaled": {"method": "fwsr", "scale": "unit"},
    "k-fwsr": {"method": "k-fwsr"},
    "smrs": {"method": "smrs"},
    "smrs, scaled": {"method": "smrs", "scale": "unit", "alpha": 2, "affine": False},
    "rrqr": {"method": "rrqr"},
    "rrqr, scaled": {"method": "rrqr", "scale": "unit"},
    "kmedoids": {"method": "kmedoids"},
    "kmedoids, alternating": {"method": "kmedoids", "algorithm": "alternating"},
    "greedy-cssp": {"method": "greedy-cssp"},
    "facility": {"method": "facility"},
    "kmeans": {"method": "kmeans"},
    "kdpp": {"method": "kdpp"},
    "ssc": {"method": "ssc"},
    "ssc-omp": {"method": "ssc-omp"},
    "ksvd": {"method": "ksvd"},
    "coreset": {"method": "coreset"},
    "coreset, lightweight": {"method": "coreset", "variant": "lightweight"},
    "fw-coreset": {"method": "fw-coreset"},
    "fw-coreset, ball": {"method": "fw-coreset", "problem": "ball"},
    "random": {"method": "random"},
}

OTHERS = ("fwsr, scaled", "k-fwsr", "greedy-cssp", "facility", "kmeans", "kdpp", "random")


def keys(quick: bool) -> Iterator[Key]:
    for arrangement in ARRANGEMENTS:
        # Trials from TRIALS on are those to tune on when no trial of the figure may be seen.
        trials = 2 * TRIALS if arrangement == "normal" else TRIALS
        for noise in [0, 0.4] if quick else NOISE:
            for trial in [0, TRIALS] if quick else range(trials):
                if trial < trials:
                    yield {"arrangement": arrangement, "noise": noise, "trial": trial}
    yield {"arrangement": "normal", "noise": 0.4, "trial": 0, "timed": True}


def draw(arrangement: str, noise: float, trial: int) -> tuple[np.ndarray, np.ndarray]:
    """The points, in random order, and the rows of the exemplars."""
    random = np.random.default_rng([trial, round(1000 * noise)])
    size = (EXEMPLARS, FEATURES)
    exemplars = random.uniform(0, 12**0.5, size) if arrangement == "uniform" else random.normal(
        size=size
    )
    weights = np.zeros((MIXTURES, EXEMPLARS))
    for row in weights:
        row[random.choice(EXEMPLARS, MIXED, replace=False)] = random.dirichlet(np.ones(MIXED))
    points = np.concatenate([exemplars, weights @ exemplars])
    noisy = slice(0 if arrangement == "all" else EXEMPLARS, None)
    points[noisy] += noise * random.normal(size=points[noisy].shape)
    order = random.permutation(len(points))
    return points[order], np.flatnonzero(order < EXEMPLARS)


def measure(arrangement: str, noise: float, trial: int, timed: bool = False) -> Result:
    """How many exemplars are found again, out of 30; or how long each method takes."""
    points, exemplars = draw(arrangement, noise, trial)
    if timed:
        return {"seconds": {name: _seconds(points, name) for name in PLAIN}}
    scale = float(np.sqrt((points**2).sum(axis=1).mean()))

    def found(rows: np.ndarray) -> int:
        return int(np.isin(exemplars, rows).sum())

    left_out = _left_out(arrangement, noise, trial)
    plain = {
        name: found(choose(points, name, trial)) for name in PLAIN if name not in left_out
    }
    tuned: dict[str, list[int]] = {
        f"fwsr {when}": [
            found(one.selection.exemplars)
            for one in fwsr.sweep(
                points, EXEMPLARS, ALPHAS, [eta * scale for eta in ETAS],
                when_converged=when, n_jobs=1,
            )
        ]
        for when in ("stop", "grow")
    }
    for name in ("smrs", "ssc", "ssc-omp", "ksvd"):
        if name in left_out:
            continue
        tuned[name] = [
            found(
                fwsr.select(
                    points, EXEMPLARS, method=name, seed=trial, n_jobs=1,
                    **dict(zip(WORDS[name], setting)),
                ).exemplars
            )
            for setting in TUNED[name]
        ]  # fmt: skip
    return {"plain": plain, "tuned": tuned}


def _left_out(arrangement: str, noise: float, trial: int) -> tuple[str, ...]:
    wanted = arrangement == "normal" and noise <= RELATIVE_NOISE
    return () if wanted and trial % TRIALS < RELATIVE_TRIALS else RELATIVES


def choose(points: np.ndarray, name: str, seed: int) -> np.ndarray:
    return fwsr.select(points, EXEMPLARS, seed=seed, n_jobs=1, **PLAIN[name]).exemplars


def _seconds(points: np.ndarray, name: str) -> float:
    """Of one core: the median of 21 runs."""
    times = []
    for seed in range(21):
        start = time.process_time()
        choose(points, name, seed)
        times.append(time.process_time() - start)
    return float(np.median(times))


def _levels(store: Store) -> list[float]:
    return sorted({key["noise"] for key, result in store if "plain" in result})


def _found(
    store: Store, arrangement: str, noise: float, first: int, kind: str, name: str
) -> np.ndarray:
    """Recovered parts, one row a trial: of trials first to first + TRIALS - 1."""
    trials = range(first, first + TRIALS)
    lines = store.find(arrangement=arrangement, noise=noise)
    rows = [r[kind][name] for key, r in lines if key["trial"] in trials and name in r.get(kind, {})]
    return np.array(rows, dtype=float) / EXEMPLARS


def plain(store: Store, arrangement: str, name: str, levels: Sequence[float]) -> np.ndarray:
    """Trials x noise levels."""
    return np.array([_found(store, arrangement, s, 0, "plain", name) for s in levels]).T


def tuned(
    store: Store, arrangement: str, name: str, levels: Sequence[float], other_trials: bool
) -> tuple[np.ndarray, list[int]]:
    """Trials x noise levels with the best setting for each level, and which settings these are.

    The best on average over the trials themselves, or over other ones.
    """
    runs, best = [], []
    for noise in levels:
        here = _found(store, arrangement, noise, 0, "tuned", name)
        there = _found(store, arrangement, noise, TRIALS if other_trials else 0, "tuned", name)
        best.append(int(there.mean(axis=0).argmax()))
        runs.append(here[:, best[-1]])
    return np.array(runs).T, best


def scaled_or_not(store: Store, method: str, levels: Sequence[float]) -> list[float]:
    """Means with one setting more, the points scaled, chosen for each level on other trials."""
    name = {"fwsr": "fwsr grow", "smrs": "smrs"}[method]
    means = []
    for noise in levels:
        scores = [
            np.column_stack([
                _found(store, "normal", noise, first, "tuned", name),
                _found(store, "normal", noise, first, "plain", f"{method}, scaled"),
            ]).mean(axis=0)
            for first in (0, TRIALS)
        ]  # fmt: skip
        means.append(float(scores[0][scores[1].argmax()]))
    return means


def parts(stores: dict[str, Store], folder: Path) -> dict[str, str]:
    store = stores["convex"]
    levels = _levels(store)
    head = ["noise", *(f"{noise:g}" for noise in levels)]
    rows: list[list[Any]] = []
    for name, settings in TUNED.items():
        at = [noise for noise in levels if name not in RELATIVES or noise <= RELATIVE_NOISE]
        for other_trials in (False, True):
            runs, best = tuned(store, "normal", name, at, other_trials)
            trials = "other trials" if other_trials else "these trials"
            rows.append([f"{name}, tuned on {trials}", *map(float, runs.mean(axis=0))])
            if other_trials:
                chosen = ("; ".join(map(_short, settings[i])) for i in best)
                rows.append([f"– its {'; '.join(WORDS[name])}", *chosen])
    for name in ("fwsr", "smrs"):
        label = f"{name}, scaled or not as tuned on other trials"
        rows.append([label, *scaled_or_not(store, name, levels)])
    for name in PLAIN:
        label = f"{name}, not tuned" if name in (*TUNED, "fwsr", "k-fwsr") else name
        at = [noise for noise in levels if name not in RELATIVES or noise <= RELATIVE_NOISE]
        rows.append([label, *map(float, plain(store, "normal", name, at).mean(axis=0))])
    rows = [row + [None] * (len(head) - len(row)) for row in rows]

    others = []
    for arrangement in ("uniform", "all"):
        for name in ("fwsr grow", "smrs"):
            runs, _ = tuned(store, arrangement, name, levels, False)
            others.append([ARRANGEMENTS[arrangement], f"{name}, tuned on these trials",
                           *map(float, runs.mean(axis=0))])
        for name in ("rrqr", "kmedoids", "kmedoids, alternating", "fwsr, scaled",
                     "smrs, scaled", "k-fwsr", "greedy-cssp"):
            others.append([ARRANGEMENTS[arrangement], name,
                           *map(float, plain(store, arrangement, name, levels).mean(axis=0))])
    seconds = store.find(timed=True)[0][1]["seconds"]
    theirs = json.loads(PAPER.read_text())["seconds"]
    times = [
        [name, f"{1e3 * taken:.1f}", f"~ {1e3 * theirs[name]:.0f}" if name in theirs else None]
        for name, taken in seconds.items()
    ]
    _draw(store, levels, folder)
    return {
        "convex-figure": page.figure("convex", "part of the exemplars recovered against noise"),
        "convex-table": page.table(head, rows),
        "convex-checks": page.table(["points", "method", *head[1:]], others),
        "convex-times": page.table(["method", "ms", "paper, ms"], times),
    }


def _short(value: float | bool) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value:g}"


def _draw(store: Store, levels: list[float], folder: Path) -> None:
    made, (left, right) = figures.new(10, 4, columns=2)
    for name, of in (("fwsr", "fwsr grow"), ("smrs", "smrs")):
        runs, _ = tuned(store, "normal", of, levels, False)
        figures.band(left, levels, runs, name, 2)
    for name in ("rrqr", "kmedoids", "kmedoids, alternating"):
        figures.band(left, levels, plain(store, "normal", name, levels), name, 2)
    for name in OTHERS:
        figures.band(right, levels, plain(store, "normal", name, levels), name, 2)
    left.set_title("the paper's methods, tuned on these trials", fontsize=10)
    right.set_title("further methods, not tuned", fontsize=10)
    for axes in (left, right):
        axes.set_xlabel("standard deviation of the noise")
        axes.set_ylim(-0.05, 1.05)
        axes.legend(fontsize=8, frameon=False, ncols=3, loc="upper center",
                    bbox_to_anchor=(0.5, -0.16))
    left.set_ylabel("exemplars recovered")
    figures.save(made, folder, "convex")
