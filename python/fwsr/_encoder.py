"""Points by their exemplars: codes, nearest exemplars and errors, of points seen or new.

Everything is computed a block of points at a time, in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ._data import Data
from ._results import Selection

_BLOCK_NUMBERS = 1 << 21  # of a dense block: 16 MiB


@dataclass
class Preprocessing:
    """Scaling, then centring, as the core does both (fwsr/prep)."""

    center: str
    scale: str
    normalize: bool = False  # after centring, each point to norm 1: the cosine kernel
    deviation: np.ndarray | None = None  # of each feature, for scale = standard
    mean: np.ndarray | None = None  # of each scaled feature, for center = feature

    @classmethod
    def fitted(cls, center: str, scale: str, normalize: bool, data: Data) -> Preprocessing:
        prep = cls("none" if center == "feature" else center, scale, normalize)
        n, d = data.shape
        if scale == "standard":
            total, squares = np.zeros(d), np.zeros(d)
            for _, rows in data.blocks():
                total += np.asarray(rows.sum(axis=0, dtype=np.float64)).ravel()
            mean = total / n
            for _, rows in data.blocks():
                squares += np.square(_dense(rows) - mean).sum(axis=0)
            deviation = np.sqrt(squares / n)
            constant = deviation <= 16 * np.finfo(float).eps * np.abs(mean)
            prep.deviation = np.where(constant | (deviation == 0), 1.0, deviation)
        if center == "feature":
            total = np.zeros(d)
            for _, rows in data.blocks():
                total += prep._scaled(rows).sum(axis=0)
            prep.mean, prep.center = total / n, center
        return prep

    def _scaled(self, rows: Any) -> np.ndarray:
        rows = _dense(rows)
        if self.scale == "standard":
            return rows / self.deviation
        return _to_norm_one(rows) if self.scale == "unit" else rows

    def __call__(self, rows: Any) -> np.ndarray:
        rows = self._scaled(rows)
        if self.center == "point":
            rows = rows - rows.mean(axis=1, keepdims=True)
        elif self.center == "feature":
            rows = rows - self.mean
        return _to_norm_one(rows) if self.normalize else rows


@dataclass
class Kernel:
    """Inner products between points; given matrices and functions of the user's included."""

    name: str | Callable[..., Any]
    gamma: float = 0.0
    degree: int = 3
    coef0: float = 1.0

    def __call__(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if callable(self.name):
            return np.asarray(self.name(a, b), dtype=np.float64)
        if self.name == "rbf":
            return np.exp(-self.gamma * cdist(a, b, "sqeuclidean"))
        if self.name == "laplacian":
            return np.exp(-self.gamma * cdist(a, b, "cityblock"))
        product = a @ b.T
        if self.name == "polynomial":
            return (self.gamma * product + self.coef0) ** self.degree
        return product

    def diagonal(self, a: np.ndarray) -> np.ndarray:
        if callable(self.name):
            return np.array([float(np.asarray(self.name(row[None], row[None])).item()) for row in a])
        if self.name in ("rbf", "laplacian"):
            return np.ones(len(a))
        squares = np.einsum("ij,ij->i", a, a)
        if self.name == "polynomial":
            return (self.gamma * squares + self.coef0) ** self.degree
        return squares


class Encoder:
    """The exemplars of a selection, ready to represent points.

    Holds the exemplars and, for the codes of the run, the points these are computed from: not the
    data. `given` names a matrix in place of points: "kernel", "distance" or "" for none.
    """

    def __init__(self, data: Data, selection: Selection, kernel: Kernel, *, center: str, scale: str,
                 metric: str | None = None, given: str = ""):
        self.kernel = kernel
        self.metric = metric
        self.given = given
        self.eta = 0.0
        self.theta = self.offset = self.basis = None
        indices = selection.exemplars
        coefficients = None if selection.classes else selection.coefficients
        if coefficients is not None:
            self.theta, self.offset = coefficients["theta"], coefficients["offset"]
            self.eta = selection.eta
        if given:
            self.prep = None
            self.exemplars = indices
            self.basis = None if coefficients is None else coefficients["basis"]
            self.gram = data.rows(indices)[:, indices]
            self.gram = np.asarray(_dense(self.gram))
            return
        self.prep = Preprocessing.fitted(center, scale, kernel.name == "cosine", data)
        self.exemplars = data.rows(indices)
        if coefficients is not None:
            self.basis = data.rows(coefficients["basis"])
        self.gram = None

    # ------------------------------------------------------------------------------- what people ask

    @property
    def has_run_codes(self) -> bool:
        """Whether codes are those of the run, and not the least-squares ones."""
        return self.theta is not None

    def codes(self, data: Data) -> np.ndarray:
        """The codes of the run where it has a formula for them; else those of least squares."""
        if not self.has_run_codes:
            inverse = self._inverse()
            return self._each(data, lambda rows, first: self._products(rows, self.exemplars) @ inverse)

        def block(rows: Any, first: int) -> np.ndarray:
            codes = (self._products(rows, self.basis) + self.eta ** 2) @ self.theta.T
            return codes if self.offset is None else codes + self.offset

        return self._each(data, block)

    def represented_by(self, data: Data) -> np.ndarray:
        """For each point the exemplar with the largest code of the run, else the nearest one."""
        if not self.has_run_codes:
            return self.nearest(data)
        return np.abs(self.codes(data)).argmax(axis=1)

    def nearest(self, data: Data) -> np.ndarray:
        """For each point the nearest exemplar, of equal ones the first."""
        return self._each(data, lambda rows, first: self._distances(rows).argmin(axis=1))

    def distance(self, data: Data) -> np.ndarray:
        """From each point to the nearest exemplar (in the kernel's space: squared)."""
        return self._each(data, lambda rows, first: self._distances(rows).min(axis=1))

    def error(self, data: Data) -> float:
        """The part of the points outside the span of the exemplars."""
        return float(self.error_path(data)[-1])

    def error_path(self, data: Data) -> np.ndarray:
        """The same for the first exemplar, the first two, and so on."""
        if self.given == "distance":
            raise ValueError("dissimilarities have no span; there is no reconstruction error")
        if self.given == "kernel" and data.shape[0] != data.shape[1]:
            raise ValueError("with a precomputed kernel the error is that of the points fitted; give "
                             "their square matrix")
        factor = _triangle(self._gram())
        explained, total = np.zeros(len(factor)), 0.0
        for first, rows in _blocks(data):
            products = self._products(rows, self.exemplars)
            total += float(self._diagonal(rows, first).sum())
            explained += np.square(_solve(factor, products.T)).sum(axis=1)
        if total <= 0:
            return np.zeros(len(factor))
        return np.maximum(0.0, 1.0 - np.cumsum(explained) / total)

    # ------------------------------------------------------------------------------------------ parts

    def _each(self, data: Data, work: Callable[[Any, int], np.ndarray]) -> np.ndarray:
        return np.concatenate([work(rows, first) for first, rows in _blocks(data)])

    def _prepared(self, rows: Any) -> np.ndarray:
        if callable(self.kernel.name):
            return rows
        return self.prep(rows)

    def _products(self, rows: Any, others: Any) -> np.ndarray:
        """The kernel between rows and some of the points fitted."""
        if self.given:
            return _dense(rows[:, others])
        return self.kernel(self._prepared(rows), self._prepared(others))

    def _diagonal(self, rows: Any, first: int) -> np.ndarray:
        if self.given:
            place = np.arange(rows.shape[0])
            return np.asarray(rows[place, place + first], dtype=np.float64).ravel()
        return self.kernel.diagonal(self._prepared(rows))

    def _gram(self) -> np.ndarray:
        if self.gram is None:
            self.gram = self._products(self.exemplars, self.exemplars)
        return self.gram

    def _inverse(self) -> np.ndarray:
        if self.given == "distance":
            raise ValueError("dissimilarities have no codes; predict tells the nearest exemplar")
        return scipy.linalg.pinvh(self._gram(), rtol=1e-10)

    def _distances(self, rows: Any) -> np.ndarray:
        if self.given == "distance":
            return _dense(rows[:, self.exemplars])
        if self.metric in ("manhattan", "cosine"):
            name = {"manhattan": "cityblock", "cosine": "cosine"}[self.metric]
            return cdist(self._prepared(rows), self._prepared(self.exemplars), name)
        products = self._products(rows, self.exemplars)
        return np.diagonal(self._gram()) - 2 * products  # less k(a, a), the same for all


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)


