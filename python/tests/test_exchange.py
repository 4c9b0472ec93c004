"""The default method: against the methods it is made of, by hand, and as an estimator."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from representing import assert_same_up_to_ties, closeness, tolerance
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fwsr
from fwsr import _core


def points(n=300, d=6, seed=0):
    """A cloud, and a few points far from it."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[:: n // 10] *= 5
    return X


def apart(n=240, seed=1):
    """Three clouds that do not touch, and which."""
    y = np.arange(n) % 3
    return np.random.default_rng(seed).normal(size=(n, 4)) + 40 * np.eye(3, 4)[y], y


def texts(n=200, seed=2):
    """Counts of words, as a sparse matrix."""
    X = sp.random(n, 50, density=0.15, format="csr", random_state=seed)
    X.data = np.ceil(4 * X.data)
    return X


def many(n=4500, dtype=np.float64, seed=3):
    """More points than a kernel is held of."""
    return np.random.default_rng(seed).normal(size=(n, 5)).astype(dtype)


def rbf(A, B, gamma):
    return np.exp(-gamma * cdist(A, B, "sqeuclidean"))


def assert_same(one, other):
    """The same work: the same bits."""
    assert one.exemplars.tolist() == other.exemplars.tolist()
    for name in ("weights", "strength", "assignment", "codes"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.refinement == other.refinement and one.certificate == other.certificate


# ------------------------------------------------------------------------- what the default is


def test_it_is_the_default_of_the_functions():
    X, y = apart()
    assert _core.default_method == "exchange" == list(fwsr.methods())[0]
    assert fwsr.plan(X, 3).method == fwsr.select(X, 3).plan.method == "exchange"
    assert fwsr.path(X, 3).selection.plan.method == "exchange"
    named = fwsr.select(X, 3, method="exchange", codes=True)
    assert_same(fwsr.select(X, 3, codes=True), named)
    assert {p.method for p in fwsr.plan(X, 3, y=y, per_class=True).values()} == {"exchange"}
    (compared,) = fwsr.compare(X, 3, ["exchange"])
    assert compared.trials[0]["exemplars"].tolist() == named.exemplars.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", ["none", "standard"])
def test_of_dense_points_it_is_k_fwsr_then_exchange_then_the_middle(dtype, scale):
    X = points().astype(dtype)
    chosen = fwsr.select(X, 8, scale=scale, codes=True)
    assert_same(chosen, fwsr.select(X, 8, method="k-fwsr", refine="middle", gamma=chosen.gamma,
                                    scale=scale, codes=True))
    assert (chosen.plan.kernel, chosen.plan.rank, chosen.kernel_rank) == ("rbf", 0, None)
    assert chosen.plan.refine == "middle" and chosen.refinement.local_optimum
    exchanged = fwsr.select(X, 8, scale=scale, refine="exchange", codes=True)
    assert_same(exchanged, fwsr.select(X, 8, method="k-fwsr", refine="exchange",
                                       gamma=chosen.gamma, scale=scale, codes=True))
    assert exchanged.refinement.after == chosen.refinement.after_exchange
    assert exchanged.refinement.middle_rounds == exchanged.refinement.moves == 0


@pytest.mark.parametrize("scale", ["none", "standard"])
def test_exemplars_are_in_the_middle_of_what_they_stand_for(scale):
    X = np.random.default_rng(7).normal(size=(600, 2)) * [1, 3]
    chosen = fwsr.select(X, 8, scale=scale)
    assert chosen.refinement.moves > 0
    seen = (X - X.mean(axis=0)) / X.std(axis=0) if scale == "standard" else X
    for place, exemplar in enumerate(chosen.exemplars):
        members = np.flatnonzero(chosen.assignment == place)
        far = cdist(seen[members], seen[members], "sqeuclidean")
        sums = far @ rbf(seen[members], seen[[exemplar]], chosen.gamma)[:, 0]
        assert members[np.argmin(sums)] == exemplar


def test_the_width_leaves_nine_tenths_of_the_pairs_within():
    X = points()
    far = np.sort(pdist(X, "sqeuclidean"))
    chosen = fwsr.select(X, 5)
    # A sum of d squares, as a difference of sums of as many.
    rounding = 8 * X.shape[1] * np.finfo(float).eps * far[-1] / far[0]
    assert chosen.gamma == pytest.approx(2 / far[int(0.9 * len(far))], rel=rounding)
    assert chosen.gamma < fwsr.select(X, 5, method="k-fwsr").gamma * 2  # of the median
    laplacian = fwsr.select(X, 5, kernel="laplacian")
    near = np.sort(pdist(X, "cityblock"))
    assert laplacian.gamma == pytest.approx(2 / near[int(0.9 * len(near))], rel=rounding)
    assert fwsr.select(X, 5, gamma=0.3).gamma == 0.3


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array, sp.coo_matrix])
def test_of_sparse_points_it_is_fwsr_then_exchange(make):
    X = make(texts())
    chosen = fwsr.select(X, 8, codes=True)
    assert_same(chosen, fwsr.select(X, 8, method="fwsr", refine="exchange", codes=True))
    assert (chosen.plan.kernel, chosen.plan.rank, chosen.gamma) == ("linear", 0, None)
    assert chosen.plan.refine == "exchange" and chosen.refinement.moves == 0
    moved = fwsr.select(X, 8, refine="middle", codes=True)
    assert_same(moved, fwsr.select(X, 8, method="fwsr", refine="middle", codes=True))
    assert moved.plan.refine == "middle" and moved.refinement.middle_rounds > 0


