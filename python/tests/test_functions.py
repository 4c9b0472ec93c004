"""select, plan, sweep, path, compare, methods: what they promise, and that they agree."""

from __future__ import annotations

import functools
import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from fwsr._run import option_table

import fwsr
from fwsr import _core

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(90, 6))


@pytest.fixture(scope="module")
def y() -> np.ndarray:
    return np.arange(90) % 3


def same(a: fwsr.Selection, b: fwsr.Selection) -> bool:
    return (a.exemplars.tolist() == b.exemplars.tolist()
            and np.array_equal(a.weights, b.weights)
            and np.allclose(a.strength, b.strength, rtol=1e-9, atol=0)
            and a.status == b.status)


# ------------------------------------------------------------------------------------------- select


@pytest.mark.parametrize("method", list(fwsr.methods()))
def test_every_method_answers_with_distinct_points_and_weights_of_all(X, method):
    chosen = fwsr.select(X, 5, method=method, seed=3)
    assert 1 <= len(chosen) <= 5 and len(set(chosen.exemplars.tolist())) == len(chosen)
    assert chosen.exemplars.dtype == np.int64 and chosen.exemplars.min() >= 0
    assert chosen.exemplars.max() < len(X)
    assert chosen.weights.sum() == pytest.approx(len(X))
    assert len(chosen.strength) == len(chosen.filled) == len(chosen.weights) == len(chosen)
    assert chosen.filled.dtype == bool and not chosen.filled.any()
    assert chosen.assignment.shape == (len(X),) and chosen.assignment.max() < len(chosen)
    assert np.bincount(chosen.assignment, minlength=len(chosen)).sum() == len(X)
    assert 0 <= chosen.certificate.reconstruction_error <= 1
    assert chosen.plan.method == method and chosen.plan.points == len(X)
    assert same(chosen, fwsr.select(X, 5, method=method, seed=3))


def test_codes_are_returned_where_asked_for(X, y):
    codes = fwsr.select(X, 4, codes=True).codes
    assert codes.shape == (90, 4) and fwsr.select(X, 4).codes is None
    chosen = fwsr.select(X, 2, codes=True, y=y, per_class=True)
    assert chosen.codes.shape == (90, 6)
    for i, name in enumerate(chosen.classes):
        own = chosen.codes[y == int(name)]
        assert np.any(own[:, 2 * i:2 * i + 2]) and not np.any(np.delete(own, [2 * i, 2 * i + 1], 1))


def test_number_of_exemplars_in_every_form(X, y):
    assert len(fwsr.select(X, 0.1, kernel="rbf")) == 9
    assert len(fwsr.select(X, np.int32(3))) == 3
    assert len(fwsr.select(X, 1e-9)) == 1
    each = fwsr.select(X, 2, y=y, per_class=True)
    assert [len(s) for s in each.classes.values()] == [2, 2, 2] and len(each) == 6
    assert y[each.exemplars].tolist() == [0, 0, 1, 1, 2, 2]
    assert y[each.exemplars[each.assignment]].tolist() == y.tolist()
    assert each.weights.sum() == pytest.approx(90)
    named = fwsr.select(X, {0: 1, 2: 3}, y=y)
    assert [len(s) for s in named.classes.values()] == [1, 0, 3]
    assert set(named.assignment[y == 1]) == {-1}
    share = fwsr.select(X, "proportional:7", y=y)
    assert len(share) == 7 and same(share, fwsr.select(X, 7, y=y, per_class="proportional"))
    assert len(fwsr.select(X, "proportional", y=y, kernel="rbf")) == 30
    for i, name in enumerate(each.classes):
        alone = fwsr.select(X[y == i], 2)
        assert np.flatnonzero(y == i)[alone.exemplars].tolist() == (
            each.classes[name].exemplars.tolist())


