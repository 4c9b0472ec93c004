"""Tables as pandas writes them, and matrices that are no kernel."""

import numpy as np
import pytest

import fwsr

pd = pytest.importorskip("pandas")


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(40, 5))


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_what_pandas_writes_is_read_as_it_was(X, tmp_path, index, named):
    frame = pd.DataFrame(X, columns=list("abcde") if named else None)
    frame.to_csv(tmp_path / "x.csv", index=index)
    data = fwsr.read(tmp_path / "x.csv")
    assert np.array_equal(data.values, X) and data.columns == [str(c) for c in frame.columns]
    assert data.ids == ([str(i) for i in range(40)] if index else None)
    assert data.table["header"] is True
    assert named or ("header=False makes it a point" in data.table["text"]) == (not index)
    assert (data.table["id_column"] is None) == (not index)
    assert any("with a header" in note for note in data.notes)
    again = pd.read_csv(tmp_path / "x.csv")
    again.to_csv(tmp_path / "again.csv")
    twice = fwsr.read(tmp_path / "again.csv")
    assert np.array_equal(twice.values, X)
    assert len(twice.table["left_out"]) == (1 if index else 0)
    shuffled = frame.sample(frac=1, random_state=1)
    shuffled.to_csv(tmp_path / "s.csv")
    assert fwsr.read(tmp_path / "s.csv").ids == [str(i) for i in shuffled.index]


def test_what_numpy_writes_is_read_as_it_was(X, tmp_path):
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b,c,d,e", comments="# ")
    data = fwsr.read(tmp_path / "x.csv")
    assert np.array_equal(data.values, X) and data.columns == list("abcde")
    whole = np.arange(12.0).reshape(4, 3)
    np.savetxt(tmp_path / "w.csv", whole, delimiter=",", fmt="%d")
    assert np.array_equal(fwsr.read(tmp_path / "w.csv").values, whole)


def test_header_is_what_was_said(tmp_path):
    (tmp_path / "x.csv").write_text("0,1,2\n0.5,1.5,2.5\n")
    for header, rows in ((None, 1), ("auto", 1), (True, 1), ("yes", 1), (False, 2), ("no", 2)):
        data = fwsr.read(tmp_path / "x.csv", header=header)
        assert len(data) == rows and data.table["header"] == (rows == 1)
    for wrong in ("maybe", 1, []):
        with pytest.raises(ValueError, match="header must be"):
            fwsr.read(tmp_path / "x.csv", header=wrong)
    with pytest.raises(ValueError, match="header"):
        fwsr.read("digits", header=True)


def test_columns_by_ranges_and_without_some(X, tmp_path):
    pd.DataFrame(X, columns=list("abcde")).to_csv(tmp_path / "x.csv", index=False)
    for how in ({"columns": ["b-d"]}, {"columns": ["2-4"]}, {"exclude_columns": ["a", "e"]},
                {"columns": ["a-d"], "exclude_columns": [1]}):
        data = fwsr.read(tmp_path / "x.csv", **how)
        assert np.array_equal(data.values, X[:, 1:4]) and data.columns == list("bcd"), how
        assert len(data.table["left_out"]) == 2
    with pytest.raises(TypeError, match="exclude_columns"):
        fwsr.read(tmp_path / "x.csv", exclude_columns="ab")
    with pytest.raises(ValueError, match="no column 'z'"):
        fwsr.read(tmp_path / "x.csv", exclude_columns=["z"])


def test_columns_of_arrow_files_can_be_excluded(X, tmp_path):
    pytest.importorskip("pyarrow")
    pd.DataFrame(X, columns=list("abcde")).assign(y="x").to_parquet(tmp_path / "x.parquet")
    data = fwsr.read(tmp_path / "x.parquet", exclude_columns=["b"], label_column="y")
    assert data.columns == list("acde") and data.table is None
    with pytest.raises(ValueError, match="no column 'z'"):
        fwsr.read(tmp_path / "x.parquet", exclude_columns=["z"])
    with pytest.raises(ValueError, match="header"):
        fwsr.read(tmp_path / "x.parquet", header=True)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.parametrize("name", [None, "key"])
def test_a_pandas_index_in_arrow_files_is_ids_and_no_feature(X, tmp_path, kind, name):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet
    keys = 1000 + 7 * np.arange(len(X))
    frame = pd.DataFrame(X, columns=list("abcde"), index=pd.Index(keys, name=name))
    table, path = pa.Table.from_pandas(frame), str(tmp_path / f"x.{kind}")
    assert table.num_columns == 6
    parquet.write_table(table, path) if kind == "parquet" else feather.write_feather(table, path)
    column = name or "__index_level_0__"
    data = fwsr.read(path)
    assert np.array_equal(data.values, X) and data.columns == list("abcde")
    assert data.ids == [str(k) for k in keys] and column in data.notes[-1]
    some = fwsr.read(path, columns=["c", "a"])
    assert np.array_equal(some.values, X[:, [2, 0]]) and some.ids == data.ids
    assert fwsr.read(path, exclude_columns=["b"]).columns == list("acde")
    # What the user says goes before.
    asked = fwsr.read(path, columns=["a", column])
    assert np.array_equal(asked.values, np.column_stack([X[:, 0], keys])) and asked.ids is None
    labelled = fwsr.read(path, label_column=column)
    assert labelled.labels == data.ids and labelled.ids is None and labelled.shape == X.shape
    named = fwsr.read(path, id_column="b")
    assert named.columns == list("acde") and named.ids[0] == str(X[0, 1])
    # The same table without a file: the index as its values.
    chosen = fwsr.select(table, 3)
    assert list(chosen) == list(fwsr.select(X, 3)) and chosen.ids == keys[chosen.exemplars].tolist()
    assert fwsr.FWSR(3).fit(table).feature_names_in_.tolist() == list("abcde")


