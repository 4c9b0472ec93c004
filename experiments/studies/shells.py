"""Shells of one Gaussian, made forty times: is the default behind random points there by chance?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import page
from ..store import Key, Result, Store
from . import only_k
from .defaults import Judge

SETS = 40
NAMES = (only_k.DEFAULT, "exchange, not to the middle", "kmedoids", "k-fwsr", "random")


def keys(quick: bool) -> Iterator[Key]:
    for seed in range(2 if quick else SETS):
        yield {"seed": seed}


def measure(seed: int) -> Result:
    """Accuracies, each the mean over the four tasks of this set."""
    split = only_k.drawn(only_k._quantiles(seed), 0)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in NAMES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer than k found
        for per_class, sizes in zip((True, False), only_k.SIZES["quantiles"]):
            judge = Judge(split, per_class, labelled=True)
            for k in sizes:
                for name, all_ in found.items():
                    all_ += only_k.judged(judge, only_k.RULES[name], k, seed,
                                          only_k.RUNS.get(name, 1))
    return {name: {m: float(f"{np.mean([one[m] for one in all_]):.4g}") for m in ("svm", "knn")}
            for name, all_ in found.items()}


def parts(stores: dict[str, Store], folder: Path) -> dict[str, str]:
    found = [result for _, result in stores["shells"]]
    rows = []
    for name in NAMES:
        row: list[Any] = [f"**{name}**" if name == only_k.DEFAULT else name]
        for measure in ("svm", "knn"):
            above = [r[name][measure] - r["random"][measure] for r in found]
            error = np.std(above, ddof=1) / np.sqrt(len(above))
            row.append(f"{np.mean([r[name][measure] for r in found]):.3f}")
            row.append(f"{np.mean(above):+.4f} ± {error:.4f}" if name != "random" else None)
        rows.append(row)
    return {"only-k-shells": page.table(
        [f"shells, made {len(found)} times", "SVM", "SVM - random", "1-NN", "1-NN - random"], rows)}