def test_every_option_of_the_core_can_be_given(X):
    values = {"alpha": 5, "beta": 20.0, "eta": 0.5, "eta_relative": True, "q": "inf",
              "nonneg": True, "kernel": "polynomial", "gamma": 0.5, "degree": 2, "coef0": 0.5,
              "rank": 20,
              "center": "feature", "scale": "unit", "when_converged": "stop", "fill": True,
              "delta": 1e-3, "delta_absolute": True, "max_iterations": 3, "lambda": 0.1, "rho": 0.2,
              "certificate": "none", "precise": True, "refine": "exchange", "ridge": 0.3,
              "refine_rounds": 2, "budget": 3.0, "until_error": 0.5, "time_limit": 60.0}
    beside = {"gamma": {"kernel": "rbf"}, "degree": {"kernel": "polynomial"},
              "coef0": {"kernel": "polynomial"}, "rank": {"kernel": "rbf"}, "lambda": {"rho": 0.2},
              "rho": {"lambda_": 0.1}, "eta_relative": {"eta": 0.5}}
    assert {"exemplars", *values} == set(option_table())
    for name, value in values.items():
        own = {"lambda_" if name == "lambda" else name: value}
        chosen = fwsr.select(X, 4, method="fwsr", **own, **beside.get(name, {}))
        assert len(chosen) >= 1, name

    def with_options(**options):
        return fwsr.select(X, 4, method="fwsr", **options)

    assert with_options(certificate="none").certificate is None
    assert len(with_options(max_iterations=3)) == 3
    assert with_options(max_iterations=3, fill=True).filled.tolist() == [False] * 3 + [True]
    assert with_options(lambda_=0.1, rho=0.2).certificate.boolean_objective > 0
    assert with_options(beta=20.0).beta == 20.0 and with_options(alpha=5).beta == 90 / 5
    assert with_options(q=np.inf).exemplars.tolist() == with_options(q="inf").exemplars.tolist()
    assert with_options(nonneg=np.True_, codes=True).codes.min() >= 0


def test_auto_is_the_default_and_none_another_word_for_it(X):
    method = {"method": "fwsr"}
    default = fwsr.select(X, 4, **method)
    assert default.trace["beta"][0] == 40 and default.eta == 0
    for alpha in ("auto", None):
        assert same(default, fwsr.select(X, 4, alpha=alpha, **method))
        assert same(default, fwsr.FWSR(4, alpha=alpha).fit(X).selection_)
        assert fwsr.plan(X, 4, alpha=alpha, **method) == fwsr.plan(X, 4, **method)
        assert fwsr.select(X, 4, alpha=alpha, beta=20.0, **method).trace["beta"][0] == 20
        named = fwsr.compare(X, 4, [fwsr.FWSR(alpha=alpha), fwsr.KFWSR(alpha=alpha)])
        assert [row.name for row in named] == ["fwsr", "k-fwsr"]
    assert fwsr.FWSR().alpha == fwsr.KFWSR().alpha == "auto"
    assert option_table()["alpha"][0] == "auto"


def test_settings_of_a_method_are_told_by_their_names(X):
    build = fwsr.select(X, 5, method="kmedoids", init="build")
    assert same(build, fwsr.KMedoids(5, init="build").fit(X).selection_)
    for name, settings in {m["name"]: m["settings"] for m in _core.methods()}.items():
        chosen = fwsr.select(X, 5, method=name, **{n: value for n, value, _ in settings})
        assert same(chosen, fwsr.select(X, 5, method=name)), name


def test_a_kernel_function_is_its_matrix(X):
    def kernel(a, b):
        return (a @ b.T + 1) ** 2
    given = fwsr.select(X, 5, kernel=kernel)
    assert same(given, fwsr.select(kernel(X, X), 5, kernel="precomputed"))
    assert given.exemplars.tolist() == fwsr.select(
        X, 5, kernel="polynomial", degree=2, gamma=1.0, coef0=1.0).exemplars.tolist()
    with pytest.raises(ZeroDivisionError):
        fwsr.select(X, 5, kernel=lambda a, b: 1 / 0)
    with pytest.raises(ValueError, match="90 x 90"):
        fwsr.select(X, 5, kernel=lambda a, b: a)
    with pytest.raises(MemoryError, match="kernel by name"):
        fwsr.select(X, 5, kernel=kernel, memory=10_000)


