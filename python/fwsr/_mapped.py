"""Points that stay in their file and are read in blocks."""

from __future__ import annotations

import mmap
import os

import numpy as np
import scipy.sparse as sp

from . import _core
from ._data import Data
from ._numbers import held_type


def streamed(data: Data) -> Data | None:
    """The same points left in their file, or None when they are in no file."""
    if data.points.streamed:
        return None
    if isinstance(data.source, np.memmap):
        return of_memmap(data.source, 0)
    if isinstance(data.source, str) and data.values is not None and not sp.issparse(data.values):
        points = data.points
        if not points.can_be_streamed:
            return None
        again = _core.Points.read(data.source, "", "", [], [], "auto", "", 0, 0)
        return Data(again, None, data.source, list(again.notes), data.columns, data.ids,
                    data.labels) if again.streamed else None
    return None


def of_memmap(X: np.memmap, limit: int) -> Data | None:
    """The points of a mapped file left there, when they would take more than `limit`."""
    base, filename = getattr(X, "_mmap", None), getattr(X, "filename", None)
    if base is None or filename is None or X.mode == "c":  # "c": changes are not in the file
        return None
    # A slice of a mapped array keeps the offset of the whole one: count from where the map begins.
    begin = np.frombuffer(base, dtype=np.uint8, count=1).ctypes.data
    where = X.offset - X.offset % mmap.ALLOCATIONGRANULARITY + (X.ctypes.data - begin)
    try:
        size = os.stat(filename).st_size
    except OSError:
        return None  # removed: what is mapped is still there, in place
    if X.size and size < where + X.nbytes:
        raise ValueError(f"{filename}: has become shorter than the array that was mapped from it; "
                         "map it again")
    if X.ndim != 2 or not X.flags.c_contiguous or X.dtype.kind not in "biuf":
        return None
    target = held_type(X.dtype)
    converted = X.dtype not in (target, np.dtype(bool))
    if X.size * (target.itemsize + (X.dtype.itemsize if converted else 0)) <= limit:
        return None
    big = "" if X.dtype.isnative else ">"
    try:
        points = _core.Points.in_file(os.fspath(filename), big + X.dtype.name, X.shape[0],
                                      X.shape[1], where)
        # Another file may have taken the name since: some rows, from the first to the last, tell.
        looked_at = np.unique(np.linspace(0, len(X) - 1, 64).astype(np.int64))
        stored = np.vstack([points.read_rows(i, i + 1) for i in looked_at])
    except ValueError:
        return None
    if not np.array_equal(stored, X[looked_at], equal_nan=True):
        return None
    return Data(points, None, X, ["read from its file in blocks", *points.notes])
