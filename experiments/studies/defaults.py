"""Only k is given: which alpha, eta and centring, judged with and without labels."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

import fwsr

from .. import data, figures, learn, page
from ..data import Split
from ..store import Key, Result, Store

DRAWS = 20
MEDOID_RUNS = 5
#: What a sweep tries, as docs/parameters.md says.
ALPHAS, ETAS = [0.5, 2.0, 10.0], [0.0, 0.3, 1.0]

#: For each set how many exemplars: of each class, and of all points without labels. Below the
#: number of features, so that there is an error left to compare.
SIZES: dict[str, tuple[list[int], list[int]]] = {
    "digits": ([2, 10], [20, 50]),
    "cancer": ([5, 15], [10, 25]),
    "wine": ([3, 8], [5, 10]),
    "made": ([3, 10], [6, 12]),
    "diabetes": ([], [3, 7]),
    "mnist": ([2, 10], [20, 100]),
    "fashion": ([2, 10], [20, 100]),
    "credit": ([5, 20], [10, 20]),
    "news20": ([10, 40], [20, 100]),
    "yaleb": ([3, 10], [20, 100]),
}
QUICK = ("wine", "diabetes")
#: Features with a meaning of their own; the others are images and text.
TABLES = ("cancer", "wine", "made", "diabetes", "credit")
#: Where processor time is measured, without labels, and how often.
TIMED = {"mnist": 100, "news20": 100, "credit": 20, "yaleb": 100}
TIMES = 5


def keys(quick: bool) -> Iterator[Key]:
    for name in QUICK if quick else SIZES:
        for per_class, sizes in zip((True, False), SIZES[name]):
            for k in sizes:
                yield {"data": name, "per_class": per_class, "k": k}
    if not quick:
        for name, k in TIMED.items():
            yield {"data": name, "per_class": False, "k": k, "times": TIMES}


@functools.lru_cache(1)
def points(name: str) -> Split:
    """Some thousands of points, raw or standardised as a user would have them."""
    if name == "made":
        from sklearn.datasets import make_classification

        X, y = make_classification(
            3000, 20, n_informative=10, n_redundant=5, n_classes=5, random_state=0
        )
        return Split(X[:2000], y[:2000], X[2000:], y[2000:], k=5)
    if name == "diabetes":
        from sklearn.datasets import load_diabetes

        X, y = load_diabetes(return_X_y=True)
        return Split(X, y, X, y, k=5)
    split = data.load(name)
    if name in ("cancer", "wine", "credit"):
        return data.standardised(split, independently=False)
    if name == "news20":
        rows, tests = np.flatnonzero(split.y < 5), np.flatnonzero(split.y_test < 5)
        few = split.part(rows[data.capped(split.y[rows], 300)])
        return replace(few, X_test=split.X_test[tests], y_test=split.y_test[tests])
    if name in ("mnist", "fashion"):
        few = split.part(data.capped(split.y, 200))
        return replace(few, X_test=split.X_test[:2000], y_test=split.y_test[:2000])
    return split


# ---- The rules -----------------------------------------------------------------------------------

Rule = Callable[..., np.ndarray]


def _plain(**options: Any) -> Rule:
    def choose(X: Any, k: int, judge: Any, **more: Any) -> np.ndarray:
        given = {name: value(k) if callable(value) else value for name, value in options.items()}
        return fwsr.select(X, k, **{"method": "fwsr", **given}, **more).exemplars

    return choose


def _beta(times: float, **options: Any) -> Rule:
    return _plain(beta=lambda k: times * k, **options)


def _sweep(center: str) -> Rule:
    """The setting of the grid that leaves the least of the points as the run sees them."""

    def choose(X: Any, k: int, judge: Any, **more: Any) -> np.ndarray:
        found = fwsr.sweep(X, k, ALPHAS, ETAS, eta_relative=True, center=center, **more)
        centred = center == "point"
        return min((s.selection.exemplars for s in found), key=lambda rows: judge(rows, centred))

    return choose


_KERNEL = {"method": "k-fwsr"}
#: By the name that tables show.
RULES: dict[str, Rule] = {
    "fwsr, beta = k": _beta(1),
    "fwsr, beta = 3 k": _beta(3),
    "fwsr, beta = 10 k": _beta(10),
    "fwsr, beta = 30 k": _beta(30),
    "fwsr, beta = 100 k": _beta(100),
    "fwsr, alpha = 0": _plain(alpha=0),
    "fwsr, beta = 10 k, eta = 0.3": _beta(10, eta=0.3, eta_relative=True),
    "fwsr, beta = 10 k, eta = 1": _beta(10, eta=1, eta_relative=True),
    "fwsr, beta = 10 k, not centred": _beta(10, center="none"),
    "fwsr, beta = 10 k, features centred": _beta(10, center="feature"),
    "fwsr, beta = 10 k, not centred, eta = 0.3": _beta(
        10, center="none", eta=0.3, eta_relative=True
    ),
    "fwsr, beta = 10 k, not centred, eta = 1": _beta(10, center="none", eta=1, eta_relative=True),
    "fwsr, best of a sweep": _sweep("point"),
    "fwsr, not centred, best of a sweep": _sweep("none"),
    "k-fwsr, beta = k": _beta(1, **_KERNEL),
    "k-fwsr, beta = 10 k": _beta(10, **_KERNEL),
    "k-fwsr, beta = 100 k": _beta(100, **_KERNEL),
    "k-fwsr, alpha = 0": _plain(alpha=0, **_KERNEL),
    "k-fwsr, beta = 10 k, eta = 0.3": _beta(10, eta=0.3, eta_relative=True, **_KERNEL),
    "rrqr": _plain(method="rrqr"),
    "greedy-cssp": _plain(method="greedy-cssp"),
}
#: What docs/parameters.md calls auto.
AUTO, KERNEL_AUTO = "fwsr, beta = 10 k", "k-fwsr, beta = 10 k"
OTHERS = ("random", "kmedoids", "rrqr", "greedy-cssp")


# ---- Measures ------------------------------------------------------------------------------------


class Judge:
    """What exemplars leave of the points, and what they teach. Per class: of the class's own."""

    def __init__(self, split: Split, per_class: bool, labelled: bool) -> None:
        self.split, self.labelled = split, labelled
        groups = np.unique(split.y) if per_class else [None]
        self.groups = [
            np.arange(len(split.y)) if g is None else np.flatnonzero(split.y == g) for g in groups
        ]

    def error(self, rows: np.ndarray, centred: bool) -> float:
        """The part of the squared norm outside the span; centred: of points less their means."""
        left = whole = 0.0
        for group in self.groups:
            mine = np.intersect1d(rows, group)
            norms, products, among = self._products(group, mine, centred)
            values, vectors = np.linalg.eigh(among)
            keep = values > 1e-10 * values[-1]
            basis = vectors[:, keep] / np.sqrt(values[keep])
            whole += norms.sum()
            left += norms.sum() - np.sum((products @ basis) ** 2)
        return max(left / whole, 0.0)

    def distance(self, rows: np.ndarray) -> float:
        """Mean squared distance from the nearest exemplar, relative to the mean squared norm of the
        points less their common mean."""
        total = spread = 0.0
        for group in self.groups:
            mine = np.intersect1d(rows, group)
            norms, products, among = self._products(group, mine, centred=False)
            far = norms[:, None] - 2 * products + np.diag(among)
            total += np.maximum(far.min(axis=1), 0).sum()
            mean = np.asarray(self.split.X[group].mean(axis=0))
            spread += norms.sum() - len(group) * float((mean**2).sum())
        return total / spread

    def _products(
        self, group: np.ndarray, rows: np.ndarray, centred: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Squared norms of the group's points, their products with exemplars, and among these."""
        X, E = self.split.X[group], self.split.X[rows]
        if scipy.sparse.issparse(X):
            norms = np.asarray(X.multiply(X).sum(axis=1)).ravel()
            products, among = (X @ E.T).toarray(), (E @ E.T).toarray()
        else:
            X, E = X.astype(np.float64), E.astype(np.float64)
            norms, products, among = (X**2).sum(axis=1), X @ E.T, E @ E.T
        if centred:
            d = X.shape[1]
            sums, of_rows = np.asarray(X.sum(axis=1)).ravel(), np.asarray(E.sum(axis=1)).ravel()
            norms = norms - sums**2 / d
            products = products - np.outer(sums, of_rows) / d
            among = among - np.outer(of_rows, of_rows) / d
        return norms, products, among

    def all(self, rows: np.ndarray) -> dict[str, float]:
        found = {
            "error": self.error(rows, centred=False),
            "distance": self.distance(rows),
            "found": float(len(rows)),
        }
        if self.labelled:
            one_class = len(np.unique(self.split.y[rows])) < 2
            for name, grid in (("svm", [1.0]), ("knn", [1])):
                if name == "svm" and one_class:  # says that class to every point
                    said = np.full(len(self.split.y_test), self.split.y[rows[0]])
                    found[name] = learn.judge(self.split, said)
                else:
                    found[name] = learn.scores(self.split, rows, name, grid)[f"{grid[0]:g}"]
        return found


def measure(data: str, per_class: bool, k: int, times: int = 0) -> Result:
    split = points(data)
    if times:
        return _seconds(split, k, times)
    judge = Judge(split, per_class, labelled=data != "diabetes")
    more = {"y": split.y, "per_class": True} if per_class else {}

    def one(choose: Rule) -> dict[str, float]:
        return judge.all(choose(split.X, k, judge.error, **more))

    found: Result = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer than k found: counted
        for name, rule in RULES.items():
            found[name] = _rounded(one(rule))
        for name, runs in (("random", DRAWS), ("kmedoids", MEDOID_RUNS)):
            all_ = [one(_plain(method=name, seed=seed)) for seed in range(runs)]
            found[name] = _rounded({m: float(np.mean([a[m] for a in all_])) for m in all_[0]})
            for m in ("error", "distance", "svm", "knn"):
                if m in all_[0]:
                    found[name][f"{m} deviation"] = float(f"{np.std([a[m] for a in all_]):.4g}")
    return found


def _seconds(split: Split, k: int, times: int) -> Result:
    """Of the processor, the median; in turns, so that a slow moment of the machine hits all.

    Without certificates, but for the sweep, which is judged by them.
    """
    rules = {**RULES, "random": _plain(method="random"), "kmedoids": _plain(method="kmedoids")}
    taken: dict[str, list[float]] = {name: [] for name in rules}
    for _ in range(times):
        for name, rule in rules.items():
            more = {} if "sweep" in name else {"certificate": "none"}
            start = time.process_time()
            rule(split.X, k, lambda rows, centred: 0.0, **more)
            taken[name].append(time.process_time() - start)
    return {name: _rounded({"seconds": float(np.median(taken[name]))}) for name in rules}


def _rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: float(f"{value:.4g}") for name, value in values.items()}


