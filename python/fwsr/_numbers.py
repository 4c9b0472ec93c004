"""Whatever people keep numbers in, as arrays: in place wherever that can be done.

To teach it a new container: a function that turns it into a NumPy array or a SciPy CSR matrix in
`numbers_of`, and one that takes rows of it in `take` of `_containers.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from . import _core

#: bfloat16 as NumPy can hold it: the upper half of a float32. ml_dtypes, where it is, has its own.
BFLOAT16 = np.dtype([("bfloat16", np.uint16)])


def is_bfloat16(dtype: Any) -> bool:
    return dtype == BFLOAT16 or getattr(dtype, "name", "") == "bfloat16"


def is_narrow(dtype: np.dtype) -> bool:
    """Whether the core takes such numbers as they are, and computes with them as float32."""
    return is_bfloat16(dtype) or dtype.itemsize <= 2 and dtype.kind in "iuf"


def widened(values: Any) -> Any:
    """Narrow numbers as float32; all others as they are."""
    if not isinstance(values, np.ndarray) or not is_narrow(values.dtype):
        return values
    if is_bfloat16(values.dtype):
        return (values.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float32)


def is_from(X: Any, package: str) -> bool:
    return type(X).__module__.split(".")[0] == package


def is_table(X: Any) -> bool:
    return hasattr(X, "iloc") or is_from(X, "polars") or is_from(X, "pyarrow")


def numbers_of(X: Any, notes: list[str], narrow: bool = True) -> Any:
    """An array of float32, float64 or narrow numbers with contiguous rows, or a canonical CSR
    matrix of float32 or float64.

    `X` itself where it is that already; else a copy, and a note that says so. Without `narrow`,
    numbers of one or two bytes become float32.
    """
    given = X
    if hasattr(X, "iloc") and hasattr(X, "dtypes") and hasattr(X, "columns"):
        X = _pandas_matrix(X, notes)
    elif is_from(X, "pyarrow"):
        X = _arrow_matrix(X)
    elif is_from(X, "polars"):
        X = _polars_matrix(X)
    elif not isinstance(X, np.ndarray) and hasattr(X, "__dlpack__"):
        X = from_dlpack(X)
    if sp.issparse(X):
        return _canonical_csr(X, notes)
    X = _plain_array(X)
    stored = X.dtype
    if is_bfloat16(stored):
        bits = check_array(X.view(np.uint16), dtype="numeric", order=None, copy=False)
        X = bits.view(stored)
    else:
        X = check_array(X, dtype="numeric", ensure_all_finite=False, order=None, copy=False)
    if narrow and stored == np.dtype(bool):
        X = X.view(np.uint8)  # 0 and 1
        stored = X.dtype
    target = held_type(stored) if narrow else point_type(stored)
    if stored != target:
        notes.append(_conversion(stored, target, X.size))
        return np.ascontiguousarray(widened(X), dtype=target)
    row = X.shape[1] * X.itemsize
    in_place = (X.flags.aligned and (X.shape[1] == 1 or X.strides[1] == X.itemsize)
                and (X.shape[0] == 1 or
                     (X.strides[0] >= row and X.strides[0] % X.itemsize == 0)))
    if not in_place:
        notes.append(f"not stored row by row: copied once ({_core.format_bytes(X.nbytes)})")
        return np.ascontiguousarray(X)
    if not isinstance(given, np.ndarray) and X.base is None:
        notes.append(f"a {type(given).__name__}, copied once to an array "
                     f"({_core.format_bytes(X.nbytes)})")
    return X


def _plain_array(X: Any) -> np.ndarray:
    """`X` as NumPy sees it, if that can be points at all."""
    if isinstance(X, np.ma.MaskedArray):
        if np.ma.is_masked(X):
            raise ValueError(f"{np.ma.count_masked(X)} values of X are masked; fill them in, as in "
                             "X.filled(0), or leave their rows out")
        X = X.data
    if not isinstance(X, np.ndarray):
        if getattr(X, "shape", None) is None and not isinstance(X, (Sequence, memoryview)) and (
                not hasattr(X, "__array__")):
            raise TypeError("X must be an array, a sparse matrix, a table, a list of rows, "
                            f"fwsr.Data or the path of a file, got {type(X).__name__}"
                            + ("; make a list of it" if hasattr(X, "__next__") else ""))
        try:
            X = np.asarray(X)
        except ValueError as e:
            raise ValueError(f"X cannot be made an array: {e}") from e
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers; give real and "
                         "imaginary parts as separate columns")
    if X.dtype.kind in "SUMmV" and not is_bfloat16(X.dtype):
        raise ValueError(f"X holds {X.dtype} and not numbers; turn it into numbers first")
    if X.ndim > 2:
        raise ValueError(f"X has the shape {X.shape}, and points are rows of numbers: give "
                         "X.reshape(len(X), -1), where each image or series is one row")
    return X


def _side_by_side(parts: list[np.ndarray]) -> np.ndarray:
    """The columns of a table as one matrix, copied once at most."""
    if not parts:
        raise ValueError("the table has no columns, so the points have no features")
    if len(parts) == 1:
        return parts[0]
    target = point_type(np.result_type(*parts))
    matrix = np.empty((len(parts[0]), sum(part.shape[1] for part in parts)), dtype=target)
    first = 0
    for part in parts:
        matrix[:, first:first + part.shape[1]] = part
        first += part.shape[1]
    return matrix


def _not_numbers(name: Any, kind: Any) -> ValueError:
    return ValueError(f"column '{name}' holds {kind} and not numbers; leave it out, or turn it "
                      "into numbers")


def _missing(name: Any, count: int) -> ValueError:
    return ValueError(f"column '{name}' has {count} missing value{'s' if count > 1 else ''} (NaN); "
                      "fill them in or leave their rows out")


def _pandas_matrix(X: Any, notes: list[str]) -> Any:
    sparse = [hasattr(kind, "fill_value") for kind in X.dtypes]
    kinds = []
    for i, (name, kind) in enumerate(zip(X.columns, X.dtypes)):
        plain = getattr(kind, "subtype", kind)  # of sparse columns
        plain = getattr(plain, "numpy_dtype", plain)  # of nullable ones
        if plain == np.dtype(object):
            try:
                X.iloc[:, i].astype(np.float64)
            except (TypeError, ValueError) as e:
                raise _not_numbers(name, f"such as {X.iloc[0, i]!r}" if len(X) else kind) from e
        elif not isinstance(plain, np.dtype) or plain.kind not in "biuf":
            raise _not_numbers(name, kind)
        kinds.append(plain)
        if not isinstance(kind, np.dtype) and (lost := int(X.iloc[:, i].isna().sum())):
            raise _missing(name, lost)
    if sparse and all(sparse):
        notes.append("a table of sparse columns, copied to CSR")
        return X.sparse.to_coo().tocsr()
    if len(set(X.dtypes)) <= 1 and all(isinstance(kind, np.dtype) for kind in X.dtypes):
        return X.to_numpy()
    return X.to_numpy(dtype=point_type(np.result_type(*kinds)) if kinds else None)


def _polars_matrix(X: Any) -> np.ndarray:
    import polars as pl

    if isinstance(X, pl.LazyFrame):
        raise TypeError("a LazyFrame holds no points yet; give X.collect()")
    if not isinstance(X, pl.DataFrame):
        raise TypeError(f"give a polars DataFrame, not a {type(X).__name__}")
    parts = []
    for column in X.get_columns():
        kind = column.dtype
        if isinstance(kind, (pl.List, pl.Array)):
            inner = kind.inner
            if isinstance(kind, pl.List):
                lengths = column.drop_nulls().list.len().unique().to_list()
                if len(lengths) > 1:
                    raise _different_lengths(column.name)
                column = column.list.to_array(lengths[0] if lengths else 0)
            lost = column.null_count()
            if not lost and column.dtype != pl.Array(inner, 0):  # empty lists explode to nulls
                lost = column.explode().null_count()
        else:
            inner, lost = kind, column.null_count()
        if not (inner.is_numeric() or inner == pl.Boolean):
            raise _not_numbers(column.name, kind)
        if lost:
            raise _missing(column.name, lost)
        parts.append(column.to_numpy().reshape(len(column), -1))
    return _side_by_side(parts)


def point_type(dtype: np.dtype) -> np.dtype:
    """float32 where that holds all values of `dtype`, else float64: the rule of the readers."""
    small = (dtype.kind in "biu" and dtype.itemsize <= 2 or is_bfloat16(dtype)
             or dtype.kind == "f" and dtype.itemsize <= 4)
    return np.dtype(np.float32 if small else np.float64)


def held_type(dtype: np.dtype) -> np.dtype:
    """What dense numbers of `dtype` are held as: narrow ones as they are, bool as uint8."""
    if dtype == np.dtype(bool):
        return np.dtype(np.uint8)
    if is_bfloat16(dtype):
        return dtype
    return dtype.newbyteorder("=") if is_narrow(dtype) else point_type(dtype)


def _conversion(given: np.dtype, target: np.dtype, size: int) -> str:
    digits = ("; values beyond 2^53 lose digits"
              if given.kind in "iu" and given.itemsize == 8 else "")
    swapped = "" if given.isnative else "big-endian "
    name = "bfloat16" if is_bfloat16(given) else given.name
    return (f"{swapped}{name} converted once to {target.name} "
            f"({_core.format_bytes(size * target.itemsize)}){digits}")


def _canonical_csr(X: Any, notes: list[str]) -> Any:
    _refuse_broken(X)
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{'Complex data not supported: ' if X.dtype.kind == 'c' else ''}the "
                         f"sparse matrix holds {X.dtype} and not real numbers")
    if X.format != "csr":
        notes.append(f"a sparse matrix in {X.format} format, copied to CSR")
    X = check_array(X.tocsr(), accept_sparse="csr", accept_large_sparse=True, dtype="numeric",
                    ensure_all_finite=False, copy=False)
    target = point_type(X.dtype)
    if X.dtype != target:
        notes.append(_conversion(X.dtype, target, X.nnz))
        X = X.astype(target)
    if X.indices.dtype != X.indptr.dtype:
        wide = np.promote_types(X.indices.dtype, X.indptr.dtype)
        X = type(X)((X.data, X.indices.astype(wide), X.indptr.astype(wide)), shape=X.shape)
    if not _is_canonical(X):
        notes.append("entries sorted and those of the same place added up, in a copy")
        X = X.copy()
        X.has_canonical_format = X.has_sorted_indices = False  # flags may be wrong
        X.sum_duplicates()
    return X


def _refuse_broken(X: Any) -> None:
    """Refuses entries outside of the matrix, where SciPy would read past the end of its arrays."""
    def broken(what: str) -> ValueError:
        return ValueError(f"the sparse matrix is broken: {what}")

    if X.format == "coo":
        for axis, (places, size) in enumerate(zip((X.row, X.col), X.shape)):
            if len(places) and not (0 <= places.min() and places.max() < size):
                raise broken(f"it has entries outside of its {size} "
                             f"{'columns' if axis else 'rows'}")
    if X.format not in ("csr", "csc", "bsr"):
        return
    lines, width = (X.shape[::-1] if X.format == "csc" else X.shape)
    if X.format == "bsr":
        lines, width = lines // X.blocksize[0], width // X.blocksize[1]
    starts, places = X.indptr, X.indices
    if starts.ndim != 1 or places.ndim != 1 or len(starts) != lines + 1:
        raise broken(f"indptr has the shape {starts.shape}, not ({lines + 1},)")
    if len(places) != len(X.data):
        raise broken(f"it has {len(X.data)} values, but {len(places)} indices")
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any() or starts[-1] > len(places):
        raise broken(f"indptr must ascend from 0 to at most {len(places)}, the number of entries")
    places = places[:starts[-1]]
    if len(places) and not (0 <= places.min() and places.max() < width):
        raise broken(f"it has indices outside of 0 to {width - 1}")


def _is_canonical(X: Any) -> bool:
    """Whether columns ascend within each row, found from the entries and not from flags."""
    entries = int(X.indptr[-1])
    if entries < 2:
        return True
    rises = X.indices[1:entries] > X.indices[:entries - 1]
    starts = X.indptr[1:-1]
    starts = starts[(starts > 0) & (starts < entries)]
    rises[starts - 1] = True
    return bool(rises.all())


def from_dlpack(X: Any) -> np.ndarray:
    if hasattr(X, "detach"):
        X = X.detach()
    device = X.__dlpack_device__()[0]
    if device != 1:
        raise ValueError("the points are not in the CPU's memory; move them there, as in X.cpu()")
    if str(getattr(X, "dtype", "")) == "torch.bfloat16":
        import torch

        return np.from_dlpack(X.view(torch.int16)).view(BFLOAT16)
    if getattr(getattr(X, "dtype", None), "name", "") == "bfloat16" and hasattr(X, "__array__"):
        return np.asarray(X)
    try:
        return np.from_dlpack(X)
    except (BufferError, RuntimeError, TypeError) as e:
        raise TypeError(f"NumPy cannot read this {type(X).__name__} ({e}); make it float32") from e


# ----------------------------------------------------------------------------------------- arrow


def _arrow_matrix(table: Any) -> np.ndarray:
    import pyarrow as pa

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if not isinstance(table, pa.Table):
        raise TypeError(f"give a pyarrow Table or RecordBatch, not {type(table).__name__}")
    return _side_by_side([_arrow_column(name, column)
                          for name, column in zip(table.column_names, table.columns)])


def _arrow_column(name: str, column: Any) -> np.ndarray:
    import pyarrow as pa

    if column.null_count:
        raise _missing(name, column.null_count)
    kind = column.type
    if pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind) or pa.types.is_large_list(kind):
        rows = column.combine_chunks()
        if isinstance(rows, pa.ChunkedArray):
            rows = pa.concat_arrays(rows.chunks) if rows.num_chunks else pa.array([], kind)
        lengths = rows.value_lengths().unique().to_pylist()
        if len(lengths) > 1:
            raise _different_lengths(name)
        flat = rows.flatten()
        if flat.null_count:
            raise _missing(name, flat.null_count)
        _require_number(name, flat.type)
        return flat.to_numpy(zero_copy_only=False).reshape(len(rows), lengths[0] if lengths else 0)
    _require_number(name, kind)
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    return column.to_numpy().reshape(-1, 1)


def _different_lengths(name: str) -> ValueError:
    return ValueError(f"the lists of column '{name}' are of different lengths")


def _require_number(name: str, kind: Any) -> None:
    import pyarrow as pa

    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
            or pa.types.is_decimal(kind)):
        raise _not_numbers(name, kind)
