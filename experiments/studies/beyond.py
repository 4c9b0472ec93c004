"""Beyond the paper: what an exemplar stands for, its weight in training, and accuracy against k."""

from __future__ import annotations

import functools
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import fwsr

from .. import data, figures, learn, page
from ..store import Key, Result, Store

#: How many of each class are chosen.
WEIGHED: dict[str, tuple[int, ...]] = {
    "digits": (2, 5, 10),
    "yaleb": (3, 5, 7),
    "credit": (5, 10, 20),
    "mnist": (5, 10, 20),
    "fashion": (5, 10, 20),
}
METHODS = ("fwsr", "k-fwsr", "kmedoids", "kmeans")
DRAWS = 5
STANDING = ("digits", "mnist", "fashion", "yaleb", "news20", "credit")
STANDING_K = 20
NESTED = ("mnist", "fashion")
SIZES = (1, 2, 5, 10, 20, 50)
ALPHAS = (5.0, 50.0)
WEIGHED_GRID = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0]  # C for the weights
GRID = [1e-3, 1e-2, 1e-1]  # C for the nested runs
CAP = 2000  # points of a class to choose from, in both


def keys(quick: bool) -> list[Key]:
    made: list[Key] = [
        {"part": "weights", "set": name, "method": method, "k": k, "draw": draw}
        for name, numbers in WEIGHED.items()
        for draw in range(DRAWS)
        for method in METHODS
        for k in numbers
        if not quick or (name == "digits" and draw == 0)
    ]
    made += [
        {"part": "stands", "set": name, "method": method}
        for name in STANDING
        for method in ("fwsr", "k-fwsr")
        if not quick or name == "digits"
    ]
    nested: list[Key] = []
    for name in NESTED:
        of_set = {"part": "nested", "set": name}
        for method in ("fwsr", "k-fwsr"):
            nested += [
                {**of_set, "method": method, "runs": "one", "alpha": alpha, "draw": 0}
                for alpha in ALPHAS
            ]
            nested.append({**of_set, "method": method, "runs": "many", "alpha": None, "draw": 0})
        nested += [
            {**of_set, "method": "random", "runs": "one", "alpha": None, "draw": draw}
            for draw in range(DRAWS)
        ]
    return made + nested[: 1 if quick else None]


def measure(part: str, **key: Any) -> Result:
    if part == "stands":
        return _stands(**key)
    return _weights(**key) if part == "weights" else _nested(**key)


