"""Experiment 3: exemplars of labelled data, judged by classifiers trained on them (Tables 2, 3).

Every setting of every method is measured under three protocols. `paper`: select and train on the
training points, judge on the validation points, which tune everything. `tune`: the same within the
training points, four fifths against one. `test`, of Credit: as `paper`, with test points standardised
by the training points' means and deviations, not by their own. Tuned as the paper does: the best of
`paper`. Honestly: the best of `tune`, looked up in `test`, or in `paper` where that is the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import data, learn, selection
from ..page import beside, table
from ..store import Key, Result, Store

PAPER = json.loads((Path(__file__).parents[1] / "paper/experiment3.json").read_text())

#: The settings of the classifiers that each data set is judged by.
KNN = [1, 2, 3, 5, 9, 15]
MANY = [1, 3, 10, 30, 100, 200, 300]
SETS: dict[str, dict[str, list[float]]] = {
    "yaleb": {"svm": [1e-3, 1e-2, 1e-1], "knn": KNN},
    "news20": {"svm": [0.01, 0.03, 0.1, 0.3, 1, 3], "mnb": [1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3]},
    "news20-chi2": {"knn": MANY},
    "credit": {"svm": [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1], "knn": KNN},
    "credit-both": {"svm": [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1], "knn": KNN},
    "emnist": {"svm": [1e-4, 1e-3, 1e-2, 1e-1]},
    "mnist": {"svm": [1e-4, 1e-3, 1e-2, 1e-1], "knn": KNN},
    "fashion": {"svm": [1e-4, 1e-3, 1e-2, 1e-1], "knn": KNN},
    "digits": {"svm": [1e-4, 1e-3, 1e-2], "knn": KNN},
}
#: Features standardised or not; of Yale B that is one more setting.
#: How many random choices of the validation points: 98 frauds make for a wide spread.
DRAWS_OF = {"credit": 5, "credit-both": 5}
STANDARDISED = {"yaleb": (False, True), "credit": (True,), "credit-both": (True,)}
#: Those that take more than minutes there.
TOO_SLOW = {
    ("emnist", "smrs"), ("mnist", "smrs"), ("fashion", "smrs"),
    ("mnist", "facility"), ("fashion", "facility"), ("emnist", "facility"),
}  # fmt: skip
#: Their settings are draws: the mean over them is reported, each tuned by itself.
DRAWN = ("random", "kmedoids", "kmedoids, alternating", "kmeans")


def keys(quick: bool) -> Iterator[Key]:
    for name in ["digits"] if quick else SETS:
        for standardised in STANDARDISED.get(name, (False,)):
            for method in ("all", *selection.METHODS):
                if (name, method) in TOO_SLOW:
                    continue
                for protocol in protocols(name):
                    for draw in range(DRAWS_OF.get(name, 1)):
                        yield {
                            "data": name, "standardised": standardised, "method": method,
                            "protocol": protocol, "draw": draw,
                        }  # fmt: skip


def protocols(name: str) -> tuple[str, ...]:
    return ("paper", "tune", "test") if name.startswith("credit") else ("paper", "tune")


def split_of(name: str, standardised: bool, protocol: str, draw: int) -> data.Split:
    split = data.load(name, draw) if name in DRAWS_OF else data.load(name)
    if protocol == "tune":
        split = data.inner(split)
    if standardised:
        split = data.standardised(split, independently=protocol == "paper" and name in DRAWS_OF)
    return split


def measure(data: str, standardised: bool, method: str, protocol: str, draw: int) -> Result:
    split = split_of(data, standardised, protocol, draw)
    if method == "all":
        tried: selection.Tried = [({}, np.arange(len(split.y)))]
    else:
        tried = selection.chosen(split, selection.METHODS[method])
    known: dict[bytes, dict[str, Any]] = {}  # settings often choose the same points
    settings = []
    for setting, rows in tried:
        name = np.sort(rows).tobytes()
        if name not in known:
            known[name] = {
                kind: _rounded(learn.scores(split, rows, kind, _grid(data, standardised, kind)))
                for kind in SETS[data]
            }
        settings.append({**setting, "exemplars": len(rows), **known[name]})
    sizes = {
        "classes": len(np.unique(split.y)), "train": len(split.y), "valid": len(split.y_test),
        "d": split.X.shape[1], "k": split.k,
    }  # fmt: skip
    return {"sizes": sizes, "settings": settings}


def _grid(name: str, standardised: bool, kind: str) -> list[float]:
    grid = SETS[name][kind]
    if name == "yaleb" and kind == "svm" and not standardised:
        return [10 * value for value in grid]  # pixels from 0 to 1 are smaller
    return grid


def _rounded(found: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 5) for name, value in found.items()}


# What the tables say.


def best_of(store: Store, name: str, kind: str, method: str, **narrow: Any) -> float | None:
    """Tuned as the paper does: the best on the validation points; of draws their mean best."""
    found = _values(store, name, kind, method, "paper", narrow)
    if not found:
        return None
    if method in DRAWN:
        return float(np.mean(by_draw(found)))
    return max(found.values())


def by_draw(found: dict[tuple[str, ...], float]) -> list[float]:
    """The best of each draw."""
    best: dict[str, float] = {}
    for (_, setting, _), value in found.items():
        best[setting] = max(value, best.get(setting, 0.0))
    return list(best.values())


def honest(store: Store, name: str, kind: str, method: str, **narrow: Any) -> float | None:
    """Tuned within the training points, tested once; of draws the mean of them."""
    tuned = _values(store, name, kind, method, "tune", narrow)
    tested = _values(store, name, kind, method, "test", narrow)
    if not tuned or not tested:
        return None
    groups: dict[str, list[tuple[str, ...]]] = {}
    for at in tuned:
        groups.setdefault(at[1] if method in DRAWN else "", []).append(at)
    return float(np.mean([tested[max(same, key=tuned.__getitem__)] for same in groups.values()]))


def _values(
    store: Store, name: str, kind: str, method: str, protocol: str, narrow: dict[str, Any]
) -> dict[tuple[str, ...], float]:
    """The value of every setting: (standardised, setting of the method, of the classifier)."""
    found = {}
    for standardised in STANDARDISED.get(name, (False,)):
        # Without standardising, the test points of `test` are those of `paper`.
        held = "paper" if protocol == "test" and not standardised else protocol
        key = {"data": name, "standardised": standardised, "method": method, "protocol": held}
        if key not in store:
            continue
        for setting in store[key]["settings"]:
            if any(setting.get(word) != value for word, value in narrow.items()):
                continue
            words = {w: v for w, v in setting.items() if not isinstance(v, dict)}
            words.pop("exemplars")
            for of, value in setting.get(kind, {}).items():
                found[str(standardised), json.dumps(words), of] = value
    return found


def parts(stores: dict[str, Store], folder: Path) -> dict[str, str]:
    store = stores["labelled"]
    names = {key["data"] for key, _ in store}
    stand_ins = [(n, kind) for n in ("mnist", "fashion") for kind in SETS[n] if n in names]
    columns = [tuple(c) for c in PAPER["columns"]] + stand_ins
    if names == {"digits"}:
        columns = [("digits", kind) for kind in SETS["digits"]]
    head = ["", *(f"{data.SETS[n][0]} {LABELS[kind]}" for n, kind in columns)]

    def paper_of(method: str, column: tuple[str, str]) -> float | None:
        at = [tuple(c) for c in PAPER["columns"]]
        known = PAPER["accuracy"].get(method.partition(" ")[0].rstrip(","))
        return known[at.index(column)] if known and column in at else None

    rows: dict[str, tuple[str, dict[str, str]]] = {}
    for method in ("all", *selection.METHODS):
        if method in ("fwsr", "k-fwsr"):
            rows[f"{method} (stop)"] = (method, {"when": "stop"})
            rows[f"{method} (grow)"] = (method, {"when": "grow"})
        else:
            rows[method] = (method, {})
    as_paper = [
        [label, *(
            beside(best_of(store, *column, method, **narrow), paper_of(label, column))
            for column in columns
        )]
        for label, (method, narrow) in rows.items()
    ]  # fmt: skip
    fair = [
        [label, *(honest(store, *column, method, **narrow) for column in columns)]
        for label, (method, narrow) in rows.items()
    ]
    luck = [
        [f"{method}, best of {selection.DRAWS}", *(
            max(_values(store, *column, method, "paper", {}).values(), default=None)
            for column in columns
        )]
        for method in DRAWN
    ]  # fmt: skip
    return {
        "table2": _sizes(store),
        "table3": table(head, as_paper),
        "table3-honest": table(head, fair),
        "table3-luck": table(head, luck),
    }


def _sizes(store: Store) -> str:
    words = ["classes", "train", "valid", "d", "k"]
    names = ("yaleb", "news20", "credit", "emnist", "mnist", "fashion", "digits")
    found = {n: store.find(data=n, method="all", protocol="paper") for n in names}
    rows = [
        [data.SETS[n][0], *(_pair(ours[0][1]["sizes"][w], PAPER["sizes"].get(n, {}).get(w))
                            for w in words)]
        for n, ours in found.items() if ours
    ]  # fmt: skip
    return table(["", "classes", "training points", "validation points", "features",
                  "k of a class"], rows)  # fmt: skip


def _pair(ours: int, paper: int | None) -> str:
    return f"{ours:,}" if paper is None else f"{ours:,} ({paper:,})"


LABELS = {"svm": "SVM", "knn": "k-NN", "mnb": "MNB"}
