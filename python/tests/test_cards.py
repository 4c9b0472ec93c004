"""Work on a graphics card: its answers are those of the processor, and where there is none that is
said."""

import numpy as np
import pytest
import scipy.sparse as sp

import fwsr
from fwsr import _core

NAMES, WHY = _core.cards()
needs_card = pytest.mark.skipif(not NAMES, reason=WHY)


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(3)
    return (rng.integers(-60, 60, size=(5000, 24)) / 8).astype(np.float32)  # also in float16


class ElsewhereArray:
    """What a library has that keeps its numbers on a card."""

    def __init__(self, array):
        self._array, self.shape = array, array.shape

    def __dlpack__(self, **how):
        return self._array.__dlpack__(**how)

    def __dlpack_device__(self):
        return 2, 0


class OnlyInterface:
    """An array that knows nothing but the older way to be found on a card."""

    def __init__(self, array):
        self._array, self.shape = array, array.shape
        self.__cuda_array_interface__ = array.__cuda_array_interface__

    def __getitem__(self, indices):
        return self._array[indices]


# ------------------------------------------------------------------------------ where there is none


@pytest.mark.skipif(bool(NAMES), reason="there is a card")
def test_no_card_is_said(X):
    for method in ("fwsr", "exchange"):
        with pytest.raises(ValueError) as caught:
            fwsr.select(X, 4, method=method, device="cuda")
        assert WHY.rstrip(".") in str(caught.value) and "use device cpu" in str(caught.value)
    with pytest.raises(ValueError, match=r"points are on a card, and .*X\.cpu\(\)"):
        fwsr.select(ElsewhereArray(X), 4)


def test_devices_by_name(X):
    on_cpu = fwsr.select(X, 4, method="fwsr", device="cpu")
    assert on_cpu.plan.device == "cpu"
    assert (on_cpu.exemplars == fwsr.select(X, 4, method="fwsr").exemplars).all()
    with pytest.raises(ValueError, match="cpu, cuda, cuda:1 or auto"):
        fwsr.select(X, 4, device="gpu")
    with pytest.raises(TypeError, match="device must be 'cpu'"):
        fwsr.select(X, 4, device=1)
    small = fwsr.plan(X[:100], 4, method="fwsr", device="auto")
    assert small.device == "cpu" and "too little work for a card" in small.notes[-1]


def test_methods_that_work_on_the_processor(X):
    with pytest.raises(ValueError, match="kmedoids works on the processor"):
        fwsr.select(X, 4, method="kmedoids", device="cuda")


def test_estimators_have_a_device(X):
    for estimator in (fwsr.FWSR, fwsr.KFWSR, fwsr.Exchange):
        assert estimator(4).get_params()["device"] is None
    assert (fwsr.FWSR(4, device="cpu").fit(X).exemplar_indices_
            == fwsr.FWSR(4).fit(X).exemplar_indices_).all()


# ----------------------------------------------------------------------------------- where there is


OPTIONS = [{"method": "fwsr"}, {"method": "k-fwsr", "rank": 64}, {}]


@needs_card
@pytest.mark.parametrize("options", OPTIONS)
def test_numpy_arrays_go_there(X, options):
    card, cpu = fwsr.select(X, 9, device="cuda", **options), fwsr.select(X, 9, **options)
    assert card.plan.device == "cuda" and "cuda" in str(card.plan)
    assert card.exemplars.tolist() == cpu.exemplars.tolist()
    assert card.weights.tolist() == cpu.weights.tolist()
    assert np.array_equal(card.assignment, cpu.assignment)


@needs_card
def test_sweeps_run_there(X):
    settings = {"alphas": ["auto", 5], "etas": [0, 0.3]}
    card, cpu = fwsr.sweep(X, 6, **settings, device="cuda"), fwsr.sweep(X, 6, **settings)
    assert [s.selection.exemplars.tolist() for s in card] == [
        s.selection.exemplars.tolist() for s in cpu]
    assert all(s.selection.plan.device == "cuda" for s in card)


@needs_card
@pytest.mark.parametrize("options", [{}, {"kernel": "rbf", "rank": 64}, {"kernel": "rbf"}])
def test_sweeps_of_tensors(X, options):
    torch = pytest.importorskip("torch")
    X = X[:1500]
    settings = {"alphas": ["auto", 5], "etas": [0, 0.3], "precise": True, **options}
    card = fwsr.sweep(torch.tensor(X, device="cuda"), 6, **settings)
    cpu = fwsr.sweep(X, 6, **settings)
    assert [s.selection.exemplars.tolist() for s in card] == [
        s.selection.exemplars.tolist() for s in cpu]
    assert all(s.selection.plan.device == "cuda" for s in card)