@functools.lru_cache(1)
def _drawn(name: str, draw: int) -> tuple[data.Split, data.Split]:
    """Random four fifths of the training points (at most CAP of a class): to test, and to tune.

    The classifier is tuned on training points that were left out, at most 5000 of them.
    """
    split = data.load(name)
    if name == "credit":
        split = data.standardised(split, independently=False)
    order = np.random.default_rng(draw).permutation(len(split.y))
    learned, left = [], []
    for label in np.unique(split.y):
        rows = order[split.y[order] == label]
        count = min(CAP, 4 * len(rows) // 5)
        learned.append(rows[:count])
        left.append(rows[count:])
    rows = np.random.default_rng(draw).permutation(np.concatenate(left))[:5000]
    whole = split.part(np.sort(np.concatenate(learned)))
    return whole, replace(whole, X_test=split.X[rows], y_test=split.y[rows])


def _stands(set: str, method: str) -> Result:
    """How many points are of the class of their exemplar, by code and by distance."""
    split = _drawn(set, 0)[0]
    chosen = fwsr.select(split.X, STANDING_K, method=method, codes=True)
    assert chosen.codes is not None and chosen.assignment is not None
    found: Result = {"points": len(split.y)}
    for name, owner in (("code", np.abs(chosen.codes).argmax(axis=1)),
                        ("distance", chosen.assignment)):
        same = split.y[chosen.exemplars][owner] == split.y
        found[name] = float(same.mean())
        found[f"{name}_largest"] = int(np.bincount(owner).max())
    return found


def _weights(set: str, method: str, k: int, draw: int) -> Result:
    split, tuning = _drawn(set, draw)
    rows, weights = [], []
    for label in np.unique(split.y):
        of_class = np.flatnonzero(split.y == label)
        if split.only and label not in split.only:
            rows.append(of_class)
            weights.append(np.ones(len(of_class)))
            continue
        chosen = fwsr.select(split.X[of_class], k, method=method, seed=draw)
        rows.append(of_class[chosen.exemplars])
        weights.append(chosen.weights / chosen.weights.mean())
    of_all, weight = np.concatenate(rows), np.concatenate(weights)
    found: Result = {}
    for name, given in (("plain", None), ("weighted", weight)):
        tuned = learn.scores(tuning, of_all, "svm", WEIGHED_GRID, given)
        best = max(tuned, key=lambda setting: tuned[setting])
        (found[name],) = learn.scores(split, of_all, "svm", [float(best)], given).values()
        found[f"{name}_C"] = float(best)
    chosen_from = [w for w in weights if w.std() > 0]
    found["effective"] = float(np.mean([len(w) / np.square(w).sum() for w in chosen_from]))
    return found


def _nested(set: str, method: str, runs: str, alpha: float | None, draw: int) -> Result:
    split, tuning = _drawn(set, 0)
    classes = [np.flatnonzero(split.y == label) for label in np.unique(split.y)]

    def chosen(k: int, **options: Any) -> list[np.ndarray]:
        return [
            rows[fwsr.select(split.X[rows], k, method=method, n_jobs=1, **options).exemplars]
            for rows in classes
        ]

    start = time.process_time()
    if method == "random":
        draws = np.random.default_rng(draw)
        longest = [draws.permutation(rows) for rows in classes]
    elif runs == "one":
        longest = chosen(SIZES[-1], alpha=alpha)
    by_size = {k: chosen(k) if runs == "many" else [rows[:k] for rows in longest] for k in SIZES}
    found: Result = {"seconds": time.process_time() - start, "svm": {}, "knn": {}}
    for k, parts_ in by_size.items():
        rows = np.concatenate(parts_)
        tuned = learn.scores(tuning, rows, "svm", GRID)
        best = max(tuned, key=lambda setting: tuned[setting])
        (found["svm"][str(k)],) = learn.scores(split, rows, "svm", [float(best)]).values()
        (found["knn"][str(k)],) = learn.scores(split, rows, "knn", [1]).values()
    return found


# --- tables and figure ---------------------------------------------------------------------------


def parts(stores: dict[str, Store], folder: Path) -> dict[str, str]:
    store = stores["beyond"]
    made = {"beyond-stands": _stands_table(store), "beyond-weights": _weight_table(store)}
    _draw(store, folder)
    words = "accuracy against exemplars of each class, from one run and from many"
    made["beyond-nested"] = page.figure("nested", words)
    made["beyond-nested-cost"] = _cost_table(store)
    return made


def _stands_table(store: Store) -> str:
    rows = [
        [f"{data.SETS[key['set']][0]}, {key['method']}", f"{r['points']}",
         f"{r['code']:.1%}", f"{r['distance']:.1%}",
         f"{r['code_largest'] / r['points']:.1%}", f"{r['distance_largest'] / r['points']:.1%}"]
        for key, r in store.find(part="stands")
    ]
    head = ["", "points", "same class, by code", "by distance", "largest group, by code",
            "by distance"]
    return page.table(head, rows)


def _weight_table(store: Store) -> str:
    rows = []
    for name, numbers in WEIGHED.items():
        for method in METHODS:
            lines = store.find(part="weights", set=name, method=method)
            if not lines:
                continue
            cells = []
            for k in numbers:
                of_k = [result for key, result in lines if key["k"] == k]
                means = [statistics.mean(r[what] for r in of_k) for what in ("plain", "weighted")]
                cells.append(f"{means[0]:.3f} → {means[1]:.3f}")
            gains = [
                statistics.mean(r["weighted"] - r["plain"] for key, r in lines if key["draw"] == d)
                for d in sorted({key["draw"] for key, _ in lines})
            ]
            deviation = statistics.stdev(gains) / len(gains) ** 0.5 if len(gains) > 1 else 0.0
            gain = statistics.mean(gains)
            sure = abs(gain) > 2 * deviation and len(gains) > 1
            text = f"{gain:+.3f} ± {deviation:.3f}"
            rows.append([
                f"{data.SETS[name][0]}, {method}", *cells, f"**{text}**" if sure else text,
                f"{statistics.mean(r['effective'] for _, r in lines):.0%}",
            ])
    head = ["", "smallest k", "middle k", "largest k", "gain", "effective"]
    return page.table(head, rows)


def _cost_table(store: Store) -> str:
    rows = []
    for key, one in store.find(part="nested", runs="one"):
        of_many = {**key, "runs": "many", "alpha": None}
        if key["method"] == "random" or of_many not in store:
            continue
        many = store[of_many]
        row: list[object] = [
            f"{data.SETS[key['set']][0]}, {key['method']}, alpha = {key['alpha']:g}",
            f"{one['seconds']:.2g}", f"{many['seconds']:.2g}",
        ]
        for what in ("svm", "knn"):
            gains = [one[what][size] - many[what][size] for size in one[what]]
            row += [f"{gain:+.3f}" for gain in (statistics.mean(gains), min(gains), max(gains))]
        rows.append(row)
    head = ["", "one run, s", f"{len(SIZES)} runs, s",
            "SVM: mean", "worst", "best", "1-NN: mean", "worst", "best"]
    return page.table(head, rows)


def _draw(store: Store, folder: Path) -> None:
    made, panels = figures.new(13, 3.6, 2 * len(NESTED))
    shown = [(name, what) for name in NESTED for what in ("svm", "knn")]
    dashes = {ALPHAS[0]: ":", ALPHAS[1]: "-", None: "--"}
    for axes, (name, what) in zip(panels, shown):
        for key, result in store.find(part="nested", set=name):
            if key["method"] == "random":
                continue
            how = "many runs" if key["alpha"] is None else f"one run, alpha = {key['alpha']:g}"
            axes.plot(
                SIZES, [result[what][str(k)] for k in SIZES], label=f"{key['method']}, {how}",
                linestyle=dashes[key["alpha"]], markersize=4, linewidth=1.4,
                fillstyle="none" if key["alpha"] is None else "full",
                **figures.style_of(key["method"]),
            )
        drawn = store.find(part="nested", set=name, method="random")
        if drawn:
            scores = [[result[what][str(k)] for k in SIZES] for _, result in drawn]
            figures.band(axes, SIZES, scores, "random", 2)
        axes.set_xscale("log")
        axes.set_xticks(SIZES, [str(k) for k in SIZES])
        axes.minorticks_off()
        axes.set_title(f"{data.SETS[name][0]}, {'SVM' if what == 'svm' else '1-NN'}", fontsize=9)
        axes.set_xlabel("exemplars of each class")
    panels[0].set_ylabel("accuracy")
    panels[0].legend(fontsize=7)
    figures.save(made, folder, "nested")
