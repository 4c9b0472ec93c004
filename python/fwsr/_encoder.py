"""Points by their exemplars: codes, nearest exemplars and errors, of points seen or new.

The core compares points with the exemplars (fwsr/solver/encode.hpp); here stands what is asked of
it, and the algebra of the exemplars among themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from . import _core
from ._cards import CardData
from ._data import Data
from ._results import Selection

_BLOCK_NUMBERS = 1 << 21  # given to a function of the user's at a time

#: A vector is within the span of others when no more than this part of the largest norm is left of
#: it; of inner products the same part of the largest square, as these have half of the digits.
_WITHIN = 1e-12

#: Differences of squares and products within this part of them are none: the first is the nearest.
_ROUNDING = 64 * float(np.finfo(np.float64).eps)

#: What the core knows of each kernel.
KERNELS = {kernel["name"]: kernel for kernel in _core.kernels()}


@dataclass
class Kernel:
    """Inner products between points: by name, or a function of the user's."""

    name: str | Callable[..., Any]
    gamma: float = 0.0
    degree: int = 3
    coef0: float = 1.0

    @property
    def facts(self) -> dict[str, Any]:
        """Of a kernel by name; of a function there are none."""
        return {} if callable(self.name) else KERNELS[self.name]

    def between(self, a: Any, b: Any) -> np.ndarray:
        """The values of the user's function, one row for each of `a`."""
        assert callable(self.name)
        values = self.name(a, b)
        return np.ascontiguousarray(_dense(values))

    def squares(self, a: Any) -> np.ndarray:
        """Those of each row with itself."""
        rows = (a[i:i + 1] for i in range(a.shape[0]))
        return np.array([self.between(row, row).item() for row in rows], dtype=np.float64)


