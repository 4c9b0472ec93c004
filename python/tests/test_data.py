"""Points in every container: the same picks, in place where that can be, never a crash."""

from __future__ import annotations

import gzip
import subprocess
import sys
import textwrap
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import fwsr
from fwsr import _containers, _labels, _mapped


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(120, 7))


@pytest.fixture(scope="module")
def counts() -> np.ndarray:
    return np.random.default_rng(1).integers(0, 200, size=(120, 7))


@pytest.fixture(scope="module")
def sparse() -> sp.csr_matrix:
    return sp.random(150, 40, density=0.2, format="csr", random_state=0, dtype=np.float64)


def picks(X, k=5, **options) -> list[int]:
    return fwsr.select(X, k, **options).exemplars.tolist()


def notes(X) -> str:
    return " | ".join(fwsr.plan(X, 5).notes)


def run_python(code: str, *arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
                          capture_output=True, text=True, timeout=120, check=False)


# ------------------------------------------------------------------------------------- NumPy arrays


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method, n", [("fwsr", 200_000), ("exchange", 50_000)])
def test_large_arrays_are_used_in_place(method, n, dtype):
    # A process of its own: the peak of this one may be from an earlier test.
    done = run_python("""
        import sys, numpy as np, fwsr, tracemalloc
        def peak():
            return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status")
                        if line.startswith("VmHWM"))
        X = np.random.default_rng(0).normal(size=(int(sys.argv[3]), 64)).astype(sys.argv[1])
        fwsr.select(X[:1000], 3, method=sys.argv[2], n_jobs=2)
        before = peak()
        tracemalloc.start()
        chosen = fwsr.select(X, 4, method=sys.argv[2], n_jobs=2)
        _, traced = tracemalloc.get_traced_memory()
        assert chosen.plan.notes == [], chosen.plan.notes
        print((peak() - before) / X.nbytes, traced / X.nbytes,
              (peak() - before) / chosen.plan.memory_bytes)
    """, np.dtype(dtype).name, method, n)
    assert done.returncode == 0, done.stderr
    resident, traced, of_plan = map(float, done.stdout.split())
    if method == "fwsr":  # else also a factor of the kernel
        assert resident < 0.5  # per point a few numbers and its place, never its 64 features
    assert traced < 0.05
    assert of_plan < 1.5


def test_read_only_arrays_are_used_in_place_and_nothing_is_written(X):
    for given in (X, X.astype(np.float32)):
        kept = given.copy()
        given.setflags(write=False)
        assert np.shares_memory(_containers.as_data(given).values, given)
        assert picks(given) == picks(kept)
        given.setflags(write=True)
        picks(given, kernel="rbf"), picks(given, method="kmedoids"), picks(given, scale="standard")
        assert np.array_equal(given, kept)


@pytest.mark.parametrize("view", [
    lambda X: X[::2], lambda X: X[:, :4], lambda X: X[3:90:3, 2:6], lambda X: X[:, 2:3],
    lambda X: X[5:6], lambda X: np.broadcast_to(X[:1], X[:1].shape),
], ids=["every other row", "first columns", "both", "one column", "one row", "broadcast row"])
def test_views_of_rows_are_used_in_place(X, view):
    part = view(X)
    data = _containers.as_data(part)
    assert data.notes == [] and np.shares_memory(data.values, X)
    k = min(3, len(part))
    assert picks(part, k, center="none") == picks(part.copy(), k, center="none")


@pytest.mark.parametrize("change, said", [
    (np.asfortranarray, "copied once"),
    (lambda X: X[::-1][::-1].T.copy().T, "copied once"),
    (lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1], "copied once"),
    (lambda X: np.ascontiguousarray(X[::-1])[::-1], "copied once"),
    (lambda X: X.astype(">f8"), "big-endian float64 converted once to float64"),
    (lambda X: X.astype(np.longdouble), "converted once to float64"),
    (lambda X: X.astype(object), "object converted once to float64"),
    (lambda X: X.tolist(), "a list, copied once"),
    (lambda X: tuple(map(tuple, X.tolist())), "a tuple, copied once"),
    (lambda X: list(X), "a list, copied once"),
    (lambda X: np.ma.masked_array(X), ""),
    (lambda X: memoryview(X), ""),
], ids=["F order", "columns", "columns backwards", "rows backwards", "big-endian", "longdouble",
        "object", "list", "tuple", "list of rows", "masked array without mask", "memoryview"])