def test_json_holds_everything(X, y):
    for chosen in (fwsr.select(X, 4, codes=True, lambda_=0.1, rho=0.1),
                   fwsr.select(X, 2, y=y, per_class=True), fwsr.select(X, 3, method="kmedoids"),
                   fwsr.select(X, 3, callback=lambda p: False)):
        back = json.loads(chosen.to_json(indent=1), parse_constant=pytest.fail)
        assert back["exemplars"] == chosen.exemplars.tolist()
        assert back["weights"] == [None if np.isnan(w) else w for w in chosen.weights]
        assert back["status"] == chosen.status
        assert set(back) == {"schema", *chosen.__dataclass_fields__}
        assert list(back["classes"]) == list(chosen.classes)
        for name, own in chosen.classes.items():
            assert back["classes"][name]["exemplars"] == own.exemplars.tolist()
        if chosen.codes is not None:
            assert np.array_equal(back["codes"], chosen.codes)
        if chosen.certificate:
            assert back["certificate"]["reconstruction_error"] == (
                chosen.certificate.reconstruction_error)


def test_what_prints_is_for_people(X, y):
    chosen = fwsr.select(X, 10)
    assert repr(chosen).startswith("<Selection of 10 by exchange: [") and "..." in repr(chosen)
    by_rrqr = fwsr.select(X, 2, y=y, per_class=True, method="rrqr")
    assert repr(by_rrqr).startswith("<Selection of 6 by rrqr: [")
    text = str(chosen.plan)
    for word in ("method", "why", "memory", "90 points of 6 features"):
        assert word in text
    assert "points" in repr(fwsr.read("digits"))


# --------------------------------------------------------------------------------------------- plan


def test_a_plan_says_what_the_run_does(X, y):
    for options in ({}, {"method": "fwsr"}, {"method": "k-fwsr"}, {"method": "kmedoids"},
                    {"method": "smrs"}, {"rank": 40}):
        planned, done = fwsr.plan(X, 5, **options), fwsr.select(X, 5, **options).plan
        for name in ("method", "form", "kernel", "kernel_by", "rank", "why"):
            assert getattr(planned, name) == getattr(done, name), name
        assert planned.memory_bytes == done.memory_bytes and planned.seconds >= 0
    per_class = fwsr.plan(X, 2, y=y, per_class=True)
    assert list(per_class) == ["0", "1", "2"] and per_class["1"].points == 30
    assert fwsr.plan(X, {0: 1}, y=y)["1"] is None


def test_planned_memory_grows_with_the_work_and_is_refused_beforehand(X):
    small, large = np.zeros((1000, 20)), np.zeros((20_000, 20))
    plans = [fwsr.plan(x, 5, method="k-fwsr", n_jobs=2) for x in (small, large)]
    assert 0 < plans[0].memory_bytes < plans[1].memory_bytes
    assert fwsr.plan(small, 5, n_jobs=2).data_bytes == small.nbytes
    assert plans[0].threads == 2
    with pytest.raises(MemoryError, match=r"need .* may be used"):
        fwsr.plan(large, 5, memory="1M")
    limit = "40M"
    tight = fwsr.plan(large, 5, method="k-fwsr", memory=limit, n_jobs=2)
    assert tight.memory_bytes <= 40 * 2**20


# ----------------------------------------------------------------------------------- sweep and path


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"},
                                     {"center": "none", "scale": "standard"}])
def test_a_sweep_is_many_selections(X, y, options):
    one = functools.partial(fwsr.select, X, method="fwsr", **options)
    alphas, etas = [0.5, "auto", 50.0], [0.0, 0.3]
    settings = fwsr.sweep(X, 5, alphas, etas, **options)
    assert [(s.alpha, s.eta) for s in settings] == [(a, e) for a in alphas for e in etas]
    for s in settings:
        assert same(s.selection, one(5, alpha=s.alpha, eta=s.eta))
    for s in fwsr.sweep(X, 2, alphas, y=y, per_class=True, **options):
        assert s.eta == 0
        assert same(s.selection, one(2, y=y, per_class=True, alpha=s.alpha))
    (only,) = fwsr.sweep(X, 5, **options)
    assert only.alpha == "auto" and same(only.selection, one(5))


@pytest.mark.parametrize("options", [{"method": "fwsr"}, {"method": "k-fwsr"}, {"method": "rrqr"},
                                     {"method": "fwsr", "scale": "standard"}])
def test_a_path_is_nested(X, options):
    path = fwsr.path(X, 6, **options)
    assert len(path.error) == len(path.selection)
    assert np.all(np.diff(path.error) <= 1e-12)
    error = path.selection.certificate.reconstruction_error
    assert path.error[-1] == pytest.approx(error, abs=1e-9)
    radius = {} if options["method"] == "rrqr" else {"beta": path.selection.beta}
    for j in (1, 3):
        fewer = fwsr.select(X, j, **radius, **options)
        assert fewer.exemplars.tolist() == path.selection.exemplars[:j].tolist()
        assert path.error[j - 1] == pytest.approx(fewer.certificate.reconstruction_error, abs=1e-9)
        assert path.smallest(float(path.error[j - 1])) <= j
    assert path.smallest(-1) is None and path.smallest(2) == 1