class Encoder:
    """The exemplars of a selection, ready to represent points.

    Holds the exemplars and, for the codes of the run, the points these are computed from: not the
    data. `given` names a matrix in place of points: "kernel", "distance" or "" for none. `frame`
    is how the points were scaled and centred, where they are not at hand.
    """

    def __init__(self, data: Data, selection: Selection, kernel: Kernel, *, center: str, scale: str,
                 metric: str | None = None, given: str = "", frame: _core.Frame | None = None):
        self.kernel = kernel
        self.metric = metric
        self.given = given
        self.eta = selection.eta
        self.chosen = ~selection.filled  # codes over the points that were filled in are 0
        coefficients = None if selection.classes else selection.coefficients
        self.theta = None if coefficients is None else coefficients["theta"]
        self.offset = None if coefficients is None else coefficients["offset"]
        indices = selection.exemplars
        basis = None if coefficients is None else coefficients["basis"]
        self.frame: _core.Frame | None = None
        if given:  # rows and columns of the matrix
            self.exemplars, self.basis = indices, basis
            self.gram = _dense(data.rows(indices)[:, indices])
            return
        self.exemplars = data.rows(indices)
        self.basis = None if basis is None else data.rows(basis)
        if callable(kernel.name):
            self.gram = (kernel.between(self.exemplars, self.exemplars) if len(indices)
                         else np.zeros((0, 0)))
        else:
            self.frame = frame or _core.Frame.of(self._seen(data, center, scale), center, scale,
                                                 kernel.facts["normalize"])
            self.gram = self._known(self.exemplars).codes(_points(self.exemplars))

    def _seen(self, data: Data, center: str, scale: str) -> _core.Points:
        """The points that means and scales are of."""
        if not isinstance(data, CardData):
            return data.points
        if center == "feature" or scale == "standard":
            raise ValueError("an estimator keeps means and deviations of all points, and these are "
                             "on a card: use fwsr.select(X, k), or move them to the CPU's memory, "
                             "as in X.cpu() or X.get()")
        return _points(self.exemplars)  # each point by itself: those at hand do

    # ------------------------------------------------------------------------------ what people ask

    def codes(self, data: Data) -> np.ndarray:
        """The codes of the run where it has a formula for them; else those of least squares.

        Dissimilarities have no codes: those from the exemplars in their place.
        """
        if self.given == "distance":
            return self._known(self.exemplars).codes(data.points)
        if self.theta is None and not self.chosen.any():
            self._require_finite(data)
            return np.zeros((len(data), len(self.gram)))
        rows, known, how = self._codes()
        return _together([known.codes(points, *how) for points in self._compared(data, rows)])

    def represented_by(self, data: Data) -> np.ndarray:
        """For each point the nearest exemplar; of equal ones the first; -1 where there is none."""
        if not len(self.gram):
            return np.full(len(data), -1, dtype=np.int64)
        return _together([found for found, _ in self._nearest(data)])

    def mean_distance(self, data: Data) -> float:
        """Of a matrix of dissimilarities: from a point to the nearest exemplar, on average."""
        return sum(distances for _, distances in self._nearest(data)) / len(data)

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

    def _codes(self) -> tuple[Any, _core.KnownPoints, tuple[Any, float, Any]]:
        """What points are compared with, and how their codes come from that.

        Those of the run, else those of least squares.
        """
        self._require_range()
        if self.theta is not None:
            offset = None if self.offset is None else np.ascontiguousarray(self.offset)
            how = np.ascontiguousarray(self.theta.T), self.eta ** 2, offset
            return self.basis, self._known(self.basis), how
        among = np.eye(len(self.gram))[self.chosen]  # 0 for those that were filled in
        chosen = self.exemplars[self.chosen]
        if self._explicit:
            inverse = np.linalg.pinv(self._prepared(chosen), rcond=_WITHIN) @ among
            return None, self._vectors(inverse.T), (None, 0.0, None)
        gram = self.gram[np.ix_(self.chosen, self.chosen)]
        inverse = scipy.linalg.pinvh(gram, rtol=_WITHIN) @ among
        return chosen, self._known(chosen), (np.ascontiguousarray(inverse), 0.0, None)

    def _nearest(self, data: Data) -> Iterator[tuple[np.ndarray, float]]:
        """The places of the nearest exemplars, and the sum of what was compared.

        These are distances, or what grows with them.
        """
        self._require_range()
        rows, squares = self.exemplars, np.diagonal(self.gram)
        nothing, known = np.zeros(len(squares)), None
        add, times = squares, np.full(len(squares), -2.0)
        if self.given == "distance":
            add, times = nothing, np.ones(len(squares))
        elif self.metric == "manhattan":
            add, times = nothing, np.ones(len(squares))
            known = _core.KnownPoints.by_absolute_distance(self.frame, self._prepared(rows))
        elif self.metric == "cosine":
            add, times = nothing, -1 / np.sqrt(np.where(squares > 0, squares, 1.0))
        elif self._explicit:  # from a place among them: a large offset costs no digits
            own = self._prepared(rows)
            here = own.mean(axis=0)
            add = np.square(own - here).sum(axis=1)
            known = self._vectors(own - here, here)
        known = known or self._known(rows)
        rounding = _ROUNDING if times[0] < 0 else 0.0  # distances are compared as they are
        for points in self._compared(data, rows):
            yield known.nearest(points, np.ascontiguousarray(add), times, rounding)

    def _shares(self, data: Data) -> tuple[np.ndarray, float, float]:
        """Of the squared norms of the points: what each exemplar adds, all, and what is left."""
        if self.given == "distance":
            raise ValueError("dissimilarities have no span; there is no reconstruction error")
        if self.given == "kernel":
            self._require_fitted_matrix(data)
        self._require_range()
        if self._explicit:  # vectors keep twice the digits of their inner products
            return self._vectors(_orthonormal(self._prepared(self.exemplars))).shares(data.points)
        known, factor = self._known(self.exemplars), _triangle(self.gram)
        if not callable(self.kernel.name):
            return known.shares(data.points, factor)
        parts = [known.shares(points, factor, self.kernel.squares(rows)) for points, (_, rows) in
                 zip(self._compared(data, self.exemplars), self._blocks(data))]
        explained = np.sum([part[0] for part in parts], axis=0)
        total = sum(part[1] for part in parts)
        return explained, total, max(0.0, total - float(explained.sum()))

    @property
    def _explicit(self) -> bool:
        """Whether the points themselves are the vectors that the products are of."""
        return not self.given and bool(self.kernel.facts.get("linear"))

    def _prepared(self, rows: Any) -> np.ndarray:
        """Rows as the kernel takes them. @pre there is a frame"""
        assert self.frame is not None
        return self.frame.load(_points(rows))

    def _known(self, rows: Any) -> _core.KnownPoints:
        """These points to compare others with: those of a matrix by their place in it."""
        if self.given:
            return _core.KnownPoints.columns(rows)
        if callable(self.kernel.name):  # its values are the matrix
            return _core.KnownPoints.columns(np.arange(rows.shape[0]))
        k = self.kernel
        return _core.KnownPoints(self.frame, k.name, k.gamma, k.degree, k.coef0,
                                 self._prepared(rows))

    def _vectors(self, vectors: np.ndarray, shift: np.ndarray | None = None) -> _core.KnownPoints:
        """To multiply points with, less `shift`."""
        return _core.KnownPoints(self.frame, "linear", 0.0, 1, 0.0, np.ascontiguousarray(vectors),
                                 shift)

    def _compared(self, data: Data, rows: Any) -> Iterator[_core.Points]:
        """What the core compares: points, or a function's values between them and `rows`."""
        if self.given or not callable(self.kernel.name):
            yield data.points
            return
        for _, block in self._blocks(data):
            yield _core.Points.dense(self.kernel.between(block, rows))

    def _blocks(self, data: Data) -> Iterator[tuple[int, Any]]:
        """Some points at a time, for a function of the user's."""
        for first, rows in data.blocks(_BLOCK_NUMBERS):
            if not np.isfinite(rows.data if sp.issparse(rows) else rows).all():
                raise ValueError("X contains NaN or infinity; remove these points or fill in the "
                                 "values")
            yield first, rows

    def _require_finite(self, data: Data) -> None:
        for _ in self._blocks(data):
            pass

    def _require_range(self) -> None:
        """The core brings numbers of any size near 1; here their squares must be numbers too."""
        deviation = None if self.frame is None else self.frame.deviation
        finite = all(np.isfinite(numbers).all() for numbers in (self.gram, self.theta, deviation)
                     if numbers is not None)
        if not self.given and self.kernel.facts.get("has_gamma"):
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


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)


def _points(rows: Any) -> _core.Points:
    """Some rows of the data, as the core takes them."""
    if sp.issparse(rows):
        return _core.Points.sparse(rows.data, rows.indices, rows.indptr, rows.shape[1])
    return _core.Points.dense(np.ascontiguousarray(rows))


def _together(parts: list[np.ndarray]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


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