def test_other_layouts_give_the_same_picks_and_say_what_was_copied(X, change, said):
    given = change(X)
    assert picks(given) == picks(X)
    assert said in notes(given) if said else notes(given) == ""


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint64"])
def test_numbers_of_other_types_are_converted_once(counts, dtype):
    given = counts.astype(dtype)
    assert picks(given) == picks(given.astype(np.float64))
    assert f"{dtype} converted once to float64" in notes(given)
    assert ("2^53" in notes(given)) == (dtype in ("int64", "uint64"))


def test_unaligned_points_are_copied(X):
    raw = np.empty(X.nbytes + 1, dtype=np.uint8)
    shifted = np.frombuffer(raw, dtype=np.float64, count=X.size, offset=1).reshape(X.shape)
    shifted[:] = X
    assert picks(shifted) == picks(X)
    assert "copied once" in notes(shifted)


@pytest.mark.parametrize("bad, error, words", [
    (lambda X: (row for row in X), TypeError, "generator; make a list"),
    (lambda X: None, TypeError, "NoneType"),
    (lambda X: 5, TypeError, "int"),
    (lambda X: {"a": 1}, TypeError, "dict"),
    (lambda X: X[0], ValueError, "2D"),
    (lambda X: X[None], ValueError, "reshape"),
    (lambda X: np.float64(3), ValueError, "2D"),
    (lambda X: X[:0], ValueError, "0 sample"),
    (lambda X: X[:, :0], ValueError, "0 feature"),
    (lambda X: [[1, 2], [3]], ValueError, "array"),
    (lambda X: [[1, "a"]], ValueError, "not numbers"),
    (lambda X: [], ValueError, "array"),
    (lambda X: X.astype(str), ValueError, "not numbers"),
    (lambda X: X + 1j, ValueError, "Complex"),
    (lambda X: X.astype("M8[s]"), ValueError, "datetime64"),
    (lambda X: np.zeros((4, 2), dtype=[("a", "f8")]), ValueError, "not numbers"),
    (lambda X: np.ma.masked_array(X, X > 1), ValueError, "masked; fill them in"),
    (lambda X: np.where(X > 2, np.nan, X), ValueError, "NaN"),
    (lambda X: np.where(X > 2, np.inf, X), ValueError, "infin"),
    (lambda X: np.array([[1, {}]], dtype=object), TypeError, "number"),
    (lambda X: b"bytes", ValueError, "not numbers"),
])
def test_what_is_no_points_is_refused_in_words(X, bad, error, words):
    with pytest.raises(error, match=words):
        fwsr.select(bad(X), 1)


# ------------------------------------------------------------------------------------- mapped files


@pytest.fixture(scope="module")
def large_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("mapped") / "large.f32"
    rng = np.random.default_rng(3)
    with open(path, "wb") as file:
        file.writelines(rng.standard_normal((25_000, 128), dtype=np.float32).tobytes()
                        for _ in range(16))
    return path


