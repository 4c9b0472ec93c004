"""Points in sparse matrices, tables, tensors: used where they are, or converted, and said."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from asking import notes, picks

import fwsr
from fwsr import _containers

# ---------------------------------------------------------------------------------- sparse matrices


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_csr_is_used_in_place(sparse, kind, index, dtype):
    X = kind(sparse.astype(dtype))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    data = _containers.as_data(X)
    assert data.notes == []
    for name in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(data.values, name), getattr(X, name))
    assert picks(X) == picks(sparse.astype(dtype))


@pytest.mark.parametrize("format", ["csc", "coo", "bsr", "lil", "dok", "dia"])
def test_other_sparse_formats_are_converted(sparse, format):
    X = sparse.asformat(format)
    assert picks(X) == picks(sparse)
    assert f"in {format} format, copied to CSR" in notes(X)
    taken = _containers.take(X, np.array([3, 1]))
    assert taken.toarray().tolist() == sparse[[3, 1]].toarray().tolist()


def test_sparse_picks_are_those_of_the_same_dense_points(sparse):
    whole = (100 * sparse).astype(np.uint8)
    for X in (sparse, whole):
        for how in ({"method": "fwsr"}, {"kernel": "rbf"}):
            assert picks(X, **how) == picks(X.toarray(), **how)


def test_unsorted_and_duplicate_entries_are_put_right_in_a_copy(sparse):
    X = sparse.copy()
    first, last = X.indptr[0], X.indptr[1]
    X.indices[first:last] = X.indices[first:last][::-1]
    X.data[first:last] = X.data[first:last][::-1]
    half = sp.csr_matrix((np.repeat(sparse.data, 2) / 2, np.repeat(sparse.indices, 2),
                          sparse.indptr * 2), shape=sparse.shape)
    for wrong in (X, half):
        for flag in (True, False):  # what SciPy believes does not matter
            wrong.has_sorted_indices = wrong.has_canonical_format = flag
            before = [a.copy() for a in (wrong.data, wrong.indices, wrong.indptr)]
            assert picks(wrong) == picks(sparse)
            assert "in a copy" in notes(wrong)
            for was, now in zip(before, (wrong.data, wrong.indices, wrong.indptr)):
                assert np.array_equal(was, now)


def _set(array: str, place: int, value: int):
    def change(X):
        getattr(X, array)[place] = value
        return X
    return change


@pytest.mark.parametrize("format", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("breakage", [
    _set("indices", 0, 199), _set("indices", 0, -1), _set("indices", -1, 2**31 - 1),
    _set("indptr", 3, 10**9), _set("indptr", 0, 4), _set("indptr", -1, 10**6),
    _set("indptr", 5, -3), _set("indptr", 1, 10**6),
])
def test_broken_sparse_matrices_are_refused(sparse, format, breakage):
    X = breakage(sparse.asformat(format).copy())
    with pytest.raises(ValueError, match="broken"):
        fwsr.select(X, 5)


def test_other_broken_sparse_matrices_are_refused(sparse):
    short = sparse.copy()
    short.data = short.data[:-3]
    few = sparse.copy()
    few.indptr = few.indptr[:-4]
    outside = sparse.tocoo()
    outside.row[3] = 10**6
    for X in (short, few, outside):
        with pytest.raises(ValueError, match="broken"):
            fwsr.select(X, 5)
    with pytest.raises(ValueError, match="NaN"):
        fwsr.select(sp.csr_matrix(([np.nan, 1.0], ([0, 1], [0, 1])), shape=(2, 2)), 1)
    with pytest.raises(ValueError, match="Complex"):
        fwsr.select(sparse.astype(complex), 5)


def test_empty_rows_and_empty_matrices(sparse):
    X = sp.vstack([sp.csr_matrix((3, 40)), sparse, sp.csr_matrix((2, 40))]).tocsr()
    assert picks(X, method="fwsr") == picks(X.toarray(), method="fwsr")
    with pytest.warns(UserWarning):
        assert len(fwsr.select(sp.csr_matrix((10, 4)), 3)) == 0


# ------------------------------------------------------------------------------------------- tables


def test_pandas(X):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcdefg"), index=[f"row {i}" for i in range(len(X))])
    assert picks(frame) == picks(X)
    single = frame.astype("float32")
    assert _containers.as_data(single).values.dtype == np.float32
    taken = _containers.take(frame, np.array([5, 2]))
    assert list(taken.index) == ["row 5", "row 2"] and list(taken.columns) == list("abcdefg")
    mixed = frame.assign(b=frame.b > 0, c=(frame.c * 10).astype("int8"),
                         d=(frame.d * 10).round().astype("Int64"), e=frame.e.astype("Float32"),
                         f=pd.arrays.SparseArray((frame.f * 3).round()))
    assert picks(mixed) == picks(mixed.to_numpy(dtype=float))
    objects = frame.astype({"a": object})
    assert picks(objects) == picks(X)


def test_pandas_sparse_columns_become_csr(sparse):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame.sparse.from_spmatrix(sparse)
    assert sp.issparse(_containers.as_data(frame).values)
    assert picks(frame) == picks(sparse)


@pytest.mark.parametrize("column, words", [
    (lambda pd: ["x"] * 120, "column 's' holds .*not numbers"),
    (lambda pd: pd.Categorical(["u", "v"] * 60), "column 's' holds category"),
    (lambda pd: pd.Timestamp("2020-01-01"), "column 's' holds datetime"),
    (lambda pd: pd.array([None, *range(119)], dtype="Int64"), "column 's' has 1 missing value "),
    (lambda pd: [object()] * 120, "column 's' holds"),
    (lambda pd: [np.nan, *range(119)], "NaN"),
])
def test_columns_that_hold_no_numbers_are_named(X, column, words):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X).assign(s=column(pd))
    frame.columns = frame.columns.astype(str)
    with pytest.raises(ValueError, match=words):
        fwsr.select(frame, 5)


def test_polars(X):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(X, schema=list("abcdefg"))
    assert picks(frame) == picks(X)
    assert _containers.take(frame, np.array([5, 2])).equals(frame[[5, 2]])
    mixed = frame.with_columns(b=pl.col("b") > 0, c=(pl.col("c") * 10).cast(pl.Int8))
    assert picks(mixed) == picks(np.column_stack(
        [c.to_numpy().astype(float) for c in mixed.get_columns()]))
    for embedded in (pl.DataFrame({"e": X.tolist()}), pl.DataFrame({"e": X})):
        assert picks(embedded) == picks(X)
    both = pl.DataFrame({"e": X[:, :5].tolist(), "f": X[:, 5], "g": X[:, 6]})
    assert picks(both) == picks(X)
    for bad, error, words in [
        (frame.lazy(), TypeError, "collect"),
        (frame["a"], TypeError, "DataFrame"),
        (frame.with_columns(s=pl.lit("x")), ValueError, "column 's' holds String"),
        (pl.DataFrame({"e": [1.0, None], "f": [1, 2]}), ValueError, "column 'e' has 1 missing"),
        (pl.DataFrame({"e": [[1.0, 2.0], [1.0]]}), ValueError, "different lengths"),
        (pl.DataFrame({"e": [[1.0, None], [1.0, 2.0]]}), ValueError, "missing"),
        (pl.DataFrame({"e": [["a"], ["b"]]}), ValueError, "not numbers"),
        (pl.DataFrame(), ValueError, "no columns"),
    ]:
        with pytest.raises(error, match=words):
            fwsr.select(bad, 1)


def test_arrow(X):
    pa = pytest.importorskip("pyarrow")
    names = list("abcdefg")
    table = pa.table({n: X[:, i] for i, n in enumerate(names)})
    chunked = pa.concat_tables([table.slice(0, 50), table.slice(50, 1), table.slice(51)])
    parts = [pa.array(X[:70].tolist()), pa.array(X[70:].tolist())]
    lists = pa.table({"e": pa.chunked_array(parts)})
    fixed = pa.table({"e": pa.FixedSizeListArray.from_arrays(X.ravel(), 7)})
    both = pa.table({"e": lists["e"], "f": X[:, 0]})
    for given in (table, chunked, table.to_batches()[0], lists, fixed, lists.slice(0)):
        assert picks(given) == picks(X)
    assert picks(lists.slice(20, 80)) == picks(X[20:100])
    assert picks(fixed.slice(20, 80)) == picks(X[20:100])
    assert picks(both) == picks(np.column_stack([X, X[:, 0]]))
    assert _containers.take(table, np.array([5, 2])).equals(table.take([5, 2]))
    exact = pa.array([1, 5, 2]).cast(pa.decimal128(30, 2))
    decimal = pa.table({"d": exact, "b": [True, False, True]})
    assert picks(decimal, 2, center="none") == picks(np.array([[1.0, 1], [5, 0], [2, 1]]), 2,
                                                      center="none")
    for bad, error, words in [
        (table.append_column("s", pa.array(["x"] * len(X))), ValueError, "column 's' holds string"),
        (pa.table({"e": [1.0, None]}), ValueError, "column 'e' has 1 missing value "),
        (pa.table({"e": [[1.0], [1.0, 2.0]]}), ValueError, "different lengths"),
        (pa.table({"e": [[1.0, None], [1.0, 2.0]]}), ValueError, "missing"),
        (pa.table({"e": [["a"]]}), ValueError, "not numbers"),
        (pa.table({}), ValueError, "no columns"),
        (lists.slice(0, 0), ValueError, "0 "),
        (table["a"], TypeError, "Table or RecordBatch"),
    ]:
        with pytest.raises(error, match=words):
            fwsr.select(bad, 1)


class OnlyDlpack:
    """What a library that NumPy has never heard of gives."""

    def __init__(self, array: np.ndarray, device: int = 1):
        self._array, self._device = array, device

    def __dlpack__(self, **how):
        return self._array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self._device, 0


def test_dlpack(X):
    given = OnlyDlpack(X)
    assert np.shares_memory(_containers.as_data(given).values, X)
    assert picks(given) == picks(X)
    assert np.array_equal(fwsr.Exchange(3).fit(given).exemplars_, X[picks(X, 3)])
    with pytest.raises(ValueError, match="CPU"):
        fwsr.select(OnlyDlpack(X, device=4), 3)


def test_torch(X):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(X, requires_grad=True)
    assert picks(tensor) == picks(X)
    assert torch.equal(_containers.take(tensor, np.array([5, 2])), tensor[[5, 2]])


def test_take_keeps_the_container(X):
    indices = np.array([4, 1])
    assert _containers.take(X.tolist(), indices) == [X[4].tolist(), X[1].tolist()]
    assert isinstance(_containers.take(tuple(X), indices), tuple)
    assert np.array_equal(_containers.take(_containers.as_data(X), indices), X[indices])
    with pytest.raises(TypeError, match=r"fwsr\.read"):
        _containers.take("points.npy", indices)