# ---- Tables and figures --------------------------------------------------------------------------

GROUPS = {"images and text": False, "tables of features": True}


def parts(stores: dict[str, Store], folder: Path) -> dict[str, str]:
    store = stores["defaults"]
    found = [(key, result) for key, result in store if not key.get("times")]
    cost = [result for key, result in store if key.get("times")]
    made = {}
    for mark, (_, tabular) in zip(("defaults-images", "defaults-tables"), GROUPS.items()):
        mine = [(k, r) for k, r in found if (k["data"] in TABLES) == tabular]
        if mine:
            made[mark] = _rules(mine, cost)
    made["defaults-wins"] = _wins(found)
    _draw(found, folder)
    made["defaults-radius"] = page.figure(
        "defaults", "Error and accuracy of linear SVMs against the radius"
    )
    return made


def _rules(found: list[tuple[Key, Result]], cost: list[Result]) -> str:
    """One line for each rule: means over the tasks."""
    rows = []
    for name in [*RULES, "kmedoids", "random"]:
        seconds = [c[name]["seconds"] / c[AUTO]["seconds"] for c in cost]
        rows.append([
            f"**{name}**" if name in (AUTO, KERNEL_AUTO) else name,
            f"{_relative(found, name, 'error'):.2f}",
            f"{_relative(found, name, 'distance'):.2f}",
            _above_random(found, name, "svm"),
            _above_random(found, name, "knn"),
            f"{np.exp(np.mean(np.log(seconds))):.1f}" if seconds else None,
        ])
    tasks, sets = len(found), len({k["data"] for k, _ in found})
    return page.table(
        [f"{tasks} tasks of {sets} sets", "error / least", "distance / least",
         "SVM - random", "1-NN - random", "time / auto"],
        rows,
    )