def test_a_mapped_file_that_does_not_fit_is_read_in_blocks(large_file):
    assert large_file.stat().st_size > 200e6
    done = run_python("""
        import functools, sys, numpy as np, fwsr
        def anonymous():
            return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status")
                        if line.startswith("RssAnon"))
        X = np.memmap(sys.argv[1], dtype=np.float32, mode="r", shape=(400_000, 128))
        peak = 0
        def look(p):
            global peak
            peak = max(peak, anonymous())
        before = anonymous()
        select = functools.partial(fwsr.select, n_jobs=1, method="fwsr")
        chosen = select(X, 4, memory="100M", callback=look)
        assert "read from its file in blocks" in chosen.plan.notes, chosen.plan.notes
        print(max(peak, anonymous()) - before, *chosen.exemplars)
        part = X[:180_000]
        held = fwsr.plan(part, 4, method="fwsr", n_jobs=1, memory="10G")
        # It fits, but not together with what the run takes, which depends on the processor.
        begun = select(part, 4, memory=held.data_bytes + held.memory_bytes // 2)
        assert "read from its file in blocks" in begun.plan.notes, begun.plan.notes
        assert begun.exemplars.tolist() == select(part, 4, n_jobs=2).exemplars.tolist()
        held = select(X, 4, n_jobs=2)
        assert held.plan.notes == [] and held.exemplars.tolist() == chosen.exemplars.tolist()
    """, large_file)
    assert done.returncode == 0, done.stderr
    grown = int(done.stdout.split()[0])
    assert 0 <= grown < 100 * 2**20


@pytest.mark.parametrize("dtype", ["float32", "float64", ">f8", "uint8", ">i4", "int64", "float16",
                                   "bool"])
@pytest.mark.parametrize("part", [slice(None), slice(17, 90)])
def test_mapped_arrays_of_any_type_slice_and_offset(tmp_path, counts, dtype, part):
    path, values = tmp_path / "x.bin", (counts > 100 if dtype == "bool" else counts).astype(dtype)
    with open(path, "wb") as file:
        file.write(b"x" * 8192 + b"y" * 40)
        file.write(values.tobytes())
    X = np.memmap(path, dtype=dtype, mode="r", shape=values.shape, offset=8232)[part]
    streamed = _mapped.of_memmap(X, 0)
    assert streamed.points.streamed and streamed.shape == X.shape
    assert np.array_equal(streamed.points.read_rows(0, len(X)), values[part])
    assert np.array_equal(streamed.rows(np.array([5, 2])), values[part][[5, 2]])
    expected = picks(values[part])
    assert picks(streamed) == expected
    assert picks(X) == expected  # fits: in place, or converted once
    assert picks(streamed, kernel="rbf") == picks(values[part], kernel="rbf")
    assert streamed.rows(np.array([], dtype=int)).shape == (0, 7)


def test_a_mapped_array_stays_in_place_where_its_file_does_not_say_the_same(tmp_path, X):
    np.save(tmp_path / "x.npy", X)
    changed = np.load(tmp_path / "x.npy", mmap_mode="c")
    changed[0] = 100.0  # only in memory
    assert _mapped.of_memmap(changed, 0) is None
    assert picks(changed) == picks(np.array(changed))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert _mapped.of_memmap(mapped[:, :3], 0) is None  # not contiguous
    (tmp_path / "x.npy").unlink()
    np.save(tmp_path / "x.npy", X + 1)
    assert _mapped.of_memmap(mapped, 0) is None  # another file by now
    assert picks(mapped) == picks(X)


def test_a_file_that_is_removed_or_cut_short_meanwhile(tmp_path, X):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    streamed = _mapped.of_memmap(mapped, 0)
    read = fwsr.read(tmp_path / "x.npy", memory=1000)
    assert read.points.streamed
    with open(tmp_path / "x.npy", "r+b") as file:
        file.truncate(1000)
    for data in (streamed, read):
        with pytest.raises(ValueError, match=r"x\.npy"):
            fwsr.select(data, 5)
    with pytest.raises(ValueError, match="shorter"):
        fwsr.select(mapped, 5)
    np.save(tmp_path / "y.npy", X)
    read = fwsr.read(tmp_path / "y.npy", memory=1000)
    (tmp_path / "y.npy").unlink()  # still open: still there
    assert picks(read) == picks(X)


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


# ---------------------------------------------------------------------------------------- fwsr.read