def test_other_indices_in_arrow_files(X, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet
    path = tmp_path / "x.parquet"
    frame = pd.DataFrame(X, columns=list("abcde"))
    for keep in (None, True):  # one that only counts: noted without a column, or as one
        parquet.write_table(pa.Table.from_pandas(frame, preserve_index=keep), path)
        data = fwsr.read(path)
        assert np.array_equal(data.values, X) and data.ids is None, keep
    frame.index = pd.MultiIndex.from_arrays([["u", "v"] * (len(X) // 2), 2 * np.arange(len(X))],
                                            names=["place", None])
    frame.to_parquet(path)
    data = fwsr.read(path)
    assert np.array_equal(data.values, X) and data.ids[:2] == ["u, 0", "v, 2"]
    table = parquet.read_table(path)
    assert fwsr.select(table, 2).ids == [frame.index[i] for i in fwsr.select(X, 2)]
    feather.write_feather(pa.table([X[:, 0], X[:, 1]], names=["x", "x"]), tmp_path / "x.feather")
    assert fwsr.read(tmp_path / "x.feather").columns == ["x", "x"]
    for noted in (b"no json", b"[]", b'{"index_columns": 3}', b'{"index_columns": ["gone", 5]}'):
        parquet.write_table(pa.table({"a": X[:, 0]}).replace_schema_metadata({b"pandas": noted}),
                            path)
        assert fwsr.read(path).columns == ["a"], noted


def test_ranges_of_columns_of_arrow_files(X, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.parquet"
    names = ["p0", "p-1", "p2", "p3", "p4"]
    pd.DataFrame(X, columns=names, index=np.arange(len(X)) + 3).to_parquet(path)
    assert fwsr.read(path, columns=["p0-p2"]).columns == names[:3]
    assert fwsr.read(path, columns=["p-1-p3"], label_column="p2").columns == ["p-1", "p3"]
    assert fwsr.read(path, columns=["p0-p4"], exclude_columns=["p2-p3"]).columns == [
        "p0", "p-1", "p4"]
    with pytest.raises(ValueError, match="runs backwards; write p2-p4"):
        fwsr.read(path, columns=["p4-p2"])
    with pytest.raises(ValueError, match="no column 'p2-p9'"):
        fwsr.read(path, columns=["p2-p9"])


def test_columns_of_words_are_named_with_what_leaves_them_out(X, tmp_path):
    frame = pd.DataFrame(X, columns=list("abcde")).assign(kind="x", place="y")
    frame.to_csv(tmp_path / "x.csv", index=False)
    wanted = r"out: exclude_columns=\['kind', 'place'\], or"
    with pytest.raises(ValueError, match=wanted) as refused:
        fwsr.select(str(tmp_path / "x.csv"), 3)
    assert "--" not in str(refused.value)
    assert fwsr.read(tmp_path / "x.csv", exclude_columns=["kind", "place"]).shape == X.shape


# ------------------------------------------------------------------------------------- no kernels


def test_distances_are_no_kernel(X):
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    for call in (lambda: fwsr.select(D, 3, kernel="precomputed"),
                 lambda: fwsr.FWSR(3, kernel="precomputed").fit(D.astype(np.float32)),
                 lambda: fwsr.select(D, 3, kernel="precomputed", method="rrqr"),
                 lambda: fwsr.sweep(D, 3, alphas=[1], etas=[0], kernel="precomputed")):
        with pytest.raises(ValueError, match=r"looks like distances.*numpy\.exp"):
            call()
    K = np.exp(-D**2 / np.median(D**2))  # the line that the message proposes
    assert len(fwsr.select(K, 3, kernel="precomputed").exemplars) == 3
    assert len(fwsr.select(D, 3, method="kmedoids", metric="precomputed").exemplars) == 3


def test_an_indefinite_matrix_is_no_kernel(X):
    signs = np.triu(np.sign(np.random.default_rng(1).normal(size=(40, 40))), 1)
    K = np.eye(40) + 0.5 * (signs + signs.T)
    smallest = np.linalg.eigvalsh(K)[0]
    with pytest.raises(ValueError, match="not positive semi-definite") as refused:
        fwsr.select(K, 3, kernel="precomputed")
    assert f"{smallest:.4g}" in str(refused.value)
    with pytest.raises(ValueError, match="looks like distances"):
        fwsr.select(X, 3, kernel=lambda A, B: np.linalg.norm(A[:, None] - B[None], axis=2))


def test_a_kernel_of_float32_is_one(X):
    K = np.exp(-((X[:, None, :1] - X[None, :, :1]) ** 2).sum(2) / 20)
    single = K.astype(np.float32)
    assert np.linalg.eigvalsh(single.astype(float))[0] < 0
    for given in (single, single.astype(float)):
        assert fwsr.select(given, 5, kernel="precomputed").certificate.f >= 0
