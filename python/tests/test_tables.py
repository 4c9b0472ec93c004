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
