"""Files as points: mapped arrays, and fwsr.read."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from asking import picks, run_python

import fwsr
from fwsr import _mapped

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
