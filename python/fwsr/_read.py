"""Points of files, read by the core or by pyarrow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _core
from ._arrow import ARROW_FILES, read_arrow
from ._data import Data, memory_limit
from ._numbers import BFLOAT16


def read(
    path: str | os.PathLike[str],
    *,
    labels: str | os.PathLike[str] | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    columns: Sequence[str] | None = None,
    exclude_columns: Sequence[str] | None = None,
    header: bool | str | None = None,
    variable: str | None = None,
    memory: int | str | None = None,
) -> Data:
    """Points of a file, as the command line reads them.

    Parameters
    ----------
    path : str or path-like
        npy, npz (also SciPy's CSR), csv, tsv, libsvm, idx, each also as .gz where that is usual;
        parquet, arrow and feather through pyarrow; ``"digits"`` is the built-in data.
    labels : str or path-like, optional
        A file with one label for each point: a line each, or npy, idx, npz.
    label_column, id_column : str, optional
        Columns of a table that hold labels and ids.
    columns : sequence of str, optional
        The features; all other columns when not given. A column of lists of equal length, as
        embeddings are kept, becomes as many features. Also ranges of names, ``"a-d"``; in csv
        files numbers from 1 and ranges of these, ``"2-5"``.
    exclude_columns : sequence of str, optional
        Columns that are no features, written in the same way.
    header : bool or {"yes", "no", "auto"}, optional
        csv: whether the first line names the columns. By default that is guessed, and
        ``data.table`` says why: words are a header, and so are numbers that count the columns
        (0, 1, 2, ... as pandas writes them) above points that do not.
    variable : str, optional
        npz: which array, when there are several.
    memory : int or str, optional
        What reading may take: npy and idx files larger than this stay in the file and are read
        in blocks, others are refused. By default what the machine has available.

    Returns
    -------
    Data
        To be given to :func:`fwsr.select` and to estimators; ``data.values`` holds the numbers,
        ``data.labels`` and ``data.ids`` what the file says about them, ``data.table`` how a csv
        file was understood. The index of a pandas table becomes the ids: in csv files a first
        column without a name that holds whole numbers, in parquet and feather files what pandas
        has noted there, unless ``columns`` names it.

    Examples
    --------
    >>> import fwsr
    >>> digits = fwsr.read("digits")
    >>> digits.shape
    (1797, 64)
    >>> digits.labels[:3]
    ['0', '1', '2']
    """
    if labels is not None:
        if label_column is not None:
            raise ValueError("labels and label_column are both given; labels come from one place")
        data = read(path, id_column=id_column, columns=columns, exclude_columns=exclude_columns,
                    header=header, variable=variable, memory=memory)
        data.labels = _core.read_labels(os.fsdecode(labels), memory_limit(memory))
        if len(data.labels) != len(data):
            raise ValueError(f"{os.fsdecode(labels)} holds {len(data.labels)} labels, but "
                             f"{os.fsdecode(path)} holds {len(data)} points")
        return data
    path = os.fsdecode(path)
    if path not in ("digits", "-") and not os.path.exists(path):
        raise FileNotFoundError(f"{path}: there is no such file; check the path")
    label, id_, array = (_name("label_column", label_column), _name("id_column", id_column),
                         _name("variable", variable))
    names = _names("columns", columns)
    excluded = _names("exclude_columns", exclude_columns) or []
    first_line = _header(header)
    limit = memory_limit(memory)
    held = limit or _core.available_memory() * 8 // 10
    if path.lower().endswith(ARROW_FILES):
        if array:
            raise ValueError(f"{path}: variable is for npz files; name columns instead")
        if first_line != "auto":
            raise ValueError(f"{path}: header is for csv files; this one has names of its own")
        return read_arrow(path, label, id_, names, excluded, held)
    points = _core.Points.read(path, label, id_, names or [], excluded, first_line, array, held,
                               limit)
    table = points.table
    notes = [*points.notes, *([] if table is None else [f"table {table['text']}"])]
    return Data(points, _values_of(points), path, notes, points.columns or None,
                points.ids or None, points.labels or None, table)


def _name(what: str, value: Any) -> str:
    """A name, or the number of a column, as text; empty for None."""
    if value is None:
        return ""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a name, got {value!r}")
    return value


def _names(what: str, given: Any) -> list[str] | None:
    """A list of columns as text; None for None."""
    if given is None:
        return None
    if isinstance(given, (str, bytes)):
        raise TypeError(f"{what} must be a list of names, got {given!r}")
    return [_name(what, c) for c in given]


def _header(given: Any) -> str:
    """Yes, no or auto."""
    if given is None:
        return "auto"
    if isinstance(given, (bool, np.bool_)):
        return "yes" if given else "no"
    if given not in ("yes", "no", "auto"):
        raise ValueError(f"header must be True, False or 'auto', got {given!r}")
    return str(given)


def _values_of(points: _core.Points) -> Any:
    arrays = points.arrays
    if isinstance(arrays, tuple):
        values, columns, starts = arrays
        return sp.csr_matrix((values, columns, starts), shape=(points.rows, points.cols))
    if isinstance(arrays, np.ndarray) and points.number == "bfloat16":
        return arrays.view(BFLOAT16)
    return arrays