# ------------------------------------------------------------------------------------------ compare


def test_compare_runs_names_settings_and_estimators(X, y):
    table = fwsr.compare(
        X, 4, ["fwsr", "fwsr:alpha=5:kernel=rbf", "smrs:alpha=20",
               fwsr.SMRS(alpha=20, affine=False), fwsr.KMedoids(99), "random"],
        y=y, repeats=3, seed=7)
    assert [m.name for m in table] == ["fwsr", "fwsr:alpha=5:kernel=rbf", "smrs:alpha=20",
                                       "smrs:alpha=20:affine=no", "kmedoids", "random"]
    assert [len(m.trials) for m in table] == [1, 1, 1, 1, 3, 3]
    assert all(m.outcome == "done" and m.reason == "" for m in table)
    for m, options in zip(table, [{"method": "fwsr", "center": "none"},
                                  {"method": "fwsr", "alpha": 5, "kernel": "rbf"},
                                  {"method": "smrs", "alpha": 20, "center": "none"}]):
        assert m.trials[0]["exemplars"].tolist() == fwsr.select(X, 4, **options).exemplars.tolist()
    random = table[-1]
    errors = [t["reconstruction_error"] for t in random.trials]
    assert random.mean("reconstruction_error") == pytest.approx(np.mean(errors))
    assert random.deviation("reconstruction_error") == pytest.approx(np.std(errors, ddof=1))
    assert table[0].deviation("mmd") == 0
    best = table.best("reconstruction_error")
    assert best == min(table, key=lambda m: m.mean("reconstruction_error")).name
    assert table.best("class_coverage") == max(table, key=lambda m: m.mean("class_coverage")).name
    lines = str(table).splitlines()
    assert len(lines) == 7 and lines[0].startswith("method") and lines[-1].startswith("random")
    assert {"reconstruction_error", "class_coverage", "nearest_accuracy"} <= set(table.measures)
    again = fwsr.compare(X, 4, ["random"], y=y, repeats=3, seed=7)[0]
    assert [t["exemplars"].tolist() for t in again.trials] == [
        t["exemplars"].tolist() for t in random.trials]


def test_compare_takes_from_an_estimator_what_it_says_itself(X):
    def picks(one, **options):
        (row,) = fwsr.compare(X, 4, [one], repeats=1, **options)
        return row.trials[0]["exemplars"].tolist()

    def alone(method, of=X, **options):
        return fwsr.select(of, 4, method=method, **options).exemplars.tolist()

    assert picks(fwsr.FWSR(), scale="standard") == picks("fwsr", scale="standard")
    assert picks(fwsr.FWSR(), scale="standard") == alone("fwsr", scale="standard", center="none")
    assert picks(fwsr.FWSR(scale="unit"), scale="standard") == alone("fwsr", scale="unit",
                                                                     center="none")
    assert picks(fwsr.KFWSR(), kernel="laplacian") == alone("k-fwsr", kernel="laplacian")
    assert len(picks(fwsr.FWSR(), fill=True)) == 4
    K = X @ X.T
    precomputed = alone("fwsr", kernel="precomputed", of=K)
    for one in (fwsr.FWSR(), fwsr.KFWSR()):
        (row,) = fwsr.compare(K, 4, [one], kernel="precomputed")
        assert row.trials[0]["exemplars"].tolist() == precomputed
    for one in (fwsr.FWSR(kernel="rbf"), "fwsr:kernel=rbf"):
        with pytest.raises(ValueError, match="the data is a kernel matrix"):
            fwsr.compare(K, 4, [one], kernel="precomputed")


def test_compare_takes_the_seed_of_an_estimator_and_draws_none(X):
    def picks(state, seed):
        (row,) = fwsr.compare(X, 4, [fwsr.RandomExemplars(random_state=state)], repeats=1,
                              seed=seed)
        return row.trials[0]["exemplars"].tolist()

    assert picks(5, 0) == picks(None, 5) != picks(None, 0)
    drawn = np.random.default_rng(1)
    assert picks(drawn, 5) == picks(None, 5)
    assert drawn.integers(2 ** 40) == np.random.default_rng(1).integers(2 ** 40)