def _idx(path: Path, values: np.ndarray) -> None:
    sizes = b"".join(int(s).to_bytes(4, "big") for s in values.shape)
    path.write_bytes(bytes([0, 0, 8, values.ndim]) + sizes + values.astype(np.uint8).tobytes())


def test_every_format_of_the_core(tmp_path, X, counts, sparse):
    labels = [f"c{i % 3}" for i in range(len(X))]
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", a=X, b=X + 1)
    np.savez_compressed(tmp_path / "one.npz", X)
    sp.save_npz(tmp_path / "s.npz", sparse)
    lines = [",".join(["id", *"abcdefg", "label"])] + [
        ",".join([f"p{i}", *map(repr, map(float, row)), labels[i]]) for i, row in enumerate(X)]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    (tmp_path / "x.tsv").write_text("\n".join(lines).replace(",", "\t"))
    with gzip.open(tmp_path / "x.csv.gz", "wt") as file:
        file.write("\n".join(lines))
    (tmp_path / "x.libsvm").write_text("\n".join(
        f"{i % 3} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in enumerate(row))
        for i, row in enumerate(X)))
    _idx(tmp_path / "x-idx2-ubyte", counts)
    with gzip.open(tmp_path / "x-idx2-ubyte.gz", "wb") as file:
        file.write((tmp_path / "x-idx2-ubyte").read_bytes())

    expected = picks(X, method="fwsr")  # also where they are read as sparse
    for name, how in [("x.npy", {}), ("x.npz", {"variable": "a"}), ("one.npz", {}),
                      ("x.csv", {"label_column": "label", "id_column": "id"}),
                      ("x.tsv", {"label_column": 9, "id_column": 1}),
                      ("x.csv.gz", {"label_column": "label", "id_column": "id"}),
                      ("x.csv", {"columns": list("abcdefg")}), ("x.libsvm", {})]:
        data = fwsr.read(tmp_path / name, **how)
        assert data.shape == X.shape and len(data) == len(X), name
        assert picks(data, method="fwsr") == expected, name
        if "label_column" in how:
            assert data.labels == labels and data.ids[:2] == ["p0", "p1"]
            assert fwsr.select(data, 3).ids == [f"p{i}" for i in picks(X, 3)]
            per_class = fwsr.select(data, 2, per_class=True)
            assert list(per_class.classes) == ["c0", "c1", "c2"]
            assert per_class.exemplars.tolist() == picks(X, 2, y=labels, per_class=True)
    assert fwsr.read(tmp_path / "x.libsvm").labels[:4] == ["0", "1", "2", "0"]
    assert fwsr.read(tmp_path / "x.csv", columns=list("abcdefg")).columns == list("abcdefg")
    assert picks(fwsr.read(str(tmp_path / "s.npz"))) == picks(sparse)
    assert picks(tmp_path / "x.npy") == picks(str(tmp_path / "x.npy")) == picks(X)
    for name in ("x-idx2-ubyte", "x-idx2-ubyte.gz"):
        assert picks(fwsr.read(tmp_path / name)) == picks(counts.astype(np.float32))
    streamed = fwsr.read(tmp_path / "x-idx2-ubyte", memory=500)
    assert streamed.points.streamed and picks(streamed) == picks(counts.astype(np.float32))
    assert fwsr.read("digits").shape == (1797, 64)


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow", "x.feather", "x.pq", "x.ipc"])
def test_arrow_files(tmp_path, X, name):
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.feather")
    pytest.importorskip("pyarrow.parquet")
    labels = (np.arange(len(X)) % 3).astype(float)
    table = pa.table({"id": [f"p{i}" for i in range(len(X))], "e": X[:, :5].tolist(),
                      "f": X[:, 5], "g": X[:, 6], "y": labels})
    path = tmp_path / name
    if name.endswith(("parquet", "pq")):
        pa.parquet.write_table(table, path)
    else:
        pa.feather.write_feather(table, path)
    data = fwsr.read(path, label_column="y", id_column="id")
    assert data.shape == X.shape and picks(data) == picks(X)
    assert data.labels[:4] == ["0", "1", "2", "0"] and data.ids[1] == "p1"
    assert data.columns == ["e", "f", "g"]
    chosen = fwsr.FWSR(3).fit(data)
    assert chosen.exemplars_["f"].to_pylist() == X[chosen.exemplar_indices_, 5].tolist()
    some = fwsr.read(path, columns=["g", "f"], label_column="y")
    assert picks(some, 2, center="none") == picks(X[:, [6, 5]], 2, center="none")
    for how, words in [({"label_column": "no"}, "no column 'no'; it has id, e"),
                       ({"columns": ["f", "no"]}, "no column 'no'"),
                       ({}, "column 'id' holds"), ({"variable": "a"}, "npz")]:
        with pytest.raises(ValueError, match=words):
            fwsr.read(path, **how)
    with pytest.raises(MemoryError, match=f"{name}: takes at least .* than the 1.0 KiB allowed"):
        fwsr.read(path, label_column="y", id_column="id", memory="1K")
    path.write_bytes(b"no such format")
    with pytest.raises(ValueError, match=name):
        fwsr.read(path)