def _relative(found: list[tuple[Key, Result]], name: str, measure: str) -> float:
    """To the least of all rules, as a geometric mean."""
    ratios = [r[name][measure] / min(one[measure] for one in r.values()) for _, r in found]
    return float(np.exp(np.mean(np.log(ratios))))


def _above_random(found: list[tuple[Key, Result]], name: str, measure: str) -> str | None:
    """Mean over the tasks, and the standard error of that mean."""
    above = [r[name][measure] - r["random"][measure] for _, r in found if measure in r[name]]
    if not above or name == "random":
        return None
    error = np.std(above, ddof=1) / np.sqrt(len(above))
    return f"{np.mean(above):+.3f} ± {error:.3f}"


def _wins(found: list[tuple[Key, Result]]) -> str:
    """How often one is better than another, by each measure."""
    rows = []
    for name in (AUTO, "fwsr, best of a sweep", KERNEL_AUTO):
        for measure, words, sign in (
            ("error", "error", -1), ("distance", "distance", -1), ("svm", "SVM", 1),
            ("knn", "1-NN", 1),
        ):
            row: list[Any] = [f"{name}: {words}"]
            for other in (*OTHERS, AUTO):
                pairs = [(r[name][measure], r[other][measure]) for _, r in found
                         if measure in r[name]]
                better = sum(sign * a > sign * b for a, b in pairs)
                equal = sum(a == b for a, b in pairs)
                row.append(None if other == name else
                           f"{better} of {len(pairs)}" + (f" ({equal} equal)" if equal else ""))
            rows.append(row)
    return page.table(["better than", *OTHERS, "auto"], rows)


