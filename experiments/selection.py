"""Methods of selection with the settings that are tried, class by class."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import euclidean_distances

import fwsr

from .data import Split

Setting = dict[str, Any]
#: From the points of one class and k: what was tried, and which points that chose.
Tried = list[tuple[Setting, np.ndarray]]
Method = Callable[[Any, int], Tried]

#: 24 settings of FWSR, K-FWSR and SMRS.
ALPHAS = [0.5, 1.0, 2.5, 5.0, 15.0, 50.0]
ETAS = [0.0, 0.3, 1.0, 3.0]  # in units of the root-mean-square norm of the centred points
WIDTHS = [0.25, 1.0, 4.0, 16.0]  # of gamma, in units of 1 / median squared distance
SMRS_ALPHAS = [1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0, 200.0]
SMRS_SPARSE = [1.5, 2.0, 2.5, 3.0, 4.0, 5.0]
#: Twelve settings of SSC, six of SSC-OMP, whose sparsity is all there is to set.
SSC_ALPHAS = [1.5, 3.0, 7.0, 15.0, 50.0, 200.0]
SSC_SPARSITIES = [1, 2, 3, 5, 8, 12]
DRAWS = 20
#: Nobody looks at the certificate here, and it can cost more than the choice.
QUIET: dict[str, Any] = {"certificate": "none"}


def frank_wolfe(X: Any, k: int, **options: Any) -> Tried:
    """Each setting twice: ending when the gap closes, as the paper, and going on to k exemplars."""
    options = {"eta_relative": True, **QUIET, **options}
    return [
        ({"alpha": s.alpha, "eta": eta, "when": when}, s.selection.exemplars)
        for when in ("stop", "grow")
        for s, eta in zip(
            fwsr.sweep(X, k, ALPHAS, ETAS, when_converged=when, **options), ETAS * len(ALPHAS)
        )
    ]


def kernel_frank_wolfe(X: Any, k: int) -> Tried:
    gamma = 1 / median_squared_distance(X)
    return [
        ({"alpha": s.alpha, "width": width, "when": when}, s.selection.exemplars)
        for when in ("stop", "grow")
        for width in WIDTHS
        for s in fwsr.sweep(
            X, k, ALPHAS, [0.0], kernel="rbf", gamma=width * gamma, when_converged=when, **QUIET
        )
    ]


def median_squared_distance(X: Any) -> float:
    """Of up to 1000 evenly spaced points; equal points left out."""
    some = X[np.unique(np.linspace(0, X.shape[0] - 1, 1000).astype(int))]
    squared = euclidean_distances(some, squared=True)
    return float(np.median(squared[squared > 1e-12 * squared.max()]))


def smrs(X: Any, k: int) -> Tried:
    """On sparse points half of the settings, about the best: each takes long over all classes."""
    alphas = SMRS_SPARSE if scipy.sparse.issparse(X) else SMRS_ALPHAS
    return [
        ({"alpha": alpha, "affine": affine}, _select(X, k, "smrs", alpha=alpha, affine=affine))
        for alpha in alphas
        for affine in (True, False)
    ]


def ssc(X: Any, k: int) -> Tried:
    return [
        ({"alpha": alpha, "affine": affine}, _select(X, k, "ssc", alpha=alpha, affine=affine))
        for alpha in SSC_ALPHAS
        for affine in (True, False)
    ]


def ssc_omp(X: Any, k: int) -> Tried:
    return [
        ({"sparsity": sparsity}, _select(X, k, "ssc-omp", sparsity=sparsity))
        for sparsity in SSC_SPARSITIES
    ]


def rrqr(X: Any, k: int) -> Tried:
    return [
        (
            {"center": center, "scale": scale},
            _select(X, k, "rrqr", center=center, scale=scale),
        )
        for center in ("none", "point")
        for scale in ("none", "unit")
    ]


def drawn(method: str, **settings: Any) -> Method:
    """A method that draws at random: 20 times."""
    return lambda X, k: [
        ({"seed": seed}, _select(X, k, method, seed=seed, **settings)) for seed in range(DRAWS)
    ]


def medoids(**settings: Any) -> Method:
    """k-medoids, 20 times on distances that are computed once."""

    def run(X: Any, k: int) -> Tried:
        distances = euclidean_distances(X)
        return drawn("kmedoids", metric="precomputed", **settings)(distances, k)

    return run


def single(method: str, **settings: Any) -> Method:
    """A method as it is, without tuning."""
    return lambda X, k: [({}, _select(X, k, method, **settings))]


def _select(X: Any, k: int, method: str, **settings: Any) -> np.ndarray:
    return fwsr.select(X, k, method=method, **QUIET, **settings).exemplars


#: In the order of the tables.
METHODS: dict[str, Method] = {
    "random": drawn("random"),
    "fwsr": frank_wolfe,
    "fwsr, unit norm": functools.partial(frank_wolfe, scale="unit"),
    "k-fwsr": kernel_frank_wolfe,
    "kmedoids": medoids(),
    "kmedoids, alternating": medoids(algorithm="alternating"),
    "rrqr": rrqr,
    "smrs": smrs,
    "kmeans": drawn("kmeans"),
    "facility": single("facility"),
    "greedy-cssp": single("greedy-cssp"),
    "omp": single("omp"),
    "kdpp": single("kdpp"),
    "ssc": ssc,
    "ssc-omp": ssc_omp,
    "ksvd": drawn("ksvd", sparsity=3),
    "coreset": drawn("coreset"),
    "fw-coreset": single("fw-coreset"),
    "fw-coreset, ball": single("fw-coreset", problem="ball"),
}


def chosen(split: Split, method: Method) -> Tried:
    """What a method chooses from every class, each with the same setting: rows of the split."""
    whole = [label for label in np.unique(split.y) if split.only and label not in split.only]
    kept = np.flatnonzero(np.isin(split.y, whole))
    by_class = []
    for label in np.setdiff1d(split.y, whole):
        rows = np.flatnonzero(split.y == label)
        by_class.append([(s, rows[picks]) for s, picks in method(split.X[rows], split.k)])
    return [
        (settings[0], np.concatenate([*picks, kept]))
        for settings, picks in (zip(*same) for same in zip(*by_class, strict=True))
    ]