def test_columns_of_a_table_that_fit_are_read(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    wide = np.random.default_rng(1).normal(size=(2000, 20))
    table = pa.table({"a.b": wide[:, 0], "embedding": wide.tolist(), "c": wide[:, 1]})
    parquet.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(MemoryError):
        fwsr.read(tmp_path / "x.parquet", memory="100K")
    with pytest.raises(MemoryError):
        fwsr.read(tmp_path / "x.parquet", columns=["embedding"], memory="100K")
    for name in ("a.b", "c"):
        assert fwsr.read(tmp_path / "x.parquet", columns=[name], memory="100K").shape == (2000, 1)


def test_wrong_files_and_names(tmp_path, X):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n")
    np.savez(tmp_path / "x.npz", a=X, b=X)
    (tmp_path / "noise.npy").write_bytes(b"\x93NUMPY\x01\x00 and no more")
    for name in ("none.npy", "none.csv", "none.parquet", "none.feather"):
        with pytest.raises(FileNotFoundError, match=f"{name}: there is no such file"):
            fwsr.read(tmp_path / name)
        with pytest.raises(FileNotFoundError, match=name):
            fwsr.select(tmp_path / name, 3)
    for path, how, words in [
        ("x.csv", {"label_column": "no"}, "no"), ("x.csv", {"columns": ["a", "no"]}, "no"),
        ("x.npz", {"variable": "c"}, "c"), ("x.npz", {}, "a"), ("noise.npy", {}, "noise"),
        ("x.csv", {"variable": "a"}, "variable"), (".", {}, "folder"),
    ]:
        with pytest.raises(ValueError, match=words):
            fwsr.read(tmp_path / path, **how)
    for how in ({"columns": "ab"}, {"label_column": 1.5}, {"memory": 1.5}, {"columns": [None, {}]}):
        with pytest.raises(TypeError):
            fwsr.read(tmp_path / "x.csv", **how)
    with pytest.raises(TypeError):
        fwsr.read(5)


# ------------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize("y, names", [
    ([10, 9, 2], ["2", "9", "10"]),
    ([10.0, 9.0, 2.0], ["2", "9", "10"]),
    (["b", "a", "c"], ["a", "b", "c"]),
    (["10", "9", "2"], ["2", "9", "10"]),
    ([True, False, True], ["False", "True"]),
    (np.array([[3], [1], [2]]), ["1", "2", "3"]),
    (np.array(["b", "a", "b"], dtype=object), ["a", "b"]),
    ([-1, 0, -2], ["-2", "-1", "0"]),
    ([7, 7, 7], ["7"]),
])
def test_classes_are_named_and_ordered_as_on_the_command_line(y, names):
    X = np.repeat(np.random.default_rng(0).normal(size=(3, 2)), 4, axis=0) + np.arange(12)[:, None]
    chosen = fwsr.select(X, 1, y=np.repeat(y, 4, axis=0), per_class=True, center="none")
    assert list(chosen.classes) == names
    places, found, values = _labels.classes_of(np.repeat(y, 4, axis=0), 12)
    assert sorted(found) == sorted(names) and len(values) == len(names)
    assert [found[p] for p in places[::4]] == [_labels.class_name(v) for v in np.ravel(y)]


