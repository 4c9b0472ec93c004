"""Points by their exemplars: codes, nearest exemplars and errors, of points seen or new.

Everything is computed a block of points at a time, in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ._data import Data
from ._results import Selection

_BLOCK_NUMBERS = 1 << 21  # of a dense block: 16 MiB

#: A vector is within the span of others when no more than this part of the largest norm is left of
#: it; of inner products the same part of the largest square, as these have half of the digits.
_WITHIN = 1e-12


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
        prep = cls(center, scale, normalize)
        if scale == "standard":
            mean = _mean(data, _float64)
            deviation = np.sqrt(_mean_square(data, mean))
            constant = deviation <= 16 * np.finfo(float).eps * np.abs(mean)
            prep.deviation = np.where(constant, 1.0, deviation)
        if center == "feature":
            prep.mean = _mean(data, prep._scaled)
        return prep

    def _scaled(self, rows: Any) -> Any:
        """The rows scaled, dense or sparse as they are."""
        rows = _float64(rows)
        if self.scale == "unit":
            return _to_norm_one(rows)
        if self.deviation is None:
            return rows
        return rows @ sp.diags(1 / self.deviation) if sp.issparse(rows) else rows / self.deviation

    def __call__(self, rows: Any) -> np.ndarray:
        rows = _dense(self._scaled(rows))
        if self.center == "point":
            rows = rows - rows.mean(axis=1, keepdims=True)
            rows -= rows.mean(axis=1, keepdims=True)  # what rounding left: 0 for a constant point
        elif self.mean is not None:
            rows = rows - self.mean
        return _to_norm_one(rows) if self.normalize else rows

    def sparse(self, rows: Any) -> SparseRows:
        """The same of sparse rows, which stay sparse."""
        rows = self._scaled(rows)
        if self.normalize:  # their squares may overflow
            rows = _to_norm_one(rows)
        n, d = rows.shape
        prepared = SparseRows(rows, np.zeros(n), np.ones(d))
        if self.center == "point":
            prepared.times = np.asarray(rows.mean(axis=1)).ravel()
            prepared.times = prepared.times + prepared.sums() / d  # what rounding left
        elif self.mean is not None:
            prepared.times, prepared.less = np.ones(n), self.mean
        if self.normalize:
            norms = np.sqrt(prepared.sums(2))
            inverse = 1 / np.where(norms > 0, norms, 1.0)
            prepared.rows = sp.diags(inverse) @ rows
            prepared.times = inverse * prepared.times
        return prepared


@dataclass
class SparseRows:
    """Sparse rows, less a vector that is not: times[i] of it from row i."""

    rows: Any
    times: np.ndarray
    less: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape

    def __matmul__(self, right: np.ndarray) -> np.ndarray:
        return self.rows @ right - np.outer(self.times, self.less @ right)

    def sums(self, power: int = 1) -> np.ndarray:
        """Of the numbers of each row, to a power."""
        r = self.rows
        row = np.repeat(np.arange(r.shape[0]), np.diff(r.indptr))
        less = self.less[r.indices]
        stored = np.bincount(row, (r.data - self.times[row] * less) ** power, r.shape[0])
        elsewhere = np.sum(self.less ** power) - np.bincount(row, less ** power, r.shape[0])
        return stored + (-self.times) ** power * elsewhere


@dataclass
class Kernel:
    """Inner products between points: by name, or a function of the user's."""

    name: str | Callable[..., Any]
    gamma: float = 0.0
    degree: int = 3
    coef0: float = 1.0

    @property
    def explicit(self) -> bool:
        """Whether the points themselves are the vectors that the products are of."""
        return self.name in ("linear", "cosine")

    def __call__(self, a: Any, b: Any) -> np.ndarray:
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

    def diagonal(self, a: Any) -> np.ndarray:
        """Of each row with itself."""
        if callable(self.name):
            rows = (a[i:i + 1] for i in range(a.shape[0]))
            return np.array([float(np.asarray(self.name(row, row)).item()) for row in rows])
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
        self.eta = selection.eta
        self.chosen = ~selection.filled  # points that were filled in stand for nobody
        coefficients = None if selection.classes else selection.coefficients
        self.theta = None if coefficients is None else coefficients["theta"]
        self.offset = None if coefficients is None else coefficients["offset"]
        indices = selection.exemplars
        basis = None if coefficients is None else coefficients["basis"]
        self.prep: Preprocessing | None = None
        if given:  # rows and columns of the matrix
            self.exemplars, self.basis = indices, basis
            self.gram = _dense(data.rows(indices)[:, indices])
        else:
            self.prep = Preprocessing.fitted(center, scale, kernel.name == "cosine", data)
            self.exemplars = data.rows(indices)
            self.basis = None if basis is None else data.rows(basis)
            own = self._prepared(self.exemplars)
            with np.errstate(over="ignore", invalid="ignore"):  # _require_range tells
                self.gram = self.kernel(own, own) if len(indices) else np.zeros((0, 0))

    # ------------------------------------------------------------------------------ what people ask

    def codes(self, data: Data) -> np.ndarray:
        """The codes of the run where it has a formula for them; else those of least squares.

        Dissimilarities have no codes: those from the exemplars in their place.
        """
        if self.given == "distance":
            return self._each(data, lambda rows: _dense(rows[:, self.exemplars]))
        return self._each(data, self._codes())

    def represented_by(self, data: Data) -> np.ndarray:
        """For each point the exemplar with the largest code of the run, else the nearest one.

        Of equal ones the first; -1 where there is no exemplar.
        """
        if not self.chosen.any():
            return np.full(len(data), -1, dtype=np.int64)
        if self.theta is not None:
            codes = self._codes()
            return self._each(data, lambda rows: np.abs(codes(rows)).argmax(axis=1))
        distances = self._distances()
        nearest = self._each(data, lambda rows: distances(rows).argmin(axis=1))
        return np.flatnonzero(self.chosen)[nearest]

    def mean_distance(self, data: Data) -> float:
        """Of a matrix of dissimilarities: from a point to the nearest exemplar, on average."""
        distances = self._distances()
        return float(np.mean(self._each(data, lambda rows: distances(rows).min(axis=1))))

    def error(self, data: Data) -> float:
        """The part of the points outside the span of the exemplars."""
        _, total, rest = self._shares(data)
        return rest / total if total > 0 else 0.0

    def error_path(self, data: Data) -> np.ndarray:
        """The same for the first exemplar, the first two, and so on."""
        left, total = self.left_out(data)
        return left / total if total > 0 else np.zeros(len(left))

    def left_out(self, data: Data) -> tuple[np.ndarray, float]:
        """Of the squared norms of the points: what the first 1, 2, ... leave, and all."""
        explained, total, rest = self._shares(data)
        return np.cumsum(explained[::-1])[::-1] - explained + rest, total

    # ---------------------------------------------------------------------------------------- parts

    def _shares(self, data: Data) -> tuple[np.ndarray, float, float]:
        """Of the squared norms of the points: what each exemplar adds, all, and what is left."""
        if self.given == "distance":
            raise ValueError("dissimilarities have no span; there is no reconstruction error")
        if self.given == "kernel":
            self._require_fitted_matrix(data)
        self._require_range()
        explained, total, rest = np.zeros(len(self.gram)), 0.0, 0.0
        own = self._prepared(self.exemplars)
        if self._explicit:  # vectors keep twice the digits of their inner products
            basis = _orthonormal(own)
            for _, rows in self._blocks(data):
                shares = rows @ basis.T
                added = np.square(shares).sum(axis=0)
                explained += added
                if isinstance(rows, SparseRows):
                    squares = float(rows.sums(2).sum())
                    rest += max(0.0, squares - float(added.sum()))
                else:
                    squares = float(np.square(rows).sum())
                    rest += float(np.square(rows - shares @ basis).sum())
                total += squares
            return explained, total, rest
        factor = _triangle(self.gram)
        for first, rows in self._blocks(data):
            total += float(self._diagonal(rows, first).sum())
            explained += np.square(_solve(factor, self._products(rows, own).T)).sum(axis=1)
        return explained, total, max(0.0, total - float(explained.sum()))

    def _codes(self) -> Callable[[Any], np.ndarray]:
        """From prepared rows to their codes: those of the run, else those of least squares."""
        self._require_range()
        if self.theta is not None:
            theta, basis = self.theta, self._prepared(self.basis)
            extra = 0.0 if self.offset is None else self.offset
            return lambda rows: (self._products(rows, basis) + self.eta ** 2) @ theta.T + extra
        if not self.chosen.any():
            return lambda rows: np.zeros((rows.shape[0], len(self.gram)))
        among = np.eye(len(self.gram))[self.chosen]  # 0 for those that were filled in
        own = self._prepared(self.exemplars[self.chosen])
        if self._explicit:
            inverse = np.linalg.pinv(own, rcond=_WITHIN) @ among
            return lambda rows: rows @ inverse
        gram = self.gram[np.ix_(self.chosen, self.chosen)]
        inverse = scipy.linalg.pinvh(gram, rtol=_WITHIN) @ among
        return lambda rows: self._products(rows, own) @ inverse

    def _distances(self) -> Callable[[Any], np.ndarray]:
        """From prepared rows to the exemplars chosen: distances, or what grows with them."""
        self._require_range()
        exemplars = self.exemplars[self.chosen]
        if self.given == "distance":
            return lambda rows: _dense(rows[:, exemplars])
        own = self._prepared(exemplars)
        if self.metric == "manhattan":
            return lambda rows: cdist(rows, own, "cityblock")
        squares = np.diagonal(self.gram)[self.chosen]
        if self.metric == "cosine":
            norms = np.sqrt(np.where(squares > 0, squares, 1.0))
            return lambda rows: -self._products(rows, own) / norms
        if self._explicit:  # from a place among them: a large offset costs no digits
            here = own.mean(axis=0)
            near = own - here
            squares = np.square(near).sum(axis=1)
            there = here @ near.T
            return lambda rows: squares - 2 * (
                rows @ near.T - there if isinstance(rows, SparseRows) else (rows - here) @ near.T)
        return lambda rows: squares - 2 * self._products(rows, own)

    @property
    def _explicit(self) -> bool:
        return not self.given and self.kernel.explicit

    def _prepared(self, rows: Any) -> Any:
        """Rows as the kernel takes them; of a matrix that was given, the columns to look at."""
        return rows if self.prep is None or callable(self.kernel.name) else self.prep(rows)

    def _products(self, rows: Any, prepared: Any) -> np.ndarray:
        """The kernel between rows and some of the points fitted, all of them prepared."""
        return _dense(rows[:, prepared]) if self.given else self.kernel(rows, prepared)

    def _diagonal(self, rows: Any, first: int) -> np.ndarray:
        if self.given:
            place = np.arange(rows.shape[0])
            return np.asarray(rows[place, place + first], dtype=np.float64).ravel()
        return self.kernel.diagonal(rows)

    def _stays_sparse(self, data: Data) -> bool:
        """Whether inner products with sparse rows lose nothing by leaving them sparse.

        With few numbers stored, centring takes little away from a row. The cosine of rows less the
        mean of each feature is left out, as squares may overflow there.
        """
        few = sp.issparse(data.values) and 10 * data.values.nnz <= data.shape[0] * data.shape[1]
        return (few and self._explicit and self.metric != "manhattan" and self.prep is not None
                and not (self.prep.normalize and self.prep.mean is not None))

    def _blocks(self, data: Data) -> Iterator[tuple[int, Any]]:
        """Some points at a time, prepared."""
        sparse, (n, d) = self._stays_sparse(data), data.shape
        a_row = max(data.values.nnz // n if sparse else d, len(self.gram), 1)  # and its codes
        for first, rows in data.blocks(_BLOCK_NUMBERS * d // a_row):
            if not np.isfinite(rows.data if sp.issparse(rows) else rows).all():
                raise ValueError("X contains NaN or infinity; remove these points or fill in the "
                                 "values")
            yield first, (self.prep.sparse(rows) if sparse and self.prep else self._prepared(rows))

    def _each(self, data: Data, work: Callable[[Any], np.ndarray]) -> np.ndarray:
        return np.concatenate([work(rows) for _, rows in self._blocks(data)])

    def _require_range(self) -> None:
        """The core brings numbers of any size near 1; here their squares must be numbers too."""
        deviation = None if self.prep is None else self.prep.deviation
        finite = all(np.isfinite(numbers).all() for numbers in (self.gram, self.theta, deviation)
                     if numbers is not None)
        if not self.given and self.kernel.name in ("rbf", "laplacian", "polynomial"):
            finite = finite and 0 < self.kernel.gamma < np.inf
        elif self._explicit and len(self.gram):
            there = self._prepared(self.exemplars).any(axis=1)
            finite = finite and bool((np.diagonal(self.gram)[there] > 0).all())
        if not finite:
            raise ValueError("the points are so large or so small that their squares are no "
                             "numbers; multiply them by a power of 10 before fit")

    def _require_fitted_matrix(self, data: Data) -> None:
        """The norms of points stand on the diagonal, which a matrix with new points has not."""
        fitted = data.shape[0] == data.shape[1] and np.allclose(
            _dense(data.rows(self.exemplars)[:, self.exemplars]), self.gram)
        if not fitted:
            raise ValueError("with a precomputed kernel the error is that of the points fitted; "
                             "give their square matrix, or a kernel by name")


# ------------------------------------------------------------------------------------------- blocks


def _float64(rows: Any) -> Any:
    return rows.astype(np.float64) if sp.issparse(rows) else np.asarray(rows, dtype=np.float64)


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)


def _to_norm_one(rows: Any) -> Any:
    """Each row divided by its norm, by way of its largest number, whose square may overflow."""
    largest = abs(rows).max(axis=1)
    largest = largest.toarray() if sp.issparse(largest) else largest
    inverse = 1 / np.where(largest > 0, largest, 1.0).reshape(-1, 1)
    if sp.issparse(rows):
        rows = sp.diags(inverse.ravel()) @ rows
        squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
        return sp.diags(1 / np.sqrt(np.where(squares > 0, squares, 1.0))) @ rows
    rows = rows * inverse
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1.0)