@pytest.mark.parametrize("given", [{"gamma": 0.02}, {"rank": 60}, {"kernel": "rbf"}])
def test_who_speaks_of_a_width_or_a_factor_means_rbf(given):
    for X in (points(), texts()):
        chosen = fwsr.select(X, 6, codes=True, **given)
        rank = given.get("rank", 0)
        assert (chosen.plan.kernel, chosen.plan.rank) == ("rbf", rank)
        assert_same(chosen, fwsr.select(X, 6, method="k-fwsr", refine="middle", rank=rank,
                                        gamma=chosen.gamma, codes=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_of_many_points_there_is_a_factor(dtype):
    X = many(dtype=dtype)
    assert fwsr.plan(X[:4096], 10).rank == 0
    for k, rank in ((10, 256), (80, 320), (250, 1000)):
        plan = fwsr.plan(X, k)
        assert (plan.kernel, plan.kernel_by, plan.rank) == ("rbf", "factor", rank)
    # A factor of more than a quarter of the points is more work than the kernel.
    assert (fwsr.plan(X, 1200).kernel_by, fwsr.plan(X, 1200).rank) == ("held", 0)
    chosen = fwsr.select(X, 10, codes=True)
    assert 0 < chosen.kernel_rank <= chosen.plan.rank == 256
    assert_same(chosen, fwsr.select(X, 10, method="k-fwsr", refine="middle", rank=256,
                                    gamma=chosen.gamma, codes=True))
    words = sp.random(5000, 30, density=0.1, format="csr", random_state=0)
    assert (fwsr.plan(words, 10).kernel, fwsr.plan(words, 10).rank) == ("linear", 0)
    assert fwsr.plan(X, 10, rank=100).rank == 100
    assert fwsr.plan(X, 10, kernel="cosine").rank == 0


def test_the_plan_says_which_kernel_and_rank():
    X = points()
    for method, kernel in (("fwsr", "linear"), ("k-fwsr", "rbf"), ("rrqr", "linear"),
                           ("kdpp", "rbf")):
        plan = fwsr.plan(X, 4, method=method)
        assert (plan.kernel, plan.rank) == (kernel, 0), method
    assert fwsr.plan(X, 4, kernel="polynomial").kernel == "polynomial"
    assert fwsr.plan(X @ X.T, 4, kernel="precomputed").kernel == "precomputed"
    assert fwsr.plan(X, 4, method="omp", kernel="rbf", rank=30).rank == 30
    assert re.search("method +exchange.*\nwhy +the rbf kernel", str(fwsr.plan(X, 4)))
    assert "the rbf kernel through a factor of rank 256" in str(fwsr.plan(many(), 4))


def test_every_class_has_a_width_of_its_own():
    X, y = apart()
    X = X * (1 + y)[:, None]
    chosen = fwsr.select(X, 4, y=y, per_class=True)
    widths = []
    for name, own in chosen.classes.items():
        members = np.flatnonzero(y == int(name))
        alone = fwsr.select(X[members], 4)
        assert members[alone.exemplars].tolist() == own.exemplars.tolist()
        assert own.gamma == pytest.approx(alone.gamma, rel=1e-9) and own.plan.kernel == "rbf"
        widths.append(own.gamma)
    assert len(set(widths)) == 3
    assert repr(chosen).startswith("<Selection of 12 by exchange: [")


def test_it_is_better_than_what_it_begins_with():
    X = points(seed=4)
    chosen = fwsr.select(X, 8)
    exchanged = fwsr.select(X, 8, refine="exchange")
    K, mu = rbf(X, X, chosen.gamma), chosen.refinement.mu

    def left(of):
        among = K[np.ix_(of, of)] + mu * np.eye(len(of))
        return np.trace(K) - np.sum(K[of] * np.linalg.solve(among, K[of]))

    begun = fwsr.select(X, 8, method="k-fwsr", gamma=chosen.gamma).exemplars
    rounding = len(X) ** 2 * np.finfo(float).eps
    assert chosen.refinement.before == pytest.approx(left(begun), abs=rounding)
    assert chosen.refinement.after == pytest.approx(left(chosen.exemplars), abs=rounding)
    between = left(exchanged.exemplars)
    assert chosen.refinement.after_exchange == pytest.approx(between, abs=rounding)
    assert between < left(begun)


# ----------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("name", sorted(
    {o for m in _core.methods() if m["name"] == "fwsr" for o in m["options"]}
    - {o for m in _core.methods() if m["name"] == "exchange" for o in m["options"]}))
