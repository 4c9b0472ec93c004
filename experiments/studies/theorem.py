"""Theorem 1: f(X_t) falls linearly for beta > n, in general sublinearly for beta <= n.

Lemma 1 of its proof: for beta > n the line search never ends at its bound, gamma_t < 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import fwsr

from .. import data, figures, page
from ..store import Key, Result, Store

ALPHAS = [0.5, 0.9, 2, 5, 20]
SETS = {
    "normal-10": "normal, 100 x 10",
    "normal-50": "normal, 200 x 50",
    "wine": "wine, 124 x 13",
    "cancer": "breast cancer, 398 x 30",
    "digits": "digits, 300 x 64",
}
#: Steps of a run. For beta <= n the rate is that of the first fifth, since f at the end stands for
#: the optimum.
STEPS = {"cancer": 200_000, "digits": 200_000}
FEWER_STEPS = 20_000
#: Below this part of f(0) there is nothing but rounding.
FLOOR = 1e-15

#: beta / n from and to, drawn uniformly on a log scale.
BANDS = [(1.0001, 20), (0.3, 1), (0.1, 0.3), (0.03, 0.1), (0.01, 0.03)]
PROBLEMS = 200


def keys(quick: bool) -> Iterator[Key]:
    for name in ["normal-10"] if quick else SETS:
        for alpha in ALPHAS:
            yield {"data": name, "alpha": alpha}
    for low, high in BANDS:
        yield {"low": low, "high": high}


def measure(**key: Any) -> Result:
    return _rate(**key) if "data" in key else _lemma(**key)


def points_of(name: str) -> np.ndarray:
    if name.startswith("normal"):
        d = int(name.partition("-")[2])
        return np.random.default_rng(0).normal(size=(100 if d == 10 else 200, d))
    X = data.load(name).X[:400]
    if name == "digits":
        return X[:300]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def _rate(data: str, alpha: float) -> Result:
    X = points_of(data)
    limit = STEPS.get(data, FEWER_STEPS)
    run = fwsr.select(
        X, len(X), method="fwsr", alpha=alpha, when_converged="stop", delta=1e-25,
        max_iterations=limit, n_jobs=1,
    )
    f = run.trace["f"] / run.f_at_zero
    optimum = 0.0 if f[-1] < FLOOR or alpha < 1 else float(f[-1])  # alpha < 1: X = I is feasible
    above = f - optimum if optimum == 0 else f[: limit // 5] - optimum
    above = above[: _first_below(above, FLOOR)]
    steps = np.arange(1, len(above) + 1)
    shown = np.unique(
        np.concatenate([np.geomspace(1, len(above), 40), np.linspace(1, len(above), 40)])
    ).astype(int)
    half, tail = len(above) // 2, slice(len(above) // 10, None)
    return {
        "rank": int(np.linalg.matrix_rank(X - X.mean(axis=1, keepdims=True))),
        "steps": len(above),
        "optimum": optimum,
        "first_half": _slope(above[tail.start : half]),
        "second_half": _slope(above[half:]),
        "power": float(np.polyfit(np.log(steps[tail]), np.log(above[tail]), 1)[0]),
        "clipped": int((run.trace["step_size"] >= 1).sum()),
        "shown": [[int(t), float(f"{above[t - 1]:.3e}")] for t in shown],
    }


def _first_below(values: np.ndarray, floor: float) -> int:
    low = np.flatnonzero(values <= floor)
    return int(low[0]) if len(low) else len(values)


def _slope(values: np.ndarray) -> float:
    """Of log10 against the step, per 1000 steps."""
    return float(1000 * np.polyfit(np.arange(len(values)), np.log10(values), 1)[0])


def _problem(random: np.random.Generator) -> np.ndarray:
    """Points of any shape, rank and spread of lengths; some are copies."""
    n, d = int(random.integers(2, 41)), int(random.integers(1, 41))
    rank = int(random.integers(1, min(n, d) + 1))
    X = random.normal(size=(n, rank)) @ random.normal(size=(rank, d))
    X *= np.exp(random.choice([0, 1, 2]) * random.normal(size=(n, 1)))
    if random.random() < 0.3:
        X = X[random.integers(n, size=n)]
    return X


def _lemma(low: float, high: float) -> Result:
    steps = clipped = later = problems = 0
    largest = 0.0
    for number in range(PROBLEMS):
        random = np.random.default_rng([number, round(1e4 * low)])
        X = _problem(random)
        beta = len(X) * np.exp(random.uniform(np.log(low), np.log(high)))
        run = fwsr.select(
            X, len(X), method="fwsr", beta=beta, eta=random.choice([0, 1]), center="none",
            n_jobs=1, when_converged="stop", delta=1e-12, max_iterations=300,
        )
        gamma = run.trace["step_size"]
        steps += len(gamma)
        clipped += int((gamma >= 1).sum())
        later += int((gamma[1:] >= 1).sum())
        problems += bool((gamma >= 1).any())
        largest = max(largest, float(gamma.max()))
    return {
        "steps": steps, "clipped": clipped, "later": later, "problems": problems,
        "largest": largest,
    }  # fmt: skip


def parts(stores: dict[str, Store], folder: Path) -> dict[str, str]:
    store = stores["theorem"]
    rates = [(key, result) for key, result in store if "data" in key]
    head = ["points", "rank", "beta / n", "optimum / f(0)", "steps", "first half", "second half",
            "power of t"]
    rows = [
        [SETS[key["data"]], r["rank"], f"{1 / key['alpha']:.2g}", f"{r['optimum']:.2g}",
         r["steps"], f"{r['first_half']:.3g}", f"{r['second_half']:.3g}", f"{r['power']:.1f}"]
        for key, r in rates
    ]
    lemma = [
        [f"{key['low']:g} to {key['high']:g}", PROBLEMS, r["steps"], r["clipped"], r["later"],
         r["problems"], r["largest"]]
        for key, r in store if "low" in key
    ]
    _draw(rates, folder)
    return {
        "theorem-figure": page.figure("theorem", "f above its optimum against the steps"),
        "theorem-rates": page.table(head, rows),
        "theorem-lemma": page.table(
            ["beta / n", "problems", "steps", "clipped steps", "after the first",
             "problems with one", "largest gamma"], lemma,
        ),
    }


def _draw(rates: list[tuple[Key, Result]], folder: Path) -> None:
    names = list(dict.fromkeys(key["data"] for key, _ in rates))
    made, axes = figures.new(2.6 * max(len(names), 2), 3.4, columns=max(len(names), 2))
    colours = dict(zip(ALPHAS, ["#67000d", "#d62728", "#ff7f0e", "#2ca02c", "#1f77b4"]))
    for place, name in zip(axes, names):
        for key, result in rates:
            if key["data"] == name:
                steps, above = zip(*result["shown"])
                ratio = 1 / key["alpha"]
                place.plot(steps, above, "-" if ratio > 1 else "--", color=colours[key["alpha"]],
                           linewidth=1.4, label=f"beta = {ratio:.2g} n")
        longest = max(r["steps"] for key, r in rates if key["data"] == name and key["alpha"] < 1)
        place.set_xlim(0, longest)
        place.locator_params(axis="x", nbins=3)
        place.set_yscale("log")
        place.set_title(SETS[name], fontsize=9)
        place.set_xlabel("step")
    axes[0].set_ylabel("(f - optimum) / f(0)")
    axes[0].legend(fontsize=7, frameon=False)
    figures.save(made, folder, "theorem")