def test_labels_of_tables():
    pd = pytest.importorskip("pandas")
    for y in (pd.Series([1, 2, 1]), pd.Series([1, 2, 1], dtype="Int64"),
              pd.Categorical([1, 2, 1], categories=[2, 1]), pd.Series(["1", "2", "1"])):
        assert _labels.classes_of(y, 3)[1] == ["1", "2"]
    for y in (pd.Series([1, None, 1], dtype="Int64"), pd.Categorical(["a", None, "a"]),
              pd.Series(["a", None, "b"]), pd.Series([1.0, np.nan, 1.0])):
        with pytest.raises(ValueError, match="no label for point 1|NaN"):
            _labels.classes_of(y, 3)


@pytest.mark.parametrize("y, words", [
    (["a", None, "b"], "no label for point 1"),
    ([1, "a", 2], "mixes text and numbers"),
    ([1.0, np.nan, 2.0], "NaN"),
    ([1.0, np.inf, 2.0], "infinity"),
    ([0.5, 0.25, 1.0], "continuous"),
    ([1, 2], "3 points, but y has 2"),
    ([[1, 2], [3, 4], [5, 6]], "shape"),
    (5, "shape"),
])
def test_labels_that_are_none(y, words):
    with pytest.raises(ValueError, match=words):
        _labels.classes_of(y, 3)


def test_nothing_is_copied_behind_the_back_of_python(X):
    large = np.random.default_rng(0).normal(size=(20_000, 50))
    fwsr.select(large, 3)
    tracemalloc.start()
    fwsr.select(large, 3)
    fwsr.plan(large, 3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < large.nbytes / 10


def test_dask_arrays_without_a_cluster_are_brought_into_memory_and_that_is_said():
    array = pytest.importorskip("dask.array")
    X = np.random.default_rng(0).normal(size=(200, 6))
    lazy = array.from_array(X, chunks=(50, 6))
    with pytest.warns(UserWarning, match="brought into this process"):
        chosen = fwsr.select(lazy, 5)
    assert chosen.exemplars.tolist() == picks(X, 5)
    assert any("copied once" in note for note in chosen.plan.notes)
    with pytest.warns(UserWarning, match="brought into this process"):
        rows = fwsr.RRQR(4).fit(lazy).exemplars_
    assert isinstance(rows, array.Array) and rows.shape == (4, 6)


def test_a_file_that_took_the_name_of_the_mapped_one_is_not_read(tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 50))
    X[0] = X[-1] = 0
    np.save(tmp_path / "points.npy", X)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    other = X.copy()
    other[1:-1] += 5
    np.save(tmp_path / "other.npy", other)
    (tmp_path / "other.npy").replace(tmp_path / "points.npy")
    assert _mapped.of_memmap(mapped, 0) is None


def test_labels_from_a_file_of_their_own(tmp_path):
    X = np.random.default_rng(0).normal(size=(6, 2))
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "y.txt").write_text("a\nb\na\nb\na\nb\n")
    data = fwsr.read(tmp_path / "x.npy", labels=tmp_path / "y.txt")
    assert data.labels == ["a", "b"] * 3
    assert fwsr.RRQR(1, per_class=True).fit(data).classes_.tolist() == ["a", "b"]
    (tmp_path / "y.txt").write_text("a\n")
    with pytest.raises(ValueError, match="holds 1 labels, but .* holds 6 points"):
        fwsr.read(tmp_path / "x.npy", labels=tmp_path / "y.txt")
