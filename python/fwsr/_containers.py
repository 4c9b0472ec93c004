"""Anything that holds points: as data of the core, and rows of it in the same container."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _core
from ._arrow import of_arrow
from ._cards import is_on_card, of_card
from ._clusters import is_collection
from ._data import Data, memory_limit, of_numbers
from ._mapped import of_memmap
from ._numbers import from_dlpack, is_from, is_table
from ._read import read


def as_data(X: Any, memory: int | str | None = None) -> Data:
    """Anything that holds points."""
    if isinstance(X, Data):
        return X
    if isinstance(X, (str, os.PathLike)):
        return read(X, memory=memory)
    if isinstance(X, np.memmap):
        streamed = of_memmap(X, memory_limit(memory) or _core.available_memory() * 8 // 10)
        if streamed is not None:
            return streamed
    if is_from(X, "pyarrow"):
        return of_arrow(X)
    if is_on_card(X):
        return of_card(X)
    if is_collection(X):
        from ._run import tell

        tell(["the chunks of a Dask collection are computed and brought into this process; "
              "fwsr.dask chooses from them where they are"], UserWarning)
    return of_numbers(X)


def part(data: Data, members: np.ndarray, *, square: bool = False) -> Data:
    """Some of the points by themselves, copied; `square`: of a matrix of all points with all."""
    rows = data.rows(members) if data.values is None else data.values[members]
    return as_data(rows[:, members] if square else rows)


def take(X: Any, indices: np.ndarray) -> Any:
    """Rows of `X`, in the container it is."""
    if isinstance(X, Data):
        return take(X.source, indices) if is_table(X.source) else X.rows(indices)
    if isinstance(X, (str, os.PathLike)):
        raise TypeError("rows of a file: give fwsr.read(path) instead of the path")
    if hasattr(X, "iloc"):
        return X.iloc[indices]
    if is_from(X, "pyarrow"):
        return X.take(indices)
    if isinstance(X, (list, tuple)):
        return type(X)(X[int(i)] for i in indices)
    if sp.issparse(X) and X.format not in ("csr", "csc", "lil"):
        return X.tocsr()[indices]
    if is_from(X, "torch") or is_on_card(X):
        return X[indices.tolist()]
    if isinstance(X, np.memmap):
        return np.array(X[indices])
    if hasattr(X, "__getitem__"):
        return X[indices]
    return (from_dlpack(X) if hasattr(X, "__dlpack__") else np.asarray(X))[indices]
