"""Figure 3: accuracy against the number of exemplars, at most 1000 points of each class.

Runs to the largest k give the answers for all smaller ones where the choice is nested: FWSR with a
given alpha, RRQR, and SMRS, which takes the k largest rows. Four settings of each are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import fwsr

from .. import data as sets
from .. import figures, learn
from ..page import figure, table
from ..selection import QUIET, median_squared_distance
from ..store import Key, Result, Store

KS = [10, 20, 50, 100]
C = [1e-2, 1e-1]
#: Nested ones run once, to the largest k.
NESTED: dict[str, list[dict[str, Any]]] = {
    "fwsr": [{"alpha": a, "eta": e, "eta_relative": True} for a in (1.0, 5.0) for e in (0.0, 1.0)],
    "k-fwsr": [{"alpha": a, "width": w} for a in (1.0, 5.0) for w in (1.0, 4.0)],
    "rrqr": [{"center": c, "scale": s} for c in ("none", "point") for s in ("none", "unit")],
    "smrs": [{"alpha": a} for a in (2.0, 5.0, 20.0, 100.0)],
}
DRAWN = ["kmedoids", "random"]
METHODS = [*NESTED, *DRAWN]


def keys(quick: bool) -> Iterator[Key]:
    for name in ["digits"] if quick else ["mnist", "fashion", "digits"]:
        for method in METHODS:
            yield {"data": name, "method": method}


def capped(name: str) -> sets.Split:
    split = sets.load(name)
    return split.part(sets.capped(split.y, 1000))


def measure(data: str, method: str) -> Result:
    split = capped(data)
    ks = [k for k in KS if k <= np.bincount(split.y).min()]
    tried = []
    for setting in NESTED.get(method, [{"seed": seed} for seed in range(4)]):
        if method in NESTED:
            nested = _run(split, max(ks), method, setting)
            by_k = {k: np.concatenate([picks[:k] for picks in nested]) for k in ks}
        else:
            by_k = {k: np.concatenate(_run(split, k, method, setting)) for k in ks}
        accuracy = {
            str(k): round(max(learn.scores(split, rows, "svm", C).values()), 5)
            for k, rows in by_k.items()
        }
        tried.append({**setting, "accuracy": accuracy})
    return {"settings": tried}


def _run(split: sets.Split, k: int, method: str, setting: dict[str, Any]) -> list[np.ndarray]:
    """The choice of each class, in order."""
    settings = dict(setting)
    found = []
    for label in np.unique(split.y):
        rows = np.flatnonzero(split.y == label)
        X = split.X[rows]
        if "width" in setting:
            settings = {"alpha": setting["alpha"],
                        "gamma": setting["width"] / median_squared_distance(X)}  # fmt: skip
        found.append(rows[fwsr.select(X, k, method=method, **QUIET, **settings).exemplars])
    return found


def parts(stores: dict[str, Store], folder: Path) -> dict[str, str]:
    store = stores["against_k"]
    names = [n for n in ("mnist", "fashion", "digits") if store.find(data=n)]
    drawing, axes = figures.new(3.6 * len(names), 3.6, columns=len(names))
    rows = []
    for name, axis in zip(names, np.atleast_1d(axes)):
        for method in METHODS:
            found = store.find(data=name, method=method)
            if not found:
                continue
            settings = [s["accuracy"] for s in found[0][1]["settings"]]
            ks = [int(k) for k in settings[0]]
            values = np.array([list(s.values()) for s in settings])
            best = values.mean(axis=0) if method in DRAWN else values.max(axis=0)
            axis.plot(ks, best, label=method, markersize=4, **figures.style_of(method))
            rows.append([sets.SETS[name][0], method, *map(float, best),
                         *[None] * (len(KS) - len(ks))])  # fmt: skip
        axis.set(title=sets.SETS[name][0], xlabel="exemplars of each class")
    np.atleast_1d(axes)[0].set_ylabel("validation accuracy, linear SVM")
    np.atleast_1d(axes)[0].legend(fontsize=8)
    figures.save(drawing, folder, "figure3")
    return {
        "figure3": figure("figure3", "Accuracy against the number of exemplars")
        + "\n\n" + table(["", "", *(f"k = {k}" for k in KS)], rows)
    }  # fmt: skip
