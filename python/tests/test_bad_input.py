"""Whatever people pass: an answer that keeps its promises, or an error in words; never a crash."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import fwsr

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

REFUSED = (ValueError, TypeError, MemoryError, FileNotFoundError)  # text is a path
MEMORY = 200 * 2**20


def often(examples: int):
    return settings(max_examples=examples, derandomize=True, deadline=None, database=None,
                    suppress_health_check=list(HealthCheck))


# ------------------------------------------------------------------------------------------- points

DTYPES = ["f2", "f4", "f8", ">f4", "g", "?", "u1", "i2", "i8", "u8", "O", "c16", "U3", "M8[s]"]


@st.composite
def arrays(draw):
    """Small arrays of every shape, type, layout and kind of number."""
    dims = draw(st.sampled_from([2] * 12 + [0, 1, 3]))
    shape = tuple(draw(st.integers(0 if draw(st.booleans()) else 2, 14)) for _ in range(dims))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = np.asarray(rng.normal(size=shape))
    kind = draw(st.sampled_from(["plain"] * 4 + ["huge", "tiny", "denormal", "copies", "constant",
                                                 "zero", "mixed", "nan", "inf", "wide"]))
    if X.size:
        scale = {"huge": 1e300, "tiny": 1e-200, "denormal": 5e-324, "zero": 0.0, "wide": 1e155}
        X = np.asarray(X * scale.get(kind, 1.0))
        if kind == "copies" and X.ndim:
            X[:] = X[:1]
        elif kind == "constant":
            X[...] = 3.7
        elif kind == "mixed":
            X = X * 10.0 ** rng.integers(-150, 150, size=shape)
        elif kind in ("nan", "inf"):
            X.ravel()[rng.integers(X.size)] = np.nan if kind == "nan" else -np.inf
    dtype = draw(st.sampled_from(["f8"] * 8 + ["f4"] * 4 + DTYPES))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        X = np.asarray(X).astype(dtype)
    layout = draw(st.sampled_from(["C"] * 4 + ["F", "back", "step", "list", "frozen", "csr",
                                               "coo"]))
    if layout == "F":
        X = np.asfortranarray(X)
    elif layout == "back":
        X = X[::-1] if X.ndim else X
    elif layout == "step":
        X = X[::2] if X.ndim else X
    elif layout == "list":
        return X.tolist()
    elif layout == "frozen":
        X.setflags(write=False)
    elif layout in ("csr", "coo") and X.ndim == 2 and X.dtype.kind in "fiub" and X.dtype.isnative \
            and X.dtype.itemsize in (1, 4, 8):
        X = sp.coo_array(X).asformat(layout)
    return X


@st.composite
def broken_csr(draw):
    """CSR matrices of arrays that do not fit together."""
    n, d = draw(st.integers(0, 6)), draw(st.integers(0, 6))
    size = draw(st.integers(0, 12))
    whole = st.integers(-3, 15) | st.sampled_from([2**31 - 1, -(2**31)])
    X = sp.csr_matrix((n, d))
    X.data = np.array(draw(st.lists(st.floats(-9, 9), min_size=size, max_size=size)))
    X.indices = np.array(draw(st.lists(whole, min_size=size, max_size=size + 1)), dtype=np.int32)
    X.indptr = np.array(draw(st.lists(whole, min_size=n, max_size=n + 2)), dtype=np.int32)
    if draw(st.booleans()):
        X.indptr = np.sort(np.clip(X.indptr, 0, size))
    return X


anything = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 30), st.integers(), st.floats(), st.text(max_size=4),
    st.sampled_from([10**30, -(10**30), 1e308, np.float32(2), np.int8(3), np.True_, b"x", [], [1.0],
                     {}, {"a": 1}, (1, 2), object(), int, np.zeros(2), "inf", "yes", "1e5"]))


def mostly(good):
    """Now and then anything, else what is good."""
    return st.integers(0, 7).flatmap(lambda i: anything if i == 7 else good)


numbers = st.integers(0, 12) | st.floats(0, 20) | st.sampled_from([1, 2, 3, 4])
counts = mostly(st.integers(1, 4) | st.floats(0.01, 1)
                | st.sampled_from(["proportional", "proportional:3", {0: 1, 1: 2}, {"a": 1}]))

OPTIONS = {
    "alpha": mostly(numbers | st.just("auto")), "beta": mostly(numbers),
    "eta": mostly(numbers), "eta_relative": mostly(st.booleans()),
    "q": mostly(st.sampled_from([1, 2, "inf", np.inf])),
    "nonneg": mostly(st.booleans()),
    "kernel": mostly(st.sampled_from(["linear", "rbf", "polynomial", "cosine", "laplacian",
                                      "precomputed", "auto", lambda a, b: a @ b.T])),
    "gamma": mostly(numbers), "degree": mostly(st.integers(1, 5)),
    "coef0": mostly(numbers), "rank": mostly(st.integers(0, 5)),
    "center": mostly(st.sampled_from(["point", "feature", "none"])),
    "scale": mostly(st.sampled_from(["standard", "unit", "none"])),
    "when_converged": mostly(st.sampled_from(["grow", "stop"])),
    "fill": mostly(st.booleans()), "delta": mostly(numbers),
    "max_iterations": st.one_of(st.integers(1, 20), st.sampled_from([0, -1, 2.5, "x", None])),
    "lambda_": mostly(numbers), "rho": mostly(numbers),
    "certificate": mostly(st.sampled_from(["full", "none"])),
    "refine": mostly(st.sampled_from(["none", "exchange", "middle"])), "ridge": mostly(numbers),
    "precise": mostly(st.booleans()), "unheard_of": anything,
}
HOW = {
    "n_jobs": st.sampled_from([None, None, 1, 1, 2, -1, -99, 0, 1.5, "x"]),
    "seed": mostly(st.integers(0, 9)), "codes": mostly(st.booleans()),
    "per_class": mostly(st.booleans()), "verbose": st.just(0),
}


def size(X) -> int:
    if isinstance(X, list):
        return len(X)
    return X.shape[0] if getattr(X, "shape", ()) else 0


def some(strategies: dict, most: int):
    return st.lists(st.sampled_from(sorted(strategies)), max_size=most, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({n: strategies[n] for n in names}))


@st.composite
def labels(draw, X):
    n = size(X) + draw(st.sampled_from([0] * 8 + [1, -1]))
    of = draw(st.sampled_from([st.integers(0, 2), st.sampled_from(["a", "b", "c"]), st.booleans(),
                               st.sampled_from([0.0, 1.0]), st.floats(),
                               st.sampled_from([1, "a", None, np.nan, 2.5])]))
    y = draw(st.lists(of, min_size=max(0, n), max_size=max(0, n)))
    return draw(st.sampled_from([y, np.array(y, dtype=object), None, 5]))


def snapshot(X):
    if sp.issparse(X):
        return X.copy()
    return np.array(X, copy=True) if isinstance(X, np.ndarray) else None


def unchanged(X, before) -> bool:
    if before is None:
        return True
    if sp.issparse(X):
        X, before = X.toarray(), before.toarray()
    return X.tobytes() == before.tobytes() or np.array_equal(X, before)


def keeps_its_promises(chosen: fwsr.Selection, n: int, most: int) -> None:
    picked = chosen.exemplars.tolist()
    assert len(set(picked)) == len(picked) <= most
    assert all(0 <= i < n for i in picked)
    assert len(chosen.weights) == len(chosen.strength) == len(chosen.filled) == len(picked)
    if chosen.assignment is not None:
        assert chosen.assignment.shape == (n,)
        assert chosen.assignment.min() >= -1 and chosen.assignment.max() < len(picked)
        assert chosen.weights.sum() == pytest.approx((chosen.assignment >= 0).sum())
    if not chosen.filled.all() and not chosen.classes:  # points of zeros only stand for none
        assert chosen.weights.sum() == pytest.approx(n)
    assert chosen.to_json()


@often(450)
@given(data=st.data())
def test_select(data):
    X = data.draw(arrays())
    k = data.draw(counts)
    method = data.draw(st.sampled_from(["fwsr", "exchange"] * 6 + list(fwsr.methods())))
    common = ["kernel", "center", "scale", "fill", "certificate"]
    common += ["gamma", "rank", "refine", "ridge"] if method == "exchange" else []
    options = data.draw(some(OPTIONS, 3)) if method in ("fwsr", "k-fwsr") else data.draw(some(
        {name: OPTIONS[name] for name in common}, 2))
    how = data.draw(some(HOW, 2))
    y = data.draw(labels(X)) if data.draw(st.booleans()) else None
    before = snapshot(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            chosen = fwsr.select(X, k, method=method, y=y, memory=MEMORY, **how, **options)
        except REFUSED as e:
            assert str(e), type(e)
            assert "incompatible function arguments" not in str(e)
        else:
            most = k if isinstance(k, (int, np.integer)) and not chosen.classes else size(X)
            keeps_its_promises(chosen, size(X), most)
    assert unchanged(X, before)


ESTIMATOR_FIELDS = {
    "n_exemplars": counts, "per_class": HOW["per_class"], "n_jobs": HOW["n_jobs"],
    **{name: OPTIONS[name] for name in ("center", "scale", "fill", "kernel", "gamma", "degree",
                                        "coef0", "alpha", "eta", "q", "nonneg", "rank")},
    "random_state": mostly(st.integers(0, 5)), "init": anything, "metric": anything,
    "max_iterations": OPTIONS["max_iterations"],
}


@often(350)
@given(data=st.data())
def test_estimators(data):
    kind = data.draw(st.sampled_from(fwsr.ESTIMATORS))
    names = set(kind.__dataclass_fields__)
    given_ = {n: v for n, v in data.draw(some(ESTIMATOR_FIELDS, 4)).items() if n in names}
    model = kind(**{"n_exemplars": 3, **given_, "memory": MEMORY})
    X = data.draw(arrays())
    y = data.draw(labels(X)) if data.draw(st.booleans()) else None
    before = snapshot(X)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model.fit(X, y)
        except REFUSED as e:
            assert str(e) and "incompatible function arguments" not in str(e)
            assert not model.__sklearn_is_fitted__()
        else:
            keeps_its_promises(model.selection_, size(X), size(X))
            assert size(model.exemplars_) == len(model.exemplar_indices_)
    assert unchanged(X, before)


@often(120)
@given(X=broken_csr())
def test_broken_sparse_matrices(X):
    before = [a.copy() for a in (X.data, X.indices, X.indptr)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            keeps_its_promises(fwsr.select(X, 1), X.shape[0], 1)
        except REFUSED as e:
            assert str(e)
    assert all(np.array_equal(a, b) for a, b in zip(before, (X.data, X.indices, X.indptr)))


@often(80)
@given(data=st.data())
def test_the_other_functions(data):
    X = np.random.default_rng(0).normal(size=(20, 3))
    call = data.draw(st.sampled_from([
        lambda a, b: fwsr.sweep(X, 2, a, b), lambda a, b: fwsr.path(X, a, method=b),
        lambda a, b: fwsr.compare(X, 2, ["fwsr", "random"], repeats=a, time_limit=b),
        lambda a, b: fwsr.compare(X, 2, [a, b]), lambda a, b: fwsr.plan(X, a, memory=b),
        lambda a, b: fwsr.compare(X, a, ["fwsr"], y=b), lambda a, b: fwsr.select(X, 2, callback=a),
        lambda a, b: fwsr.read("digits", label_column=a, columns=b),
        lambda a, b: fwsr.read("digits", memory=a, variable=b),
    ]))
    first, second = data.draw(anything), data.draw(anything)
    hypothesis.assume(not (isinstance(first, int) and first > 1000))  # repeats
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(first, second)
        except REFUSED as e:
            assert str(e) and "incompatible function arguments" not in str(e)


@pytest.mark.parametrize("method", list(fwsr.methods()))
@pytest.mark.parametrize("scale", ["unit", "standard", "none"])
def test_subnormal_numbers(method, scale):
    X = np.random.default_rng(2).integers(-3, 4, size=(12, 11)) * 5e-324
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for given in (X, sp.csr_matrix(X)):
            try:
                keeps_its_promises(fwsr.select(given, 5, method=method, scale=scale), 12, 5)
            except REFUSED as e:
                assert str(e)