def _draw(found: list[tuple[Key, Result]], folder: Path) -> None:
    made, panels = figures.new(9, 3.6, columns=2)
    for method in ("fwsr", "k-fwsr"):
        betas = {"k": "1", "3 k": "3", "10 k": "10", "30 k": "30", "100 k": "100"}
        rules = {f"{method}, beta = {b}": shown for b, shown in betas.items()}
        rules = {n: s for n, s in {**rules, f"{method}, alpha = 0": "none"}.items() if n in RULES}
        for group, tabular in GROUPS.items():
            mine = [(k, r) for k, r in found if (k["data"] in TABLES) == tabular]
            if not mine:
                continue
            look = {**figures.style_of(method), "linestyle": "--" if tabular else "-"}
            places = [["1", "3", "10", "30", "100", "none"].index(s) for s in rules.values()]
            panels[0].plot(places, [_relative(mine, n, "error") for n in rules],
                           label=f"{method}, {group}", markersize=4, linewidth=1.4, **look)
            labelled = [r for _, r in mine if "svm" in r[AUTO]]
            above = [np.mean([r[n]["svm"] - r["random"]["svm"] for r in labelled]) for n in rules]
            panels[1].plot(places, above, markersize=4, linewidth=1.4, **look)
    for axes, words in zip(panels, ("error / least of all rules", "SVM accuracy - random's")):
        axes.set_xticks(range(6), ["1", "3", "10", "30", "100", "no radius"])
        axes.set_xlabel("beta / k")
        axes.set_ylabel(words)
    panels[1].axhline(0, color="#7f7f7f", linewidth=0.8)
    panels[0].legend(frameon=False, fontsize=8)
    figures.save(made, folder, "defaults")