@pytest.mark.parametrize("function", [fwsr.select, fwsr.plan, fwsr.path])
def test_options_of_the_paper_are_answered_with_its_method(function, name):
    words = (f"exchange, the default method, has no option '{name}'; method='fwsr' and "
             f"method='k-fwsr', the paper's, have {name}. exchange has kernel, gamma, ")
    with pytest.raises(TypeError, match=re.escape(words)):
        function(points(), 3, **{name: 1})


def test_options_that_are_nearly_right():
    X = points()
    for given, right in (("alhpa", "alpha"), ("presice", "precise"), ("eta_relativ",
                                                                      "eta_relative")):
        with pytest.raises(TypeError, match=rf"'{given}' \(did you mean '{right}'\?\); "
                                            rf"method='fwsr' and .* have {right}"):
            fwsr.select(X, 3, **{given: 1})
    with pytest.raises(TypeError, match=r"no option 'rigde' \(did you mean 'ridge'\?\); it has"):
        fwsr.select(X, 3, rigde=1)
    with pytest.raises(TypeError, match="exchange has no option 'exemplars'"):
        fwsr.select(X, 3, exemplars=3)
    with pytest.raises(TypeError, match="alpha"):
        fwsr.Exchange(3, alpha=5)


def test_other_methods_for_the_linear_kernel_and_no_exchange():
    X = points()
    for kernel in (fwsr.select, fwsr.plan, lambda X, k, **given: fwsr.Exchange(k, **given).fit(X)):
        with pytest.raises(ValueError, match="method='fwsr', refine='exchange' is the same with"):
            kernel(X, 3, kernel="linear")
        with pytest.raises(ValueError, match="method='fwsr' and method='k-fwsr' leave them"):
            kernel(X, 3, refine="none")
    with pytest.raises(ValueError, match="kernel='polynomial'"):
        fwsr.select(X, 3, kernel="poly")
    with pytest.raises(ValueError, match="'auto'|one of"):
        fwsr.select(X, 3, method="fwsr", kernel="auto")


# -------------------------------------------------------------------------------- the estimator


def test_parameters():
    model = fwsr.Exchange(7, ridge=0.2)
    assert model.get_params()["kernel"] == "auto" and model.get_params()["refine"] == "auto"
    assert repr(model) == "Exchange(n_exemplars=7, ridge=0.2)"
    again = clone(model.fit(points()))
    assert again.get_params() == model.get_params() and not hasattr(again, "selection_")
    assert model.get_params()["kernel"] == "auto"  # as given, whatever suited the points
    assert not {"alpha", "beta", "eta", "q", "nonneg", "delta", "precise"} & set(model.get_params())


@pytest.mark.parametrize("make", [points, texts, many, lambda: many(dtype=np.float32)],
                         ids=["dense", "sparse", "many", "many float32"])
@pytest.mark.parametrize("given", [{}, {"kernel": "auto"}, {"ridge": 0.5, "scale": "unit"}],
                         ids=["plain", "auto", "ridge"])
def test_a_fit_is_what_select_says_and_holds_for_the_points_themselves(make, given):
    X = make()
    model = fwsr.Exchange(8, **given).fit(X)
    options = {name: value for name, value in given.items() if name != "kernel"}
    chosen = fwsr.select(X, 8, codes=True, **options)
    assert model.exemplar_indices_.tolist() == chosen.exemplars.tolist()
    np.testing.assert_array_equal(model.labels_, chosen.assignment)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.transform(X), chosen.codes, rtol=0, atol=tolerance(model, X))
    assert model.score(X) == pytest.approx(-chosen.certificate.reconstruction_error, abs=1e-12)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("make", [points, many])
