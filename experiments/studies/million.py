"""Beyond the paper: exemplars of a million points, with a classifier at the end.

The points are images of MNIST and Fashion-MNIST (20 classes), moved by up to two pixels each way,
brightened or darkened, halved to 14 x 14 pixels, with noise. Random points get as much time as FWSR
takes to choose, train and predict: sizes are doubled, and the table says which of them fit that
time. All run on one thread; seconds are those of the processor.
"""

from __future__ import annotations

import functools
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import fwsr

from .. import data, figures, learn, page
from ..store import Key, Result, Store

ALONE = True
POINTS, FEW = 1_000_000, 20_000  # FEW: for a quick look
#: How many of each class, and how.
CHOSEN: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "fwsr": ((10, 25, 50, 100), {"method": "fwsr", "certificate": "none"}),
    "fwsr, cosine": (
        (10, 25, 50, 100), {"method": "fwsr", "kernel": "cosine", "certificate": "none"}
    ),
    "k-fwsr": ((10, 25, 50, 100), {"method": "k-fwsr", "rank": 256, "certificate": "none"}),
    "kmeans": ((10, 25, 50), {"method": "kmeans", "max_iterations": 20}),
}
DRAWN = (10, 25, 50, 100, 200, 400, 800, 1600)
DRAWS = 3
GRID = [1e-3, 1e-2, 1e-1]
CLASSES = 20


def keys(quick: bool) -> list[Key]:
    made: list[Key] = [
        {"points": FEW, "method": method, "k": 10, "draw": 0} for method in ("fwsr", "random")
    ]
    if quick:
        return made
    made += [
        {"points": POINTS, "method": method, "k": k, "draw": 0}
        for method, (numbers, _) in CHOSEN.items()
        for k in numbers
    ]
    return made + [
        {"points": POINTS, "method": "random", "k": k, "draw": draw}
        for k in DRAWN
        for draw in range(DRAWS if k <= 200 else 1)
    ]


@dataclass(frozen=True)
class Images:
    """Points class after class, as many of each; some to tune on, some to test on."""

    classes: np.ndarray  # class, point, pixel
    tuning: data.Split
    test: data.Split


def _distorted(images: np.ndarray, draws: np.random.Generator) -> np.ndarray:
    """28 x 28 pixels to 14 x 14: moved, of another brightness, with noise."""
    padded = np.pad(images.reshape(-1, 28, 28), ((0, 0), (2, 2), (2, 2)))
    moves = draws.integers(0, 5, (len(images), 2))
    small = np.empty((len(images), 14, 14), np.float32)
    for down in range(5):
        for right in range(5):
            rows = np.flatnonzero((moves == (down, right)).all(axis=1))
            moved = padded[rows, down : down + 28, right : right + 28]
            small[rows] = moved.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4))
    small *= draws.uniform(0.7, 1.3, (len(images), 1, 1)).astype(np.float32)
    small += 0.05 * draws.standard_normal(small.shape, np.float32)
    return small.reshape(-1, 196)


@functools.lru_cache(1)
def _images(points: int) -> Images:
    draws = np.random.default_rng(0)
    each = points // CLASSES
    classes = np.empty((CLASSES, each, 196), np.float32)
    tuning, test, y_tuning, y_test = [], [], [], []
    for first, source in ((0, data.mnist()), (10, data.fashion())):
        for label in range(10):
            own = source.X[source.y == label]
            kept = 9 * len(own) // 10  # the other images are for tuning
            for start in range(0, each, 10_000):
                drawn = own[draws.integers(0, kept, min(10_000, each - start))]
                classes[first + label, start : start + 10_000] = _distorted(drawn, draws)
            tuning.append(_distorted(own[kept : kept + 250], draws))
            y_tuning.append(np.full(len(tuning[-1]), first + label))
        test.append(_distorted(source.X_test, draws))
        y_test.append(source.y_test + first)
    y = np.repeat(np.arange(CLASSES), each)
    flat = classes.reshape(-1, 196)
    splits = [
        data.Split(flat, y, np.concatenate(X), np.concatenate(labels), k=0)
        for X, labels in ((tuning, y_tuning), (test, y_test))
    ]
    return Images(classes, *splits)


