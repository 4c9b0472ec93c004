"""Points of Arrow: tables in memory, and the files that pyarrow reads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import _core
from ._data import Data, of_numbers
from ._labels import class_name

#: Files that pyarrow reads; all others are read by the core.
ARROW_FILES = (".parquet", ".pq", ".arrow", ".feather", ".ipc")


def of_arrow(table: Any) -> Data:
    """A table of Arrow, whose index, where it was one of pandas, is no feature."""
    index = _index_columns(table.schema) if hasattr(table, "schema") else []
    if not index:
        return of_numbers(table)
    features = [i for i, c in enumerate(table.schema.names) if c not in index]
    data = of_numbers(table.select(features))
    data.source, data.ids = table, _index_values(table, index)
    data.columns = [table.schema.names[i] for i in features]
    if data.ids is not None:
        data.notes.append(_index_note(index))
    return data


def read_arrow(path: str, label_column: str, id_column: str, columns: list[str] | None,
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
        unique = len(set(there)) == len(there)
        wanted = None if columns is None and not (excluded and unique) else list(
            dict.fromkeys([*features, *extra, *index]))
        _refuse_too_large(path, _stored_bytes(path, wanted), memory)
        table = (pa.parquet if parquet else pa.feather).read_table(path, columns=wanted)
        _refuse_too_large(path, table.nbytes, memory)  # what was stored in short
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
        data = of_numbers(table.select(chosen))
    except ValueError as e:
        raise ValueError(f"{path}: {e}") from e
    if ids is not None and index:
        data.notes.append(_index_note(index))
    data.columns, data.ids, data.labels = features, ids, labels
    return data


def _is_part_of(columns: set[str], path: str) -> bool:
    """``embedding.list.element`` is part of ``embedding``, and of ``a.b`` when that is a name."""
    while path and path not in columns:
        path = path.rpartition(".")[0]
    return bool(path)


def _stored_bytes(path: str, columns: list[str] | None) -> int:
    """What the numbers of a table take at least, from what the file says about itself."""
    import pyarrow.parquet

    if not path.lower().endswith((".parquet", ".pq")):
        return os.path.getsize(path)
    groups = pyarrow.parquet.read_metadata(path)
    parts = (groups.row_group(g).column(c) for g in range(groups.num_row_groups)
             for c in range(groups.num_columns))
    names = None if columns is None else set(columns)
    return sum(p.total_uncompressed_size for p in parts
               if names is None or _is_part_of(names, p.path_in_schema))


def _refuse_too_large(path: str, stored: int, memory: int) -> None:
    """The numbers of the table are held, and once more as points."""
    if 2 * stored > memory:
        raise MemoryError(
            f"{path}: takes at least {_core.format_bytes(2 * stored)} while it is read, more than "
            f"the {_core.format_bytes(memory)} allowed; allow more memory, choose columns, or save "
            "the points as npy, which may stay in the file")


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