def test_new_points_of_a_dense_fit(make):
    X, new = make(), points(40, make().shape[1], seed=9)
    model = fwsr.Exchange(7).fit(X)
    T, gamma = X[model.exemplar_indices_], model.selection_.gamma
    mu = model.selection_.refinement.mu
    # Far from all exemplars a point is as near to each in the kernel's space.
    assert_same_up_to_ties(closeness(model, new), model.predict(new), cdist(new, T).argmin(axis=1))
    near, among, rounding = rbf(new, T, gamma), rbf(T, T, gamma), 1e-10
    if model.plan_.rank:  # what the points of the factor tell of the kernel
        B = X[model.selection_.coefficients["basis"]]
        inner = np.linalg.solve(rbf(B, B, gamma), rbf(B, T, gamma))
        near, among = rbf(new, B, gamma) @ inner, rbf(T, B, gamma) @ inner
        rounding = 64 * np.finfo(float).eps * np.linalg.cond(rbf(B, B, gamma))
        assert rounding < 1e-6
    codes = near @ np.linalg.inv(among + mu * np.eye(7))
    np.testing.assert_allclose(model.transform(new), codes, rtol=0, atol=rounding)
    shown = rbf(new, T, gamma) @ np.linalg.inv(rbf(T, T, gamma))
    left = len(new) - np.sum(shown * rbf(new, T, gamma))
    assert model.score(new) == pytest.approx(-left / len(new), abs=1e-10)


def test_new_points_of_a_sparse_fit():
    X, new = texts(), texts(40, seed=8)
    model = fwsr.Exchange(7).fit(X)
    A, B = (m.toarray() - m.toarray().mean(axis=1, keepdims=True) for m in (X, new))
    T, mu = A[model.exemplar_indices_], model.selection_.refinement.mu
    assert_same_up_to_ties(closeness(model, new), model.predict(new), cdist(B, T).argmin(axis=1))
    codes = B @ T.T @ np.linalg.inv(T @ T.T + mu * np.eye(7))
    np.testing.assert_allclose(model.transform(new), codes, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.transform(new.toarray()), codes, rtol=0, atol=1e-10)
    left = B - B @ np.linalg.pinv(T) @ T
    assert model.score(new) == pytest.approx(-np.sum(left ** 2) / np.sum(B ** 2), abs=1e-10)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_class_by_class(make):
    X, y = apart()
    model = fwsr.Exchange(4, per_class=True).fit(make(X), y)
    assert y[model.exemplar_indices_].tolist() == [0] * 4 + [1] * 4 + [2] * 4
    np.testing.assert_array_equal(model.predict(make(X)), model.labels_)  # the classes are apart
    new, of = apart(60, seed=5)
    assert (y[model.exemplar_indices_][model.predict(make(new))] == of).all()
    assert model.transform(make(new)).shape == (60, 12)
    assert model.plan_["1"].kernel == ("rbf" if make is np.asarray else "linear")
    assert -1 <= model.score(make(new)) <= 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make, kernel", [(np.asarray, "rbf"), (sp.csr_matrix, "linear")])
def test_classes_that_give_all_they_have(make, kernel):
    X, y = apart(30)
    of_all = fwsr.Exchange(11, per_class=True).fit(make(X), y)
    assert len(of_all.exemplar_indices_) == 30 and of_all._encoder.kernel.name == kernel
    assert " by " not in repr(of_all.selection_)
    y = np.where(np.arange(30) < 2, 3, y)  # a class of two
    model = fwsr.Exchange(3, per_class=True).fit(make(X), y)
    assert model._encoder.kernel.name == kernel
    assert " by exchange: " in repr(model.selection_)
    by_rbf = fwsr.path(X, 11, y=np.arange(30) % 3, per_class=True, method="k-fwsr")
    assert by_rbf.error[0] > 0 and by_rbf.error[-1] == pytest.approx(0, abs=1e-12)
    K = rbf(X[::3], X[::3], 1.0)  # no class has found a width
    left = 10 - np.sum(K[by_rbf.classes["0"].selection.exemplars[0] // 3] ** 2)
    assert by_rbf.classes["0"].error[0] == pytest.approx(left / 10)


def test_given_kernels_and_functions():
    X = points(80)
    K = rbf(X, X, 0.1)
    given = fwsr.Exchange(5, kernel="precomputed").fit(K)
    function = fwsr.Exchange(5, kernel=lambda A, B: rbf(A, B, 0.1)).fit(X)
    named = fwsr.Exchange(5, gamma=0.1).fit(X)
    for one in (given, function):
        assert one.exemplar_indices_.tolist() == named.exemplar_indices_.tolist()
    np.testing.assert_allclose(given.transform(K), named.transform(X), atol=1e-10)
    np.testing.assert_allclose(function.transform(X), named.transform(X), atol=1e-10)
    assert given.plan_.rank == 0


def test_in_a_pipeline():
    X, y = apart()
    codes = make_pipeline(StandardScaler(), fwsr.Exchange(5)).fit_transform(X, y)
    assert codes.shape == (240, 5) and np.isfinite(codes).all()
