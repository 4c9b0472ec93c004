"""Experiment 3: exemplars of labelled data, judged by classifiers trained on them (Tables 2, 3).

Every setting of every method is measured under three protocols. `paper`: select and train on the
training points, judge on the validation points, which tune everything. `tune`: the same within the
training points, four fifths against one. `test`, of Credit: as `paper`, with test points
standardised by the means and deviations of the training points. Tuned as the paper does:
the best of `paper`. Honestly: the best of `tune`, looked up in `test`, or in `paper` where that is
the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import data as sets
from .. import learn, selection
from ..page import beside, table
from ..store import Key, Result, Store

PAPER = json.loads((Path(__file__).parents[1] / "paper/experiment3.json").read_text())

#: The settings of the classifiers that each data set is judged by.
KNN: list[float] = [1, 2, 3, 5, 9, 15]
MANY: list[float] = [1, 3, 10, 30, 100, 200, 300]
SETS: dict[str, dict[str, list[float]]] = {
    "yaleb": {"svm": [1e-3, 1e-2, 1e-1], "knn": KNN},
    "yaleb-knn": {"knn": KNN},
    "news20": {"svm": [0.1, 0.3, 1], "mnb": [3e-3, 0.01, 0.03, 0.1]},
    "news20-chi2": {"knn": MANY},
    "news20-unit": {"knn": MANY},
    "credit": {"svm": [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1], "knn": KNN},
    "credit-both": {"svm": [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1], "knn": KNN},
    "emnist": {"svm": [1e-4, 1e-3, 1e-2, 1e-1]},
    "mnist": {"svm": [1e-4, 1e-3, 1e-2, 1e-1], "knn": KNN},
    "fashion": {"svm": [1e-4, 1e-3, 1e-2, 1e-1], "knn": KNN},
    "digits": {"svm": [1e-4, 1e-3, 1e-2], "knn": KNN},
}
#: How many random choices of the validation points: 98 frauds make for a wide spread.
DRAWS_OF = {"credit": 3, "credit-both": 3, "yaleb-knn": 5}
#: Of these two more of them, for their spread alone.
MANY_DRAWS = {("credit", "all"): 20, ("credit", "random"): 20}
#: Features standardised or not; of Yale B that is one more setting.
STANDARDISED = {
    "yaleb": (False, True), "yaleb-knn": (True,), "credit": (True,), "credit-both": (True,),
}  # fmt: skip
#: Those that take more than minutes there.
TOO_SLOW = {
    ("news20-unit", "smrs"),
    ("news20", "kmeans"), ("news20-chi2", "kmeans"),
    ("emnist", "smrs"), ("mnist", "smrs"), ("fashion", "smrs"),
    ("credit", "ssc"), ("mnist", "facility"), ("fashion", "facility"), ("emnist", "facility"),
}  # fmt: skip
#: Other readings of the paper, to see what a difference comes from: its own methods and protocol.
VARIANTS = ("yaleb-knn", "news20-unit", "credit-both")
#: Their settings are draws: the mean over them is reported, each tuned by itself.
DRAWN = ("random", "kmedoids", "kmedoids, alternating", "kmeans", "ksvd", "coreset")
#: The paper's further relatives, on a set that is not large.
RELATIVES = ("ssc", "ssc-omp", "ksvd", "coreset", "fw-coreset", "fw-coreset, ball")
OF_RELATIVES = ("credit", "digits")


def keys(quick: bool) -> Iterator[Key]:
    for name in ["digits"] if quick else SETS:
        for standardised in STANDARDISED.get(name, (False,)):
            for method in ("all", *selection.METHODS):
                if (name, method) in TOO_SLOW:
                    continue
                if "unit norm" in method and name not in DRAWS_OF:
                    continue
                if method in RELATIVES and name not in OF_RELATIVES:
                    continue
                if name in VARIANTS and not (method in PAPER["accuracy"] or "norm" in method):
                    continue
                for protocol in protocols(name):
                    more = MANY_DRAWS.get((name, method), 0) if protocol == "paper" else 0
                    for draw in range(max(more, len(draws(name)))):
                        yield {
                            "data": name, "standardised": standardised, "method": method,
                            "protocol": protocol, "draw": draw,
                        }  # fmt: skip


def protocols(name: str) -> tuple[str, ...]:
    if name in VARIANTS:
        return ("paper",)
    return ("paper", "tune", "test") if name.startswith("credit") else ("paper", "tune")


def split_of(name: str, standardised: bool, protocol: str, draw: int) -> sets.Split:
    split = sets.load(name, draw) if name in DRAWS_OF else sets.load(name)
    if protocol == "tune":
        split = sets.inner(split)
    if standardised:
        split = sets.standardised(split, independently=protocol == "paper" and "credit" in name)
    return split


def measure(data: str, standardised: bool, method: str, protocol: str, draw: int) -> Result:
    split = split_of(data, standardised, protocol, draw)
    if method == "all":
        tried: selection.Tried = [({}, np.arange(len(split.y)))]
    else:
        tried = selection.chosen(split, selection.METHODS[method])
    grids = {kind: _grid(data, standardised, kind) for kind in SETS[data]}
    known: dict[bytes, dict[str, Any]] = {}  # settings often choose the same points
    settings = []
    for setting, rows in tried:
        name = np.sort(rows).tobytes()
        if name not in known:
            known[name] = {
                kind: [round(v, 4) for v in learn.scores(split, rows, kind, grid).values()]
                for kind, grid in grids.items()
            }
        settings.append({**setting, "exemplars": len(rows), **known[name]})
    sizes = {
        "classes": len(np.unique(split.y)), "train": len(split.y), "valid": len(split.y_test),
        "d": split.X.shape[1], "k": split.k,
    }  # fmt: skip
    return {"sizes": sizes, "grids": grids, "settings": settings}


def _grid(name: str, standardised: bool, kind: str) -> list[float]:
    grid = SETS[name][kind]
    if name == "yaleb" and kind == "svm" and not standardised:
        return [10 * value for value in grid]  # pixels from 0 to 1 are smaller
    return grid


# What the tables say.


def best_of(
    store: Store, name: str, kind: str, method: str, of: range | None = None, **narrow: Any
) -> list[float]:
    """Tuned as the paper does: the best on the validation points, one value for each draw of them;
    of methods that draw the mean best of a draw."""
    found = [_values(store, name, kind, method, "paper", d, narrow) for d in of or draws(name)]
    if method in DRAWN:
        return [float(np.mean(by_draw(values))) for values in found if values]
    return [max(values.values()) for values in found if values]


def draws(name: str) -> range:
    return range(DRAWS_OF.get(name, 1))


def by_draw(found: dict[tuple[str, ...], float]) -> list[float]:
    """The best of each draw."""
    best: dict[str, float] = {}
    for (_, setting, _), value in found.items():
        best[setting] = max(value, best.get(setting, 0.0))
    return list(best.values())


def honest(store: Store, name: str, kind: str, method: str, **narrow: Any) -> list[float]:
    """Tuned within the training points, tested once; one value for each draw of the test points."""
    found = []
    for draw in draws(name):
        tuned = _values(store, name, kind, method, "tune", draw, narrow)
        last = "test" if "test" in protocols(name) else "paper"
        tested = _values(store, name, kind, method, last, draw, narrow)
        if not tuned or not tested:
            continue
        groups: dict[str, list[tuple[str, ...]]] = {}
        for at in tuned:
            groups.setdefault(at[1] if method in DRAWN else "", []).append(at)
        best = [max(same, key=tuned.__getitem__) for same in groups.values()]
        found.append(float(np.mean([tested[at] for at in best])))
    return found


def _values(
    store: Store, name: str, kind: str, method: str, protocol: str, draw: int,
    narrow: dict[str, Any],
) -> dict[tuple[str, ...], float]:
    """The value of every setting: (standardised, setting of the method, of the classifier)."""
    found: dict[tuple[str, ...], float] = {}
    for standardised in STANDARDISED.get(name, (False,)):
        if narrow.get("standardised", standardised) != standardised:
            continue
        key = {"data": name, "standardised": standardised, "method": method,
               "protocol": protocol, "draw": draw}
        if key not in store:
            continue
        for setting in store[key]["settings"]:
            told = {**setting, "standardised": standardised}
            if any(told.get(word) != value for word, value in narrow.items()):
                continue
            words = {w: v for w, v in setting.items() if w not in (*SETS[name], "exemplars")}
            for of, value in enumerate(setting[kind]):
                found[str(standardised), json.dumps(words), str(of)] = value
    return found


def parts(stores: dict[str, Store], folder: Path) -> dict[str, str]:
    store = stores["labelled"]
    at = [(name, kind) for name, kind in PAPER["columns"]]
    others = [(n, kind) for n in ("mnist", "fashion") for kind in SETS[n]]
    columns = [(n, kind) for n, kind in at + others if store.find(data=n)]
    if not columns:  # the quick run
        columns = [("digits", kind) for kind in SETS["digits"]]
    head = ["", *(f"{sets.SETS[n][0]} {LABELS[kind]}" for n, kind in columns)]
    rows: dict[str, tuple[str, dict[str, Any]]] = {}
    shown = {name for name, _ in columns}
    for method in ("all", *selection.METHODS):
        if not any(key["data"] in shown for key, _ in store.find(method=method)):
            continue
        if "fwsr" in method:
            rows |= {f"{method} ({when})": (method, {"when": when}) for when in ("stop", "grow")}
        else:
            rows[method] = (method, {})

    def paper_of(method: str, column: tuple[str, str]) -> float | None:
        known = PAPER["accuracy"].get(method)
        return known[at.index(column)] if known and column in at else None

    as_paper = [
        [label, *(
            beside(mean(best_of(store, name, kind, method, **narrow)),
                   paper_of(method, (name, kind)))
            for name, kind in columns
        )]
        for label, (method, narrow) in rows.items()
    ]  # fmt: skip
    fair = [
        [label, *(mean(honest(store, name, kind, method, **narrow)) for name, kind in columns)]
        for label, (method, narrow) in rows.items()
    ]
    lucky = [
        [f"{method}, best of {selection.DRAWS}", *(
            mean([max(values.values()) for draw in draws(name)
                  if (values := _values(store, name, kind, method, "paper", draw, {}))])
            for name, kind in columns
        )]
        for method in DRAWN
    ]  # fmt: skip
    return {
        "table2": _sizes(store),
        "table3": table(head, as_paper),
        "table3-honest": table(head, fair),
        "table3-lucky": table(head, lucky),
        "table3-variants": _variants(store),
        "table3-draws": _many_draws(store),
        "table3-edges": _edges(store, columns),
        "table3-settings": _by_setting(store, [c for c in columns if c in at]),
    }


def mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _variants(store: Store) -> str:
    """Other readings of some columns, with the spread over draws of the validation points."""
    columns = [("yaleb-knn", "knn"), ("news20-unit", "knn"), ("credit", "svm"),
               ("credit", "knn"), ("credit-both", "svm"), ("credit-both", "knn")]  # fmt: skip
    rows = [
        [method, *(_spread(best_of(store, name, kind, method)) for name, kind in columns)]
        for method in (*PAPER["accuracy"], "fwsr, unit norm")
    ]
    return table(["", *(f"{sets.SETS[n][0]} {LABELS[kind]}" for n, kind in columns)], rows)


def _spread(values: list[float]) -> str | None:
    if not values:
        return None
    return f"{np.mean(values):.3f}" + (f" ± {np.std(values):.3f}" if len(values) > 1 else "")


def _many_draws(store: Store) -> str:
    """F1 on Credit over many draws of the validation points."""
    rows = []
    for (name, method), count in MANY_DRAWS.items():
        for kind in SETS[name]:
            found = best_of(store, name, kind, method, range(count))
            if found:
                paper = PAPER["accuracy"][method][PAPER["columns"].index([name, kind])]
                rows.append([f"{method}, {LABELS[kind]}", len(found), float(np.mean(found)),
                             float(np.std(found)), min(found), max(found), paper])  # fmt: skip
    return table(["Credit", "draws", "mean", "deviation", "least", "most", "paper"], rows)


def _edges(store: Store, columns: list[tuple[str, str]]) -> str:
    """Where the best setting of a classifier is the first or the last that was tried."""
    found = []
    for name, kind in columns:
        if kind == "knn":  # from one neighbour on there is nothing before the first
            continue
        at_end = []
        for method in ("all", *selection.METHODS):
            values = _values(store, name, kind, method, "paper", 0, {})
            if values:
                best = max(values, key=values.__getitem__)
                last = max(int(of) for _, _, of in values)
                if int(best[2]) in (0, last):
                    at_end.append(method)
        if at_end:
            found.append(f"{sets.SETS[name][0]} {LABELS[kind]} ({'; '.join(at_end)})")
    return "Best at an end of the classifier's grid: " + "; ".join(found) + "." if found else ""


def _by_setting(store: Store, columns: list[tuple[str, str]]) -> str:
    """What single settings come to, where the paper may have tried fewer."""
    cases: list[tuple[str, str, dict[str, Any]]] = [
        (f"k-fwsr, gamma x {width:g}", "k-fwsr", {"width": width, "when": "stop"})
        for width in selection.WIDTHS
    ]
    cases += [
        (f"rrqr, center {center}, scale {scale}", "rrqr", {"center": center, "scale": scale})
        for center in ("none", "point")
        for scale in ("none", "unit")
    ]
    cases += [
        (f"{method}, not standardised", method, {"standardised": False})
        for method in ("random", "fwsr", "kmedoids", "smrs")
    ]
    rows = [
        [label, *(mean(best_of(store, n, kind, method, **only)) for n, kind in columns)]
        for label, method, only in cases
    ]
    return table(["", *(f"{sets.SETS[n][0]} {LABELS[kind]}" for n, kind in columns)], rows)


def _sizes(store: Store) -> str:
    words = ["classes", "train", "valid", "d", "k"]
    names = ("yaleb", "news20", "credit", "emnist", "mnist", "fashion")
    found = {n: store.find(data=n, method="all", protocol="paper") for n in names}
    rows = [
        [sets.SETS[n][0], *(_pair(ours[0][1]["sizes"][w], PAPER["sizes"].get(n, {}).get(w))
                            for w in words)]
        for n, ours in found.items() if ours
    ]  # fmt: skip
    return table(["", "classes", "training points", "validation points", "features",
                  "k of a class"], rows)  # fmt: skip


def _pair(ours: int, paper: int | None) -> str:
    return f"{ours:,}" if paper is None else f"{ours:,} ({paper:,})"


LABELS = {"svm": "SVM", "knn": "k-NN", "mnb": "MNB"}