def measure(points: int, method: str, k: int, draw: int) -> Result:
    with threadpool_limits(1):
        images = _images(points)
        each = points // CLASSES
        start = time.process_time()
        if method == "random":
            draws = np.random.default_rng(draw)
            chosen = [draws.choice(each, k, replace=False) for _ in range(CLASSES)]
        else:
            chosen = [
                fwsr.select(X, k, n_jobs=1, **CHOSEN[method][1]).exemplars for X in images.classes
            ]
        rows = np.concatenate([label * each + own for label, own in enumerate(chosen)])
        found: Result = {"chosen": len(rows), "select_seconds": time.process_time() - start}

        tuned = learn.scores(images.tuning, rows, "svm", GRID)
        best = float(max(tuned, key=lambda setting: tuned[setting]))
        for classifier, setting in (("svm", best), ("knn", 1.0)):
            start = time.process_time()
            (found[classifier],) = learn.scores(images.test, rows, classifier, [setting]).values()
            found[f"{classifier}_seconds"] = time.process_time() - start
        return found


# --- tables and figure ---------------------------------------------------------------------------


def parts(stores: dict[str, Store], folder: Path) -> dict[str, str]:
    lines = _means(stores["million"])
    if not lines:
        return {}
    _draw(lines, folder)
    words = "accuracy against the number of points and against seconds, of a million points"
    return {"million-sizes": _table(lines), "million-figure": page.figure("million", words)}


def _means(store: Store) -> dict[tuple[str, int], dict[str, float]]:
    """By method and k, over the draws."""
    grouped: dict[tuple[str, int], list[Result]] = {}
    for key, result in store.find(points=POINTS):
        grouped.setdefault((key["method"], key["k"]), []).append(result)
    return {
        name: {what: statistics.mean(r[what] for r in results) for what in results[0]}
        for name, results in grouped.items()
    }


def _seconds(line: dict[str, float], classifier: str) -> float:
    return line["select_seconds"] + line[f"{classifier}_seconds"]


def _table(lines: dict[tuple[str, int], dict[str, float]]) -> str:
    rows = []
    for (method, k), line in lines.items():
        if method == "random":
            continue
        row: list[object] = [f"{method}, {k} of a class", f"{line['select_seconds']:.1f}"]
        for classifier in ("svm", "knn"):
            limit = _seconds(line, classifier)
            in_time = [
                (other_k, other)
                for (name, other_k), other in lines.items()
                if name == "random" and _seconds(other, classifier) <= limit
            ]
            most, best = max(in_time, key=lambda pair: pair[0])
            size = f"{most} or more" if most == DRAWN[-1] else f"{most}"
            row += [
                f"{line[f'{classifier}_seconds']:.1f}", line[classifier],
                lines["random", k][classifier], f"{best[classifier]:.3f} ({size})",
            ]
        rows.append(row)
    head = [
        "", "choosing, s",
        "SVM, s", "accuracy", "random, same size", "random, same time (of a class)",
        "1-NN, s", "accuracy", "random, same size", "random, same time (of a class)",
    ]
    return page.table(head, rows)


def _draw(lines: dict[tuple[str, int], dict[str, float]], folder: Path) -> None:
    made, panels = figures.new(13, 3.6, 4)
    shown = [(c, x) for c in ("svm", "knn") for x in ("points", "seconds")]
    for axes, (classifier, x) in zip(panels, shown):
        for method in dict.fromkeys(name for name, _ in lines):
            own = [line for (name, _), line in lines.items() if name == method]
            at = [line["chosen"] if x == "points" else _seconds(line, classifier) for line in own]
            name, _, kernel = method.partition(", ")
            axes.semilogx(
                at, [line[classifier] for line in own], label=method, markersize=4, linewidth=1.4,
                linestyle="--" if kernel else "-", fillstyle="none" if kernel else "full",
                **figures.style_of(name),
            )
        axes.set_title("SVM" if classifier == "svm" else "1-NN", fontsize=9)
        axes.set_xlabel("points trained on" if x == "points" else "seconds, all together")
    panels[0].set_ylabel("accuracy")
    panels[0].legend(fontsize=7)
    figures.save(made, folder, "million")