def test_compare_per_class_and_tables(X, y):
    table = fwsr.compare(X, 2, ["fwsr", "kmedoids"], y=y, per_class=True, repeats=1)
    assert y[table[0].trials[0]["exemplars"]].tolist() == [0, 0, 1, 1, 2, 2]
    assert table[0].mean("class_coverage") == 1
    pytest.importorskip("pandas")
    frame = table.to_frame()
    assert frame["method"].tolist() == ["fwsr", "kmedoids"]
    assert frame["reconstruction_error"][0] == table[0].mean("reconstruction_error")


def test_compare_says_why_a_method_gave_nothing(X):
    table = fwsr.compare(X, 4, ["fwsr", "smrs"], time_limit=1e-12)
    assert {m.outcome for m in table} == {"too_slow"}
    assert table[0].trials == [] and np.isnan(table[0].mean("mmd"))
    assert "no time" in str(table) and table[1].reason in str(table)
    with pytest.raises(ValueError, match="no method has the measure"):
        table.best("mmd")
    large = fwsr.compare(np.random.default_rng(0).normal(size=(4000, 4)), 4, ["fwsr", "ds3"],
                         memory="8M", repeats=1)
    assert [m.outcome for m in large] == ["done", "too_large"]
    assert large[1].reason in str(large)


def test_methods_are_those_of_the_estimators():
    assert set(fwsr.methods()) == {e.method for e in fwsr.ESTIMATORS}
    assert all(sentence for sentence in fwsr.methods().values())


# ---------------------------------------------------------------------------------- wrong arguments


@pytest.mark.parametrize("arguments, error, words", [
    ({"k": 0}, ValueError, "k must be at least 1"),
    ({"k": 91}, ValueError, "k=91 is more than n_samples=90"),
    ({"k": 2.5}, ValueError, r"\(0, 1\]"),
    ({"k": float("nan")}, ValueError, r"\(0, 1\]"),
    ({"k": None}, TypeError, "whole number"),
    ({"k": True}, TypeError, "whole number"),
    ({"k": 10**30}, ValueError, "too large"),
    ({"k": "many"}, ValueError, "proportional"),
    ({"k": "proportional"}, ValueError, "give y"),
    ({"k": {0: 1}}, ValueError, "give y"),
    ({"k": {7: 1}, "y": [0] * 90}, ValueError, "class 7, which no point has; the classes are 0"),
    ({"k": {0: 1.5}, "y": [0] * 90}, TypeError, "whole number"),
    ({"k": {0: -1}, "y": [0] * 90}, ValueError, "0 or more"),
    ({"k": {0: 10**30}, "y": [0] * 90}, ValueError, "too large"),
    ({"k": {0: 1, "0": 2}, "y": [0] * 90}, ValueError, "twice"),
    ({"k": 10**30, "y": [0] * 90, "per_class": True}, ValueError, "too large"),
    ({"per_class": "yes"}, TypeError, "proportional"),
    ({"method": "nearest"}, ValueError, "no method 'nearest'; the methods are exchange, fwsr"),
    ({"method": None}, TypeError, "name"),
    ({"method": "fwsr", "alhpa": 1}, TypeError,
     "no option 'alhpa' .did you mean 'alpha'.*; it has alpha"),
    ({"method": "fwsr", "alpha": "5"}, TypeError, "alpha must be a number or 'auto', got '5'"),
    ({"method": "fwsr", "alpha": -1}, ValueError, "alpha"),
    ({"method": "fwsr", "alpha": float("nan")}, ValueError, "alpha"),
    ({"method": "fwsr", "alpha": 1, "beta": 1}, ValueError, "one of them"),
    ({"method": "fwsr", "q": 3}, ValueError, "one of '1', '2', 'inf'"),
    ({"method": "fwsr", "q": None}, TypeError, "one of"),
    ({"method": "fwsr", "nonneg": 1}, TypeError, "True or False"),
    ({"codes": "yes"}, TypeError, "codes must be True or False"),
    ({"kernel": "gauss"}, ValueError, "'linear', 'rbf'"),
    ({"kernel": "precomputed"}, ValueError, "square; this one is 90 x 6"),
    ({"method": "fwsr", "gamma": 1.0}, ValueError, "linear"),
    ({"gamma": -1.0}, ValueError, "gamma"),
    ({"degree": 2.5, "kernel": "polynomial"}, TypeError, "whole number"),
    ({"degree": 2**70, "kernel": "polynomial"}, ValueError, "too large"),
    ({"rank": -1, "kernel": "rbf"}, ValueError, "rank"),
    ({"seed": -1}, ValueError, "seed"),
    ({"seed": 2**64}, ValueError, "seed"),
    ({"seed": 1.0}, TypeError, "seed"),
    ({"n_jobs": 0}, ValueError, "n_jobs"),
    ({"n_jobs": 1.5}, TypeError, "n_jobs"),
    ({"memory": "lots"}, ValueError, "as in 4G"),
    ({"memory": 0}, ValueError, "positive"),
    ({"memory": 1.5}, TypeError, "4G"),
    ({"memory": 10**30}, ValueError, "too large"),
    ({"callback": 5}, TypeError, "callback"),
    ({"lambda_": 1.0}, ValueError, "together"),
    ({"method": "kmedoids", "init": "best"}, ValueError, "init"),
    ({"method": "kmedoids", "alpha": 5}, TypeError, "kmedoids has no option 'alpha'"),
    ({"method": "smrs", "alpha": None}, ValueError, "alpha"),
])
def test_wrong_arguments_are_refused_in_words(X, arguments, error, words):
    arguments = {"k": 4, **arguments}
    with pytest.raises(error, match=words):
        fwsr.select(X, **arguments)
    if not {"codes", "seed", "callback"} & set(arguments):
        with pytest.raises(error, match=words):
            fwsr.plan(X, **arguments)


