"""Points as the core sees them, and what they came in: in place wherever that can be done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _core
from ._numbers import is_bfloat16, numbers_of, widened


@dataclass(eq=False)
class Data:
    """Points as the core sees them, and what they came in.

    Attributes
    ----------
    points : the core's handle
    values : ndarray, CSR matrix or None
        The numbers as they are stored; None when they stay in a file.
    source : what the user gave
    notes : list of str
        Copies and conversions that were made.
    columns, ids, labels : list of str or None
        What a file said about the points. Of a pandas table, also one kept by Arrow, the ids are
        its index, unless that only counts the rows.
    table : dict or None
        How a csv file was understood: ``separator``, ``header`` and ``header_why``, ``id_column``
        and ``id_why``, ``label_column``, ``left_out`` (columns and why), ``comment_lines`` and
        ``blank_lines`` that were skipped, and ``text``, all of it in a line.

    Examples
    --------
    >>> import fwsr
    >>> fwsr.read("digits")
    <1797 points of 64 features, ndarray>
    """

    points: _core.Points
    values: Any
    source: Any
    notes: list[str] = field(default_factory=list)
    columns: list[str] | None = None
    ids: Any = None
    labels: list[str] | None = None
    table: dict[str, Any] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.points.rows, self.points.cols

    def __len__(self) -> int:
        return self.points.rows

    def __repr__(self) -> str:
        kind = "in a file" if self.values is None else type(self.values).__name__
        return f"<{self.shape[0]} points of {self.shape[1]} features, {kind}>"

    def rows(self, indices: np.ndarray) -> Any:
        """Some points, as float32 or float64."""
        if self.values is not None:
            return widened(self.values[indices])
        rows = [self.points.read_rows(int(i), int(i) + 1) for i in indices]
        return np.concatenate([self.points.read_rows(0, 0), *rows])

    def blocks(self, numbers: int = 1 << 21) -> Any:
        """All points, a few at a time: pairs of the first row and the rows."""
        n, d = self.shape
        step = max(1, numbers // max(1, d))
        for first in range(0, n, step):
            last = min(n, first + step)
            yield first, (self.points.read_rows(first, last) if self.values is None
                          else widened(self.values[first:last]))


def of_numbers(X: Any) -> Data:
    """Of anything that holds numbers in memory."""
    notes: list[str] = []
    values = numbers_of(X, notes)
    if sp.issparse(values):
        points = _core.Points.sparse(values.data, values.indices, values.indptr, values.shape[1])
    else:
        points = dense_points(values)
    return Data(points, values, X, notes, ids=_index_of(X))


def dense_points(values: np.ndarray) -> _core.Points:
    if is_bfloat16(values.dtype):
        return _core.Points.dense(values.view(np.uint16), True)
    return _core.Points.dense(values)


def _index_of(X: Any) -> Any:
    """The index of a pandas table, unless that only counts the rows."""
    if not hasattr(X, "iloc") or not hasattr(X, "index"):
        return None
    index = X.index
    counts = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    return None if counts else index


def memory_limit(memory: int | str | None) -> int:
    """Bytes; 0 when nobody said."""
    if memory is None:
        return 0
    if isinstance(memory, str):
        return _core.parse_bytes(memory)
    if isinstance(memory, (bool, np.bool_)) or not isinstance(memory, (int, np.integer)):
        raise TypeError(f"memory must be a number of bytes or text such as '4G', got {memory!r}")
    if memory < 1:
        raise ValueError(f"memory must be positive, got {memory}")
    return int(memory)