def _mean(data: Data, work: Callable[[Any], Any]) -> np.ndarray:
    """Of each feature, in two passes, so that a large offset costs no digits."""
    mean = np.zeros(data.shape[1])
    for _ in range(2):
        rest = np.zeros_like(mean)
        for _, rows in data.blocks(_BLOCK_NUMBERS):
            rest += _sum_less(work(rows), mean, 1)
        mean += rest / len(data)
    return mean


def _mean_square(data: Data, mean: np.ndarray) -> np.ndarray:
    total = np.zeros_like(mean)
    for _, rows in data.blocks(_BLOCK_NUMBERS):
        total += _sum_less(_float64(rows), mean, 2)
    return total / len(data)


def _sum_less(rows: Any, mean: np.ndarray, power: int) -> np.ndarray:
    """The sum of (rows - mean)^power, feature by feature."""
    if not sp.issparse(rows):
        return ((rows - mean) ** power).sum(axis=0)
    stored = np.bincount(rows.indices, minlength=len(mean))
    values = (rows.data - mean[rows.indices]) ** power
    return (np.bincount(rows.indices, values, minlength=len(mean))
            + (rows.shape[0] - stored) * (-mean) ** power)


# -------------------------------------------------------------------------------------------- spans


def _orthonormal(vectors: np.ndarray) -> np.ndarray:
    """Row t: the direction that vector t adds to those before it, or 0 where it adds none."""
    basis = np.zeros_like(vectors)
    enough = _WITHIN * np.linalg.norm(vectors, axis=1).max(initial=0.0)
    for t, vector in enumerate(vectors):
        for _ in range(2):  # twice, for what rounding left
            vector = vector - (basis[:t] @ vector) @ basis[:t]
        length = np.linalg.norm(vector)
        if length > enough:
            vector = vector / length
            basis[t] = vector - (basis[:t] @ vector) @ basis[:t]
            basis[t] /= np.linalg.norm(basis[t])
    return basis


def _triangle(gram: np.ndarray) -> np.ndarray:
    """Cholesky's factor; the rows of exemplars within the span of those before them are 0."""
    smallest = _WITHIN * np.diagonal(gram).max(initial=0.0)
    try:
        factor = np.linalg.cholesky(gram)
        if (np.square(np.diagonal(factor)) > smallest).all():
            return factor
    except np.linalg.LinAlgError:
        pass  # some are within the span of others
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