@pytest.mark.parametrize("call, error, words", [
    (lambda X: fwsr.sweep(X, 4, "ab"), TypeError, "alphas must be a list of numbers"),
    (lambda X: fwsr.sweep(X, 4, 5), TypeError, "alphas"),
    (lambda X: fwsr.sweep(X, 4, [1, "x"]), TypeError, "alphas must be a number or 'auto', got 'x'"),
    (lambda X: fwsr.sweep(X, 4, ["auto", "auto"]), ValueError, "alpha auto is listed more"),
    (lambda X: fwsr.sweep(X, 4, [1], [None]), TypeError, "etas"),
    (lambda X: fwsr.sweep(X, 4, [1, 1]), ValueError, "more than once"),
    (lambda X: fwsr.sweep(X, 4, [-1]), ValueError, "alpha"),
    (lambda X: fwsr.sweep(X, 4, [1], alpha=2), TypeError, "leave alpha out"),
    (lambda X: fwsr.path(X, 4, per_class=True), ValueError, "need labels"),
    (lambda X: fwsr.path(X @ X.T, 4, method="kmedoids", metric="precomputed"), ValueError,
     "no reconstruction error"),
    (lambda X: fwsr.compare(X, 4, "fwsr,smirs"), ValueError, "no method 'smirs'"),
    (lambda X: fwsr.compare(X, 4, 5), TypeError, "list of names"),
    (lambda X: fwsr.compare(X, 4, [5]), TypeError, "names or estimators"),
    (lambda X: fwsr.compare(X, 4, [fwsr.FWSR]), TypeError, "names or estimators"),
    (lambda X: fwsr.compare(X, 4, []), ValueError, "no method to compare"),
    (lambda X: fwsr.compare(X, 4, ["nearest"]), ValueError, "no method 'nearest'"),
    (lambda X: fwsr.compare(X, 4, ["smrs:alpha"]), ValueError, "write name=value"),
    (lambda X: fwsr.compare(X, 4, ["smrs:beta=1"]), TypeError, "smrs has no option 'beta'"),
    (lambda X: fwsr.compare(X, 4, ["fwsr"], alpha=5), TypeError, "'fwsr:alpha=...'"),
    (lambda X: fwsr.compare(X, 4, ["random"], repeats=0), ValueError, "repeats"),
    (lambda X: fwsr.compare(X, 4, ["random"], repeats=1.5), TypeError, "repeats"),
    (lambda X: fwsr.compare(X, 4, ["fwsr"], time_limit=-1), ValueError, "time_limit"),
    (lambda X: fwsr.compare(X, 4, ["fwsr"], time_limit="1 s"), TypeError, "time_limit"),
    (lambda X: fwsr.compare(X, 4, [fwsr.FWSR(kernel=np.dot)]), ValueError, "kernels by name"),
    (lambda X: fwsr.compare(X, 4, ["fwsr"]).best("beauty"), ValueError, "no measure 'beauty'"),
    (lambda X: fwsr.compare(X, 4, ["fwsr"])[0].mean("beauty"), ValueError, "no measure 'beauty'"),
])
def test_wrong_arguments_of_the_others(X, call, error, words):
    with pytest.raises(error, match=words):
        call(X)