def _to_norm_one(rows: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1.0)


def _blocks(data: Data) -> Any:
    for first, rows in data.blocks(_BLOCK_NUMBERS):
        values = rows.data if sp.issparse(rows) else rows
        if not np.isfinite(values).all():
            raise ValueError("X contains NaN or infinity; remove these points or fill in the values")
        yield first, rows


def _triangle(gram: np.ndarray) -> np.ndarray:
    """Cholesky's factor; the rows of exemplars within the span of those before them are 0."""
    smallest = 1e-12 * np.diagonal(gram).max(initial=0.0)
    try:
        factor = np.linalg.cholesky(gram)
        if (np.square(np.diagonal(factor)) > smallest).all():
            return factor
    except np.linalg.LinAlgError:
        pass
    factor = np.zeros_like(gram)
    for t in range(len(gram)):
        solved = _solve(factor[:t, :t], gram[:t, t])
        rest = gram[t, t] - solved @ solved
        if rest > smallest:
            factor[t, :t], factor[t, t] = solved, np.sqrt(rest)
    return factor


def _solve(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """factor^-1 right, with zeros for the rows that are."""
    kept = np.flatnonzero(np.diagonal(factor) > 0)
    out = np.zeros_like(right)
    if len(kept):
        out[kept] = scipy.linalg.solve_triangular(factor[np.ix_(kept, kept)], right[kept],
                                                  lower=True, check_finite=False)
    return out
