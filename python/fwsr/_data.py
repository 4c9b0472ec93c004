"""Points for the core, from arrays, tables and files: in place wherever that can be done."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets

from . import _core
from ._numbers import from_dlpack, is_from, is_table, numbers_of, point_type

#: Files that pyarrow reads; all others are read by the core.
_ARROW_FILES = (".parquet", ".pq", ".arrow", ".feather", ".ipc")


@dataclass(eq=False)
class Data:
    """Points as the core sees them, and what they came in.

    Attributes
    ----------
    points : the core's handle
    values : ndarray, CSR matrix or None
        The numbers; None when they stay in a file.
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
        """Some points, as numbers."""
        if self.values is not None:
            return self.values[indices]
        rows = [self.points.read_rows(int(i), int(i) + 1) for i in indices]
        return np.concatenate([self.points.read_rows(0, 0), *rows])

    def blocks(self, numbers: int = 1 << 21) -> Any:
        """All points, a few at a time: pairs of the first row and the rows."""
        n, d = self.shape
        step = max(1, numbers // max(1, d))
        for first in range(0, n, step):
            last = min(n, first + step)
            yield first, (self.points.read_rows(first, last) if self.values is None
                          else self.values[first:last])


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
    if path.lower().endswith(_ARROW_FILES):
        if array:
            raise ValueError(f"{path}: variable is for npz files; name columns instead")
        if first_line != "auto":
            raise ValueError(f"{path}: header is for csv files; this one has names of its own")
        return _read_arrow(path, label, id_, names, excluded, held)
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


def as_data(X: Any, memory: int | str | None = None) -> Data:
    """Anything that holds points."""
    if isinstance(X, Data):
        return X
    if isinstance(X, (str, os.PathLike)):
        return read(X, memory=memory)
    if isinstance(X, np.memmap):
        streamed = _streamed(X, memory_limit(memory) or _core.available_memory() * 8 // 10)
        if streamed is not None:
            return streamed
    if is_from(X, "pyarrow"):
        return _of_arrow(X)
    return _of_numbers(X)


def _of_numbers(X: Any) -> Data:
    notes: list[str] = []
    values = numbers_of(X, notes)
    if sp.issparse(values):
        points = _core.Points.sparse(values.data, values.indices, values.indptr, values.shape[1])
    else:
        points = _core.Points.dense(values)
    return Data(points, values, X, notes, ids=_index_of(X))


def _index_of(X: Any) -> Any:
    """The index of a pandas table, unless that only counts the rows."""
    if not hasattr(X, "iloc") or not hasattr(X, "index"):
        return None
    index = X.index
    counts = type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)
    return None if counts else index


def part(data: Data, members: np.ndarray, *, square: bool = False) -> Data:
    """Some of the points by themselves, copied; `square`: of a matrix of all points with all."""
    rows = data.rows(members)
    return as_data(rows[:, members] if square else rows)


def streamed(data: Data) -> Data | None:
    """The same points left in their file, or None when they are in no file."""
    if data.points.streamed:
        return None
    if isinstance(data.source, np.memmap):
        return _streamed(data.source, 0)
    if isinstance(data.source, str) and data.values is not None and not sp.issparse(data.values):
        points = data.points
        if not points.can_be_streamed:
            return None
        again = _core.Points.read(data.source, "", "", [], [], "auto", "", 0, 0)
        return Data(again, None, data.source, list(again.notes), data.columns, data.ids,
                    data.labels) if again.streamed else None
    return None


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
    if is_from(X, "torch"):
        return X[indices.tolist()]
    if isinstance(X, np.memmap):
        return np.array(X[indices])
    if hasattr(X, "__getitem__"):
        return X[indices]
    return (from_dlpack(X) if hasattr(X, "__dlpack__") else np.asarray(X))[indices]


def classes_of(y: Any, n: int) -> tuple[np.ndarray, list[str], np.ndarray]:
    """For each point the place of its class, the names of the classes, and the classes as given.

    Names are those the command line would use: whole numbers without a decimal point.
    """
    labels = np.asarray(y)
    if labels.dtype.kind == "U" and isinstance(y, (list, tuple)):
        labels = np.asarray(y, dtype=object)  # NumPy has made text of numbers beside text
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError("y must hold one label for each point, got an array of shape "
                         f"{labels.shape}")
    if len(labels) != n:
        raise ValueError(f"X has {n} points, but y has {len(labels)} labels")
    if labels.dtype == object:
        missing = next((i for i, v in enumerate(labels) if _is_missing(v)), None)
        if missing is not None:
            raise ValueError(f"y has no label for point {missing} (counted from 0)")
        kinds = {str if isinstance(v, str) else float for v in labels}
        if len(kinds) > 1:
            raise ValueError("y mixes text and numbers; make all labels text, or all numbers")
    elif labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y contains NaN or infinity; give every point a label")
    check_classification_targets(labels)
    values, places = np.unique(labels, return_inverse=True)
    names = [class_name(v) for v in values]
    if len(set(names)) < len(names):
        raise ValueError("y has different labels of the same name, such as 1 and '1'")
    return np.ascontiguousarray(places.reshape(-1), dtype=np.int64), names, values


def _is_missing(label: Any) -> bool:
    return label is None or type(label).__name__ == "NAType" or (
        isinstance(label, (float, np.floating)) and bool(np.isnan(label)))


def class_name(value: Any) -> str:
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _is_part_of(columns: set[str], path: str) -> bool:
    """``embedding.list.element`` is part of ``embedding``, and of ``a.b`` when that is a name."""
    while path and path not in columns:
        path = path.rpartition(".")[0]
    return bool(path)


def _refuse_too_large(path: str, columns: list[str] | None, memory: int) -> None:
    """What a table takes at least: its numbers as they stand there, and once more as points."""
    import pyarrow.parquet

    if path.lower().endswith((".parquet", ".pq")):
        groups = pyarrow.parquet.read_metadata(path)
        parts = (groups.row_group(g).column(c) for g in range(groups.num_row_groups)
                 for c in range(groups.num_columns))
        names = None if columns is None else set(columns)
        stored = sum(p.total_uncompressed_size for p in parts
                     if names is None or _is_part_of(names, p.path_in_schema))
    else:
        stored = os.path.getsize(path)
    if 2 * stored > memory:
        raise MemoryError(
            f"{path}: takes at least {_core.format_bytes(2 * stored)} while it is read, more than "
            f"the {_core.format_bytes(memory)} allowed; allow more memory, choose columns, or save "
            "the points as npy, which may stay in the file")


def _read_arrow(path: str, label_column: str, id_column: str, columns: list[str] | None,
                excluded: list[str], memory: int) -> Data:
    try:
        import pyarrow as pa
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError as e:
        raise ImportError(f"{path}: such files are read by pyarrow; pip install pyarrow") from e
    extra = [c for c in (label_column, id_column) if c]
    parquet = path.lower().endswith((".parquet", ".pq"))
    try:
        if parquet:
            schema = pa.parquet.read_schema(path)
        else:
            with pa.OSFile(path) as file:
                schema = pa.ipc.open_file(file).schema
        there = schema.names
        missing = [c for c in extra if c not in there]
        if missing:
            raise ValueError(_no_column(missing[0], there))
        left_out = _spelled_out(excluded, there)
        index = [c for c in _index_columns(schema) if c not in extra]
        if columns is None:
            features = [c for c in there if c not in (*left_out, *extra, *index)]
        else:
            features = [c for c in _spelled_out(columns, there, passed=[*extra, *index])
                        if c not in left_out and (not excluded or c not in extra)]
        index = [] if id_column else [c for c in index if c not in features]
        wanted = None if columns is None else list(dict.fromkeys([*features, *extra, *index]))
        _refuse_too_large(path, wanted, memory)
        table = (pa.parquet if parquet else pa.feather).read_table(path, columns=wanted)
    except (pa.ArrowException, OSError, ValueError) as e:
        raise ValueError(f"{path}: {e}") from e
    labels = ids = None
    if label_column:
        labels = [class_name(v) for v in table.column(label_column).to_pylist()]
    if id_column:
        ids = [str(v) for v in table.column(id_column).to_pylist()]
    elif (values := _index_values(table, index)) is not None:
        ids = [", ".join(map(str, v)) if isinstance(v, tuple) else str(v) for v in values]
    # By number where all are read: two columns may have one name.
    kept = set(features)
    chosen = features if columns is not None else [
        i for i, c in enumerate(table.column_names) if c in kept]
    try:
        data = _of_numbers(table.select(chosen))
    except ValueError as e:
        raise ValueError(f"{path}: {e}") from e
    if ids is not None and index:
        data.notes.append(_index_note(index))
    data.columns, data.ids, data.labels = features, ids, labels
    return data


def _of_arrow(table: Any) -> Data:
    """A table of Arrow, whose index, where it was one of pandas, is no feature."""
    index = _index_columns(table.schema) if hasattr(table, "schema") else []
    if not index:
        return _of_numbers(table)
    features = [i for i, c in enumerate(table.schema.names) if c not in index]
    data = _of_numbers(table.select(features))
    data.source, data.ids = table, _index_values(table, index)
    data.columns = [table.schema.names[i] for i in features]
    if data.ids is not None:
        data.notes.append(_index_note(index))
    return data


def _index_columns(schema: Any) -> list[str]:
    """The columns that were the index of a pandas table, as pandas has noted."""
    try:
        noted = list((schema.pandas_metadata or {}).get("index_columns") or [])
    except (AttributeError, TypeError, ValueError):  # not as pandas writes it
        return []
    # An index that only counts is no column: it is noted as a dictionary.
    return [c for c in noted if isinstance(c, str) and c in schema.names]


def _index_values(table: Any, index: list[str]) -> list[Any] | None:
    """The index of each row, of several columns a tuple; None where it only counts the rows."""
    levels = [table.column(c).to_pylist() for c in index]
    if not levels or (len(levels) == 1 and levels[0] == list(range(len(levels[0])))):
        return None
    return levels[0] if len(levels) == 1 else list(zip(*levels))


def _index_note(index: list[str]) -> str:
    return f"the ids are the index of a pandas table ({', '.join(index)}), which is no feature"


def _no_column(name: str, there: list[str]) -> str:
    return f"has no column '{name}'; it has {', '.join(there[:20])}"


def _spelled_out(columns: list[str], there: list[str], passed: Sequence[str] = ()) -> list[str]:
    """Names and ranges of names, as csv files have them; ranges pass over some columns."""
    found: list[str] = []
    for column in columns:
        if column in there:
            found.append(column)
            continue
        # A name may hold a hyphen itself: the first one that stands between two columns counts.
        ends = [(column[:i], column[i + 1:]) for i, c in enumerate(column) if c == "-"]
        first, last = next(((a, b) for a, b in ends if a in there and b in there), ("", ""))
        if not first:
            raise ValueError(_no_column(column, there))
        if there.index(first) > there.index(last):
            raise ValueError(f"the range of columns '{column}' runs backwards; write "
                             f"{last}-{first}")
        between = there[there.index(first):there.index(last) + 1]
        found += [c for c in between if c not in passed]
    return list(dict.fromkeys(found))


# --------------------------------------------------------------------------------------- in files


def _values_of(points: _core.Points) -> Any:
    arrays = points.arrays
    if isinstance(arrays, tuple):
        values, columns, starts = arrays
        return sp.csr_matrix((values, columns, starts), shape=(points.rows, points.cols))
    return arrays


def _streamed(X: np.memmap, limit: int) -> Data | None:
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
    target = point_type(X.dtype)
    converted = X.dtype != target
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