def test_warnings_are_told_once_and_kept():
    X = np.repeat(np.eye(3), 5, axis=0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        chosen = fwsr.select(X, 10, center="none")
    assert [str(w.message) for w in told] == chosen.warnings != []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        settings = fwsr.sweep(X, 10, [1, "auto"], [0, 0.5], center="none")
    assert [str(w.message) for w in told] == [
        f"alpha {s.alpha if s.alpha == 'auto' else 1}, eta {s.eta:g}: {w}"
        for s in settings for w in s.selection.warnings]
    assert str(told[0].message).startswith("alpha 1, eta 0: ")


def test_a_kernel_function_may_return_a_sparse_matrix():
    X = sp.random(40, 8, density=0.4, format="csr", random_state=0)
    chosen = fwsr.select(X, 3, kernel=lambda a, b: a @ b.T)
    assert chosen.exemplars.tolist() == fwsr.select(X, 3, center="none").exemplars.tolist()


def test_rounding_below_0_in_dissimilarities_is_no_fault():
    X = np.random.default_rng(0).normal(size=(60, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    D = 1 - X @ X.T
    D[np.diag_indices(60)] = -2.2e-16
    clean = np.maximum(D, 0)
    for method in ("kmedoids", "facility", "k-center", "ds3"):
        picks = [fwsr.select(m, 4, method=method, metric="precomputed").exemplars.tolist()
                 for m in (D, clean)]
        assert picks[0] == picks[1], method
    D[3, 4] = D[4, 3] = -0.1
    with pytest.raises(ValueError, match="0 or a positive number"):
        fwsr.select(D, 4, method="kmedoids", metric="precomputed")


@pytest.mark.parametrize("options", [{"method": "fwsr", "alpha": True}, {"rank": True}])
def test_true_is_no_number(options):
    with pytest.raises(TypeError, match="number( or 'auto')?, got True"):
        fwsr.select(np.eye(5), 2, **options)


def test_numbers_beyond_what_is_stored_and_words_for_lists():
    with pytest.raises(ValueError, match="degree = -9223372036854775808 is too large"):
        fwsr.select(np.eye(5), 2, kernel="polynomial", degree=-2**63)
    with pytest.raises(TypeError, match="alphas must be a list of numbers"):
        fwsr.sweep(np.eye(5), 2, "12")


def test_which_options_a_method_takes_is_the_core_s_list(X):
    methods = {m["name"]: m for m in fwsr._core.methods()}
    everything = [name for name, _, _ in fwsr._core.options()]
    assert methods["fwsr"]["solver"] and methods["fwsr"]["options"] == everything
    assert not methods["rrqr"]["solver"] and "alpha" not in methods["rrqr"]["options"]
    for name in set(everything) - set(methods["rrqr"]["options"]):
        with pytest.raises(TypeError, match=f"rrqr has no option '{name}'"):
            fwsr.select(X, 2, method="rrqr", **{name: 1})
    own = {"lambda", "time_limit"}  # compare has a time limit of its own, for each method
    for name in set(everything) - set(fwsr._core.compare_options()) - own:
        with pytest.raises(TypeError, match=f"compare has no option '{name}'"):
            fwsr.compare(X, 2, "rrqr", **{name: 1})


def test_a_run_is_planned_once_and_takes_its_plan(X, y, monkeypatch):
    made = []

    class Counted(fwsr._core.Planned):
        def __init__(self, *given):
            made.append(given)
            super().__init__(*given)

    monkeypatch.setattr(fwsr._core, "Planned", Counted)
    for given in ({}, {"y": y, "per_class": True}, {"method": "kmedoids"}):
        made.clear()
        fwsr.select(X, 3, **given)
        assert len(made) == 1
