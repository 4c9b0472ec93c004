"""Experiment 3: seconds of selection and training of a linear SVM (Table 4; times of Figure 3)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import data as sets
from .. import figures, learn
from ..page import figure, table
from ..selection import chosen, single
from ..store import Key, Result, Store
from .against_k import KS, capped
from .labelled import PAPER

ALONE = True

#: C of the machine for each data set, and the settings of the methods: fixed, as no time depends
#: much on them.
SETS = {"yaleb": 0.1, "news20": 0.3, "credit": 1e-4, "mnist": 1e-2, "fashion": 1e-2}
SETTINGS: dict[str, dict[str, Any]] = {
    "fwsr": {"alpha": 5.0, "eta": 0.3, "eta_relative": True},
    "k-fwsr": {"alpha": 5.0},
    "kmedoids": {},
    "kmedoids, alternating": {"algorithm": "alternating"},
    "rrqr": {},
    "smrs": {"alpha": 20.0},
}
RUNS = 3
DRAWS = 20  # of the methods that draw at random, as the paper, where that takes seconds
TOO_SLOW = {("mnist", "smrs"), ("fashion", "smrs")}


def keys(quick: bool) -> Iterator[Key]:
    for name in ["digits"] if quick else SETS:
        for method in ("all", *SETTINGS):
            if (name, method) not in TOO_SLOW:
                yield {"data": name, "method": method}
    if not quick:
        for method in SETTINGS:
            for k in KS:
                yield {"data": "mnist", "method": method, "k": k}


def measure(data: str, method: str, k: int | None = None) -> Result:
    """k is given for Figure 3, where every class has at most 1000 points."""
    split = _split(data) if k is None else capped(data)
    C = SETS.get(data, 0.01)
    if method == "all":
        rows = np.arange(len(split.y))
        return {"training_seconds": learn.training_seconds(split, rows, "svm", C)}
    runs = 1 if k is not None else RUNS
    if method.startswith("kmedoids") and k is None and data not in ("mnist", "fashion"):
        runs = DRAWS
    selection, training = [], []
    for seed in range(runs):
        start = time.perf_counter()
        rows = _select(split, k or split.k, method, seed)
        selection.append(time.perf_counter() - start)
        training.append(learn.training_seconds(split, rows, "svm", C))
    return {
        "selection_seconds": [round(s, 5) for s in selection],
        "training_seconds": float(np.median(training)),
        "exemplars": len(rows),
    }


def _split(name: str) -> sets.Split:
    split = sets.load(name)
    return sets.standardised(split, independently=True) if name == "credit" else split


def _select(split: sets.Split, k: int, method: str, seed: int) -> np.ndarray:
    one = single(method.partition(",")[0], seed=seed, **SETTINGS[method])
    ((_, rows),) = chosen(replace(split, k=k), one)
    return rows


def parts(stores: dict[str, Store], folder: Path) -> dict[str, str]:
    store = stores["times"]
    names = [n for n in (*SETS, "digits") if store.find(data=n, method="all")]

    def cell(name: str, method: str) -> str:
        found = [r for key, r in store.find(data=name, method=method) if "k" not in key]
        drawn = method.startswith("kmedoids")
        text = "–"
        if found:
            selection = found[0].get("selection_seconds", [0.0])
            text = f"{np.median(selection) + found[0]['training_seconds']:.3g}"
            text += f" ± {np.std(selection):.2g}" if drawn else ""
        known = PAPER["seconds"].get(method.partition(",")[0])
        if not known or name not in PAPER["seconds"]["columns"]:
            return text
        at = PAPER["seconds"]["columns"].index(name)
        spread = f" ± {PAPER['seconds_deviation']['kmedoids'][at]:g}" if drawn else ""
        return f"{text} ({known[at]:g}{spread})"

    rows = [[m, *(cell(n, m) for n in names)] for m in ("all", *SETTINGS)]
    made = {"table4": table(["", *(sets.SETS[n][0] for n in names)], rows)}
    if any("k" in key for key, _ in store):
        drawing, axes = figures.new(6, 3.6)
        for method in SETTINGS:
            line = sorted(
                (key["k"], float(np.median(r["selection_seconds"])) + r["training_seconds"])
                for key, r in store.find(method=method) if "k" in key
            )  # fmt: skip
            axes.plot(*zip(*line), label=method, markersize=4, **figures.style_of(method))
        axes.set(xlabel="exemplars of each class", ylabel="seconds: selection and training",
                 yscale="log")  # fmt: skip
        axes.legend(fontsize=8, ncols=2)
        figures.save(drawing, folder, "figure3-time")
        made["figure3-time"] = figure("figure3-time", "Seconds against the number of exemplars")
    return made
