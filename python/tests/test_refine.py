"""Exchange, against NumPy: the value, all single exchanges, codes, and every method before it."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import fwsr

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def points(n=60, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def gram(X, gamma=None):
    return X @ X.T if gamma is None else np.exp(-gamma * cdist(X, X, "sqeuclidean"))


def value(K, chosen, mu):
    """The least ||A - A_T X||^2 + mu ||X||^2, and its X."""
    among, to_all = K[np.ix_(chosen, chosen)], K[chosen]
    codes = np.linalg.solve(among + mu * np.eye(len(chosen)), to_all)
    return np.trace(K) - np.sum(codes * to_all), codes


def assert_local_optimum(K, chosen, ridge, within=1e-9):
    exemplars, found = chosen.exemplars.tolist(), chosen.refinement
    mu = ridge * np.trace(K) / len(K)
    best, _ = value(K, exemplars, mu)
    assert found.mu == pytest.approx(mu)
    assert found.after == pytest.approx(best, abs=within * np.trace(K))
    assert found.after <= found.before and found.local_optimum
    for place in range(len(exemplars)):
        for other in set(range(len(K))) - set(exemplars):
            swapped = exemplars[:place] + [other] + exemplars[place + 1:]
            assert value(K, swapped, mu)[0] >= best - 10 * within * np.trace(K)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, np.float32])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("ridge", [0.01, 0.1, 1.0])
def test_no_exchange_helps(kernel, ridge, make):
    X = np.asarray(points(), dtype=np.float32).astype(float)
    given = {"gamma": 0.3} if kernel == "rbf" else {}
    chosen = fwsr.select(make(X), 5, method="fwsr", kernel=kernel, center="none",
                         refine="exchange", ridge=ridge, **given)
    within = 1e-6 if make is np.float32 and kernel == "rbf" else 1e-9  # the kernel is in float32
    assert_local_optimum(gram(X, given.get("gamma")), chosen, ridge, within)


def test_a_given_kernel_and_a_function():
    X = points()
    K = gram(X, 0.3)
    for data, kernel in ((K, "precomputed"), (X, lambda a, b: np.exp(-0.3 * cdist(a, b) ** 2))):
        chosen = fwsr.select(data, 5, method="fwsr", kernel=kernel, refine="exchange")
        assert_local_optimum(K, chosen, 0.1)


@pytest.mark.parametrize("cls", fwsr.ESTIMATORS)
def test_behind_every_method(cls):
    X = points(seed=1)
    fields = cls.__dataclass_fields__
    model = cls(4, refine="exchange", center="none",
                **({"random_state": 0} if "random_state" in fields else {}))
    model.fit(X)
    found = model.selection_.refinement
    kernel_used = model.selection_.gamma
    assert_local_optimum(gram(X, kernel_used), model.selection_, 0.1)
    assert found.rounds >= 1
    assert (model.predict(X) == model.labels_).all()


def test_codes_are_those_of_the_ridge():
    X = points()
    model = fwsr.FWSR(5, center="none", refine="exchange").fit(X)
    K, chosen = gram(X), model.exemplar_indices_
    _, codes = value(K, chosen, 0.1 * np.trace(K) / len(K))
    np.testing.assert_allclose(model.transform(X), codes.T, atol=1e-10)
    np.testing.assert_allclose(model.selection_.strength, np.linalg.norm(codes, axis=1))
    certificate = model.selection_.certificate
    residual = X.T - X[chosen].T @ codes
    assert certificate.f == pytest.approx(np.sum(residual ** 2))
    assert certificate.feasible and certificate.gap >= 0
    assert certificate.beta == pytest.approx(np.linalg.norm(codes, axis=1).sum())


def test_exemplars_stand_in_the_order_of_what_each_adds():
    X = points(100, 6, seed=3)
    K = gram(X)
    chosen = fwsr.select(X, 6, method="fwsr", center="none", refine="exchange").exemplars.tolist()
    mu = 0.1 * np.trace(K) / len(K)
    for place in range(len(chosen) - 1):
        now = value(K, chosen[:place + 1], mu)[0]
        for later in chosen[place + 1:]:
            assert now <= value(K, [*chosen[:place], later], mu)[0] + 1e-9 * np.trace(K)


def test_per_class_and_rounds():
    X, y = points(90, seed=4), np.repeat([0, 1, 2], 30)
    chosen = fwsr.select(X, 3, method="fwsr", y=y, per_class=True, center="none", refine="exchange")
    for name, own in chosen.classes.items():
        members = np.flatnonzero(y == int(name))
        local = np.searchsorted(members, own.exemplars)
        K = gram(X[members])
        best, _ = value(K, local, 0.1 * np.trace(K) / len(K))
        assert own.refinement.after == pytest.approx(best)
    assert chosen.refinement is None
    X = points(400, 8, seed=5)
    one = fwsr.select(X, 10, method="random", refine="exchange", refine_rounds=1).refinement
    whole = fwsr.select(X, 10, method="random", refine="exchange").refinement
    assert one.rounds == 1 and not one.local_optimum and whole.local_optimum
    assert one.before == whole.before > one.after > whole.after


def test_interrupted_with_the_best_so_far():
    stages = []

    def stop(progress):
        stages.append(progress.stage)
        return "exchange" not in stages

    for n in (3000, 6000, 12_000, 24_000, 48_000):  # nobody can tell how fast a machine is
        chosen = fwsr.select(points(n, 30, seed=6), 20, method="k-center", kernel="laplacian",
                             refine="exchange", callback=stop)
        if "exchange" in stages:
            break
    assert chosen.status == "interrupted" and len(chosen) == 20
    assert stages[-1] == "exchange"


@pytest.mark.parametrize(("given", "words"), [
    ({"refine": "swap"}, "exchange"), ({"refine": "exchange", "ridge": 0}, "ridge must be"),
    ({"refine": "exchange", "q": 1}, "q = 2"), ({"refine_rounds": -1}, "refine_rounds"),
])
def test_what_cannot_be_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        fwsr.select(points(), 3, method="fwsr", **given)


def test_dissimilarities_have_no_space():
    with pytest.raises(ValueError, match="refine is for points"):
        fwsr.KMedoids(3, metric="precomputed", refine="exchange").fit(cdist(points(), points()))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_greedy_choice_by_the_same_value(kernel):
    X = points(seed=3)
    given = {"gamma": 0.3} if kernel == "rbf" else {}
    K = gram(X, given.get("gamma"))
    mu = 0.1 * np.trace(K) / len(K)
    model = fwsr.GreedyCSSP(5, mu=0.1, kernel=kernel, **given).fit(X)
    chosen, before = [], np.trace(K)
    for exemplar, strength in zip(model.exemplar_indices_, model.strength_):
        values = [np.inf if i in chosen else value(K, [*chosen, i], mu)[0] for i in range(len(K))]
        assert exemplar == np.argmin(values)
        assert strength == pytest.approx(before - min(values), abs=1e-9 * np.trace(K))
        chosen, before = [*chosen, exemplar], min(values)
    again = fwsr.select(X, 5, method="greedy-cssp", mu=0.1, kernel=kernel, **given)
    assert again.exemplars.tolist() == chosen
    assert_local_optimum(K, fwsr.select(X, 5, method="greedy-cssp", mu=0.1, kernel=kernel,
                                        refine="exchange", **given), 0.1)


def test_a_greedy_choice_through_a_factor():
    X = points(n=300, seed=4)
    whole = fwsr.GreedyCSSP(6, mu=0.1, kernel="rbf").fit(X)
    model = fwsr.GreedyCSSP(6, mu=0.1, kernel="rbf", rank=300).fit(X)
    assert model.exemplar_indices_.tolist() == whole.exemplar_indices_.tolist()
    assert model.plan_.kernel_by == "factor" and "kernel" not in str(model.plan_).split("\n")[0]
    small = fwsr.OMP(6, mu=0.1, kernel="rbf", rank=20).fit(X)
    assert small.selection_.kernel_rank == 20 and 0 < small.selection_.kernel_error < 1
    assert (small.predict(X) == small.labels_).all()  # both in the kernel's own space
    with pytest.raises(ValueError, match="rank is for the rbf"):
        fwsr.OMP(6, rank=20).fit(X)
    with pytest.raises(ValueError, match="mu must be 0 or between"):
        fwsr.OMP(6, mu=1e-9).fit(X)