@needs_card
def test_comparisons_run_there(X):
    methods = ["fwsr", "k-fwsr:precise=yes", "exchange", "rrqr", "fwsr:q=1"]
    X = X[:1500]
    card = fwsr.compare(X, 6, methods, device="cuda")
    cpu = fwsr.compare(X, 6, methods)
    assert [m.device for m in card] == ["cuda", "cuda", "cuda", "cpu", "cpu"]
    assert "q = 2" in card[4].warnings[0] and "exchange (cuda)" in str(card)
    assert [m.device for m in cpu] == ["cpu"] * 5
    for there, here in zip(card, cpu):
        assert there.mean("medoid_cost") == pytest.approx(here.mean("medoid_cost"), rel=0.02)


@needs_card
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial"])
@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
def test_tensors_whose_kernel_is_held(X, kind, kernel):
    torch = pytest.importorskip("torch")
    X = X[:900]
    tensor = torch.tensor(np.repeat(X, 2, axis=0), device="cuda")[::2].to(getattr(torch, kind))
    options = {"method": "k-fwsr", "kernel": kernel, "precise": True, "include": [3, 8]}
    there, here = fwsr.select(tensor, 7, **options), fwsr.select(X, 7, **options)
    assert there.exemplars.tolist() == here.exemplars.tolist()
    assert there.plan.device == "cuda" and "copied" in " ".join(there.plan.notes)


@needs_card
def test_matrices_and_sparse_points_are_held_there(X):
    X = X[:700].astype(float)
    gram = (1 + X @ X.T / 1000) ** 2
    for kind in ("float32", "float64"):
        given = gram.astype(kind)
        options = {"method": "fwsr", "kernel": "precomputed"}
        card = fwsr.select(given, 8, device="cuda", **options)
        cpu = fwsr.select(given, 8, **options)
        assert card.plan.device == "cuda"
        assert card.exemplars.tolist() == cpu.exemplars.tolist()
    sparse = sp.csr_array(np.where(X > 3, X, 0))
    for kernel in ("linear", "rbf", "laplacian"):
        options = {"method": "fwsr", "kernel": kernel, "precise": True}
        card = fwsr.select(sparse, 8, device="cuda", **options)
        cpu = fwsr.select(sparse, 8, **options)
        assert card.exemplars.tolist() == cpu.exemplars.tolist()


@needs_card
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", ["int8", "int16", "float16"])
def test_narrow_arrays_go_there_as_they_are(X, kind, options):
    narrow = (8 * X).astype(kind)
    card, cpu = fwsr.select(narrow, 9, device="cuda", **options), fwsr.select(narrow, 9, **options)
    assert card.exemplars.tolist() == cpu.exemplars.tolist()
    assert card.weights.tolist() == cpu.weights.tolist()


@needs_card
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
def test_tensors_are_used_in_place(X, kind, options):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(X, device="cuda").to(getattr(torch, kind))
    before = torch.cuda.mem_get_info()[0]
    chosen = fwsr.select(tensor, 9, **options)
    assert torch.cuda.mem_get_info()[0] >= before - (256 << 20)  # what was taken is given back
    assert chosen.exemplars.tolist() == fwsr.select(X, 9, **options).exemplars.tolist()
    assert chosen.plan.device == "cuda" and isinstance(chosen.exemplars, np.ndarray)
    every_second = torch.tensor(np.repeat(X, 2, axis=0), device="cuda")[::2]
    assert (fwsr.select(every_second, 9, **options).exemplars == chosen.exemplars).all()


@needs_card
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", ["uint8", "int8", "int16"])
def test_tensors_of_whole_numbers_are_used_in_place(X, kind, options):
    torch = pytest.importorskip("torch")
    whole = (8 * X + (60 if kind == "uint8" else 0)).astype(kind)
    chosen = fwsr.select(torch.tensor(whole, device="cuda"), 9, **options)
    assert chosen.exemplars.tolist() == fwsr.select(whole, 9, **options).exemplars.tolist()


