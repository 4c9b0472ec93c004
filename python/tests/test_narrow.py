"""Points of one or two bytes a number: used where they are, with the answers of float32."""

from __future__ import annotations

import numpy as np
import pytest
from fwsr._numbers import BFLOAT16, widened

import fwsr
from fwsr import _containers

NARROW = ["uint8", "int8", "uint16", "int16", "float16", "bfloat16"]


def narrow(dtype: str, n: int = 300, d: int = 20) -> np.ndarray:
    rng = np.random.default_rng(3)
    if dtype == "bfloat16":
        wide = rng.normal(size=(n, d)).astype(np.float32)
        return (wide.view(np.uint32) >> 16).astype(np.uint16).view(BFLOAT16)
    if dtype == "float16":
        return rng.normal(size=(n, d)).astype(np.float16)
    return rng.integers(0, 100, size=(n, d)).astype(dtype)


def same(a: fwsr.Selection, b: fwsr.Selection) -> bool:
    return (np.array_equal(a.exemplars, b.exemplars) and np.array_equal(a.weights, b.weights)
            and np.array_equal([a.certificate.f], [b.certificate.f], equal_nan=True))


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("options", [{}, {"method": "fwsr"}, {"kernel": "rbf"}, {"scale": "unit"},
                                     {"method": "kmedoids"}])
def test_narrow_arrays_are_used_in_place(dtype, options):
    X = narrow(dtype)
    data = _containers.as_data(X)
    assert data.notes == [] and np.shares_memory(data.values, X)
    assert same(fwsr.select(X, 5, **options), fwsr.select(widened(X), 5, **options))
    plan = fwsr.plan(X, 5, **options)
    assert plan.data_bytes == X.nbytes and plan.notes == fwsr.plan(widened(X), 5, **options).notes


@pytest.mark.parametrize("dtype", NARROW)
def test_slices_are_used_in_place(dtype):
    X = narrow(dtype)
    part = X[7:200:3]
    assert np.shares_memory(_containers.as_data(part).values, X)
    assert same(fwsr.select(part, 5), fwsr.select(widened(part), 5))


def test_bytes_have_exact_sums():
    X = narrow("uint8", 3000, 80)
    a, b = (fwsr.select(x, 6, method="fwsr", codes=True) for x in (X, X.astype(np.float32)))
    assert np.array_equal(a.exemplars, b.exemplars)
    assert a.certificate.f == pytest.approx(b.certificate.f, rel=1e-5)
    again = fwsr.select(X, 6, method="fwsr", n_jobs=1)
    assert np.array_equal(a.exemplars, again.exemplars) and a.certificate.f == again.certificate.f


def test_booleans_are_bytes():
    X = narrow("uint8") > 50
    assert fwsr.plan(X, 5).data_bytes == X.size
    assert same(fwsr.select(X, 5), fwsr.select(X.astype(np.float32), 5))


@pytest.mark.parametrize("dtype", [">u2", ">i2", ">f2"])
def test_other_byte_orders_are_swapped_once(dtype):
    X = narrow("int16").astype(dtype)
    (note,) = fwsr.plan(X, 5).notes
    assert note.startswith("big-endian") and note.endswith("(11.7 KiB)")
    assert same(fwsr.select(X, 5), fwsr.select(X.astype(np.float32), 5))


@pytest.mark.parametrize("dtype", NARROW)
def test_files_are_mapped_and_streamed(dtype, tmp_path):
    X = narrow(dtype)
    path = str(tmp_path / "x.npy")
    raw = X.view(np.uint16) if dtype == "bfloat16" else X
    np.save(path, raw)
    if dtype == "bfloat16":  # as ml_dtypes has numpy.save write it
        with open(path, "rb") as file:
            image = file.read()
        with open(path, "wb") as file:
            file.write(image.replace(b"'<u2'", b"'<V2'"))
    data = fwsr.read(path)
    assert data.points.number == dtype and data.notes == []
    assert np.array_equal(data.rows(np.arange(len(X))), widened(X))
    assert data.values.dtype.itemsize == X.dtype.itemsize
    expected = fwsr.select(X, 5, method="fwsr")
    assert same(fwsr.select(data, 5, method="fwsr"), expected)
    streamed = fwsr.read(path, memory=X.nbytes - 1)
    assert streamed.values is None
    assert same(fwsr.select(streamed, 5, method="fwsr"), expected)


def test_bfloat16_of_ml_dtypes(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    X = widened(narrow("bfloat16")).astype(ml_dtypes.bfloat16)
    assert fwsr.plan(X, 5).data_bytes == X.nbytes
    expected = fwsr.select(X.astype(np.float32), 5)
    assert same(fwsr.select(X, 5), expected)
    np.save(tmp_path / "x.npy", X)
    assert same(fwsr.select(str(tmp_path / "x.npy"), 5), expected)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "float16", "bfloat16"])
def test_tensors(dtype):
    torch = pytest.importorskip("torch")
    X = torch.tensor(widened(narrow(dtype))).to(getattr(torch, dtype))
    plan = fwsr.plan(X, 5)
    assert plan.data_bytes == X.numel() * X.element_size() and plan.notes == []
    assert same(fwsr.select(X, 5), fwsr.select(X.float(), 5))


@pytest.mark.parametrize("dtype", NARROW)
def test_estimators_and_new_points(dtype):
    X = narrow(dtype)
    ours, wide = (fwsr.KFWSR(5, kernel="rbf").fit(x) for x in (X, widened(X)))
    assert np.array_equal(ours.exemplar_indices_, wide.exemplar_indices_)
    assert np.array_equal(ours.transform(X[:9]), wide.transform(widened(X[:9])))


def test_classes_conditions_and_functions_as_kernels():
    X, y = narrow("uint8"), np.arange(300) % 3
    wide = X.astype(np.float32)
    assert np.array_equal(fwsr.select(X, 3, y=y, per_class=True).exemplars,
                          fwsr.select(wide, 3, y=y, per_class=True).exemplars)

    def kernel(a, b):
        return (a @ b.T) / 1000.0

    assert same(fwsr.select(X, 4, kernel=kernel), fwsr.select(wide, 4, kernel=kernel))
    for dtype in ("uint8", "bfloat16"):
        other = narrow(dtype, 40)
        assert np.array_equal(fwsr.select(X, 4, represent=other).exemplars,
                              fwsr.select(wide, 4, represent=widened(other)).exemplars)
