"""What the paper says in passing: q = 2 is best, X >= 0 brings nothing, about k steps suffice, and
Eq. (1) is at least the reverse Huber problem, which is at least the group lasso.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import fwsr

from .. import data, learn, page, relaxations
from ..store import Key, Result, Store

#: The norm on the rows, with codes of any sign or without negative ones.
VARIANTS: dict[str, dict[str, Any]] = {
    "q = 2": {"q": 2},
    "q = 1": {"q": 1},
    "q = inf": {"q": "inf"},
    "q = 2, X >= 0": {"q": 2, "nonneg": True},
}
ALPHAS = [0.5, 2, 10]
COSTS = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0]  # the C of the SVM
LABELLED = {"digits": "digits", "wine": "wine", "cancer": "breast cancer", "yaleb": "10 of Yale B"}

STEP_ALPHAS, STEP_ETAS = [0.1, 0.5, 2, 10, 50], [0, 0.3, 1, 3, 10]
STEP_SETS = ["digits", "wine", "cancer", "yaleb", "normal"]
STEP_COUNTS = [10, 40]

PARTS, PROBLEMS = 5, 100


def keys(quick: bool) -> Iterator[Key]:
    for name in ["wine"] if quick else LABELLED:
        for variant in VARIANTS:
            yield {"data": name, "variant": variant}
    for name in ["wine", "normal"] if quick else STEP_SETS:
        for k in STEP_COUNTS:
            yield {"steps": name, "k": k}
    for part in range(1 if quick else PARTS):
        yield {"problems": part}


def measure(**key: Any) -> Result:
    if "data" in key:
        return _accuracy(**key)
    return _steps(key["steps"], key["k"]) if "steps" in key else _relaxations(key["problems"])


def split_of(name: str) -> data.Split:
    split = data.load(name)
    if name == "yaleb":
        test = split.y_test < 10
        split = data.Split(
            *(split.X[split.y < 10], split.y[split.y < 10]),
            *(split.X_test[test], split.y_test[test]), k=split.k,
        )
    return data.standardised(split, independently=False) if name in ("wine", "cancer") else split


def _accuracy(data: str, variant: str) -> Result:
    """For each alpha: what the exemplars do not span, and what classifiers make of them."""
    split = split_of(data)
    result: Result = {"error": [], "nearest": [], "svm": [], "steps": []}
    for alpha in ALPHAS:
        chosen = fwsr.select(
            split.X, split.k, method="fwsr", y=split.y, per_class=True, alpha=alpha, n_jobs=1,
            **VARIANTS[variant],
        )
        parts = list(chosen.classes.values())
        error = np.mean([c.reconstruction_error for c in (one.certificate for one in parts) if c])
        steps = sum(len(one.trace["f"]) for one in parts)
        result["error"].append(round(float(error), 5))
        result["nearest"].append(learn.scores(split, chosen.exemplars, "knn", [1])["1"])
        result["svm"].append(max(learn.scores(split, chosen.exemplars, "svm", COSTS).values()))
        result["steps"].append(round(steps / len(chosen), 3))
    return result


def _steps(name: str, k: int) -> Result:
    """Steps to k exemplars, with the radius as given; None where they are not reached."""
    X = np.random.default_rng(0).normal(size=(500, 100)) if name == "normal" else split_of(name).X
    centred = X - X.mean(axis=1, keepdims=True)
    scale = float(np.sqrt((centred**2).sum(axis=1).mean()))
    found = fwsr.sweep(
        X, k, STEP_ALPHAS, [eta * scale for eta in STEP_ETAS], when_converged="stop",
        max_iterations=100 * k, n_jobs=1,
    )
    return {
        "ratio": [
            len(one.selection.trace["f"]) / k if len(one.selection) == k else None for one in found
        ],
        "rank": int(np.linalg.matrix_rank(centred)),
    }


def _relaxations(part: int) -> Result:
    """Each optimum by upper and lower bounds, on problems of at most 12 points."""
    rows = []
    for number in range(PROBLEMS):
        random = np.random.default_rng([part, number])
        d, n = int(random.integers(2, 9)), int(random.integers(3, 13))
        A = random.normal(size=(d, n)) * np.exp(random.choice([0, 1]) * random.normal(size=n))
        size = float((A**2).sum()) / n
        lambda_ = size * 10 ** random.uniform(-2, 0.3)
        rho = float(np.sqrt(size * 10 ** random.uniform(-2, 0.5)))
        exact = relaxations.boolean(A, lambda_, rho)
        huber = relaxations.convex(A, lambda_, rho, huber=True)
        lasso = relaxations.convex(A, lambda_, rho, huber=False)
        rows.append([exact, *huber, *lasso])
    exact, upper, lower, lasso, lasso_lower = np.array(rows).T
    return {
        "gap": float(max(((upper - lower) / upper).max(), ((lasso - lasso_lower) / lasso).max())),
        "slack_boolean": float(((exact - upper) / exact).min()),
        "slack_huber": float(((lower - lasso) / exact).min()),
        "huber": np.round(upper / exact, 6).tolist(),
        "lasso": np.round(lasso / exact, 6).tolist(),
    }


def parts(stores: dict[str, Store], folder: Path) -> dict[str, str]:
    store = stores["claims"]
    words = {"error": "part not spanned", "nearest": "1-NN", "svm": "SVM", "steps": "steps / k"}
    rows = []
    for name in dict.fromkeys(key["data"] for key, _ in store if "data" in key):
        found = {key["variant"]: r for key, r in store.find(data=name)}
        for measured, word in words.items():
            best = min if measured in ("error", "steps") else max
            rows.append([LABELLED[name], word, *(
                f"{best(found[v][measured]):.3f} ({np.mean(found[v][measured]):.3f})"
                for v in VARIANTS)])
    return {
        "claims-variants": page.table(["points", "", *VARIANTS], rows),
        **_of_steps(store),
        "claims-relaxations": _of_relaxations(store),
    }


def _of_steps(store: Store) -> dict[str, str]:
    lines = [(key, result) for key, result in store if "steps" in key]
    shape = (len(lines), len(STEP_ALPHAS), len(STEP_ETAS))
    ratios = np.array([r["ratio"] for _, r in lines], dtype=float).reshape(shape)  # None: nan
    rows = []
    for i, alpha in enumerate(STEP_ALPHAS):
        cells = []
        for j in range(len(STEP_ETAS)):
            reached = ratios[:, i, j][~np.isnan(ratios[:, i, j])]
            most = f"{np.median(reached):.2f}, {reached.max():.2f}" if len(reached) else "–"
            cells.append(f"{most}; {len(lines) - len(reached)}")
        rows.append([f"{alpha:g}", *cells])
    words = {**LABELLED, "normal": "normal, 500 x 100"}
    plain = [
        [words[key["steps"]], key["k"], result["rank"], *(
            None if np.isnan(one) else f"{one:.2f}" for one in row
        )]
        for (key, result), row in zip(lines, ratios[:, :, STEP_ETAS.index(0)])
    ]
    return {
        "claims-steps": page.table(
            ["alpha", *(f"eta = {eta:g}" for eta in STEP_ETAS)], rows
        ),
        "claims-rank": page.table(
            ["points", "k", "rank", *(f"alpha = {alpha:g}" for alpha in STEP_ALPHAS)], plain
        ),
    }


def _of_relaxations(store: Store) -> str:
    found = [r for key, r in store if "problems" in key]
    huber, lasso = (np.concatenate([r[name] for r in found]) for name in ("huber", "lasso"))
    rows: list[list[Any]] = [
        ["problems", len(huber)],
        ["largest relative gap of a convex optimum", f"{max(r['gap'] for r in found):.1e}"],
        ["least (Eq. (1) - reverse Huber) / Eq. (1)",
         f"{min(r['slack_boolean'] for r in found):.1e}"],
        ["least (reverse Huber - group lasso) / Eq. (1)",
         f"{min(r['slack_huber'] for r in found):.1e}"],
        ["reverse Huber / Eq. (1), median", float(np.median(huber))],
        ["group lasso / Eq. (1), median", float(np.median(lasso))],
        ["group lasso / Eq. (1), least", float(lasso.min())],
        ["reverse Huber = Eq. (1) within 1e-6", f"{np.mean(huber > 1 - 1e-6):.0%}"],
        ["group lasso = reverse Huber within 1e-6", f"{np.mean(huber - lasso < 1e-6):.0%}"],
    ]
    return page.table(["", ""], rows)