@needs_card
def test_work_that_is_under_way_is_waited_for(X):
    torch = pytest.importorskip("torch")
    there, expected = torch.tensor(X, device="cuda"), fwsr.select(X, 6, method="fwsr").exemplars
    heavy = torch.randn(6000, 6000, device="cuda")
    for _ in range(5):
        late = torch.zeros_like(there)
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(20):
                heavy = torch.tanh(heavy @ heavy)
            late.copy_(there)
        assert fwsr.select(late, 6, method="fwsr").exemplars.tolist() == expected.tolist()


@needs_card
def test_arrays_of_cupy(X):
    cupy = pytest.importorskip("cupy")
    expected = fwsr.select(X, 9, method="fwsr")
    array = cupy.asarray(X)
    for given in (array, OnlyInterface(array), OnlyInterface(cupy.asarray(X, dtype="float64"))):
        chosen = fwsr.select(given, 9, method="fwsr")
        assert chosen.exemplars.tolist() == expected.exemplars.tolist()
    model = fwsr.FWSR(9).fit(array)
    assert isinstance(model.exemplars_, cupy.ndarray)
    for kind in ("int8", "int16"):
        whole = (8 * X).astype(kind)
        assert (fwsr.select(OnlyInterface(cupy.asarray(whole)), 9, method="fwsr").exemplars
                == fwsr.select(whole, 9, method="fwsr").exemplars).all()
    with pytest.raises(ValueError, match="float16, .* integers of 8 or 16 bits"):
        fwsr.select(OnlyInterface(cupy.asarray(X).astype("int32")), 3)


@needs_card
def test_estimators_keep_tensors(X):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(X, device="cuda", requires_grad=True)
    for estimator in (fwsr.FWSR(7), fwsr.Exchange(7)):
        on_card, on_cpu = estimator.fit(tensor), type(estimator)(7).fit(X)
        assert on_card.exemplars_.is_cuda
        assert np.array_equal(on_card.exemplars_.detach().cpu().numpy(), on_cpu.exemplars_)
        assert np.array_equal(on_card.labels_, on_cpu.labels_)
        assert np.array_equal(on_card.predict(tensor), on_cpu.predict(X))
        assert np.allclose(on_card.transform(tensor), on_cpu.transform(X), atol=1e-6)
        assert on_card.score(X) == pytest.approx(on_cpu.score(X))


@needs_card
def test_conditions_hold_for_tensors(X):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(X, device="cuda")
    free = fwsr.select(X, 6, method="fwsr", precise=True).exemplars
    groups = np.arange(len(X)) % 3
    for conditions in ({"exclude": free[:3]}, {"sample_weight": 1.0 + groups},
                       {"groups": groups, "at_most": 2}, {"include": [5, 7]}):
        there = fwsr.select(tensor, 6, method="fwsr", **conditions)
        here = fwsr.select(X, 6, method="fwsr", precise=True, **conditions)
        np.testing.assert_array_equal(there.exemplars, here.exemplars)
        assert there.certificate.f == pytest.approx(here.certificate.f, rel=1e-9)


@needs_card
def test_what_a_card_does_not_do_is_said(X):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(X, device="cuda")
    for error, words, call in [
            (ValueError, "move them", lambda: fwsr.select(tensor, 4, device="cpu")),
            (ValueError, "move them", lambda: fwsr.compare(tensor, 4, ["fwsr"])),
            (ValueError, "works on the processor", lambda: fwsr.select(tensor, 4, method="rrqr")),
            (ValueError, "leave the rank out",
             lambda: fwsr.select(tensor, 4, method="k-fwsr", rank=64, include=[5])),
            (ValueError, "rows of numbers", lambda: fwsr.select(tensor[0], 4)),
            (ValueError, "row by row", lambda: fwsr.select(tensor.T, 4)),
            (ValueError, "float16", lambda: fwsr.select(tensor.int(), 4)),
            (ValueError, "means and deviations",
             lambda: fwsr.FWSR(4, center="feature").fit(tensor)),
            (MemoryError, "card", lambda: fwsr.select(X, 4, device="cuda", device_memory=1000))]:
        with pytest.raises(error, match=words):
            call()
    tensor[77, 5] = float("nan")
    with pytest.raises(ValueError, match="point 77 has NaN in feature 5"):
        fwsr.select(tensor, 4)


@needs_card
def test_a_callback_stops_a_run_on_a_card(X):
    steps = []
    stopped = fwsr.select(X, 20, method="fwsr", device="cuda",
                          callback=lambda p: steps.append(p.exemplars) or p.exemplars < 5)
    assert stopped.status == "interrupted" and 4 <= len(stopped) < 20
