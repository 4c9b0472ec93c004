"""Points in every container: the same picks, in place where that can be, never a crash."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from asking import notes, picks, run_python

import fwsr
from fwsr import _containers, _labels

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
