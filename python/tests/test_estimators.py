"""What scikit-learn's users count on: parameters, fits, containers, pipelines."""

import dataclasses
import pickle
import subprocess
import sys
import weakref

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import fwsr
from fwsr import _core

METHODS = {m["name"]: m for m in _core.methods()}
OPTIONS = {name: default for name, default, _ in _core.options()}


def blobs(n=60, d=5, seed=0):
    """Points around three centres, and which."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, d)) + 4 * rng.normal(size=(3, d))[y], y


def small(cls, k=4, **given):
    if "random_state" in cls.__dataclass_fields__:
        given.setdefault("random_state", 0)
    return cls(k, **given)


every_estimator = pytest.mark.parametrize("cls", fwsr.ESTIMATORS)


# ------------------------------------------------------------------------------- the core's tables


def test_every_method_has_one_estimator():
    assert sorted(cls.method for cls in fwsr.ESTIMATORS) == sorted(METHODS)
    assert list(fwsr.methods()) == list(METHODS)
    for cls in fwsr.ESTIMATORS:
        assert getattr(fwsr, cls.__name__) is cls and cls.__name__ in fwsr.__all__


@every_estimator
def test_fields_and_defaults_are_those_of_the_core(cls):
    method = METHODS[cls.method]
    expected = {"n_exemplars": 10, "per_class": False, "n_jobs": None, "memory": None, "verbose": 0,
                "callback": None, **{o: OPTIONS[o] for o in ("center", "scale", "fill", "refine",
                                                               "ridge", "refine_rounds")}}
    if method["any_kernel"]:
        expected |= {o: OPTIONS[o] for o in ("kernel", "gamma", "degree", "coef0")}
    if method["solver"]:
        expected |= {"lambda_" if o == "lambda" else o: default for o, default in OPTIONS.items()
                     if o in method["options"] and o != "exemplars"}
    if method["solver"]:
        # Conditions, whose lists are given to fit; and where the work is done.
        expected |= {"at_least": None, "at_most": None, "device": None}
    if "rank" in method["options"]:
        expected["rank"] = OPTIONS["rank"]
    if method["uses_rbf"]:
        expected["kernel"] = "rbf"
    if method["suits"]:
        expected |= {"kernel": "auto", "refine": "auto"}
    if method["random"]:
        expected["random_state"] = None
    expected |= {name: default for name, default, _ in method["settings"]}
    found = {f.name: f.default for f in dataclasses.fields(cls)}
    assert str(found.get("q", 2)) == str(expected.get("q", 2))
    for one in (found, expected):
        one.pop("q", None)
    assert found == expected
    assert all(type(found[n]) is type(v) for n, v in expected.items())


# -------------------------------------------------------------------------------------- parameters


@every_estimator
def test_parameters_are_stored_untouched(cls):
    values = {f.name: object() for f in dataclasses.fields(cls)}
    estimator = cls(**values)
    assert estimator.get_params() == values
    assert all(getattr(estimator, name) is value for name, value in values.items())
    assert cls().set_params(n_exemplars=3).n_exemplars == 3
    assert repr(cls(3)) == f"{cls.__name__}(n_exemplars=3)"
    assert not hasattr(clone(small(cls).fit(blobs()[0])), "selection_")
    with pytest.raises(ValueError, match="Invalid parameter"):
        cls().set_params(nonsense=1)
    with pytest.raises(TypeError):
        cls(3, "linear")  # all but the number are named


@pytest.mark.parametrize("given, error, match", [
    ({"n_exemplars": 0}, ValueError, "at least 1"),
    ({"n_exemplars": 61}, ValueError, "more than n_samples=60"),
    ({"n_exemplars": 1.5}, ValueError, r"in \(0, 1\]"),
    ({"n_exemplars": True}, TypeError, "whole number"),
    ({"n_exemplars": None}, TypeError, "whole number"),
    ({"n_exemplars": "many"}, ValueError, "proportional"),
    ({"n_exemplars": {7: 1}}, ValueError, "names the class 7"),
    ({"n_exemplars": {1: -1}}, ValueError, "0 or more"),
    ({"per_class": "yes"}, TypeError, "per_class"),
    ({"kernel": "round"}, ValueError, "round"),
    ({"center": "middle"}, ValueError, "middle"),
    ({"scale": 3}, (TypeError, ValueError), "scale"),
    ({"alpha": -1.0}, ValueError, "alpha"),
    ({"alpha": "much"}, (TypeError, ValueError), "alpha"),
    ({"q": 3}, ValueError, "3"),
    ({"n_jobs": 0}, ValueError, "n_jobs"),
    ({"memory": "1Q"}, ValueError, "1Q"),
    ({"memory": 10}, MemoryError, "may be used"),
    ({"callback": 5}, TypeError, "callback"),
])
def test_parameters_are_looked_at_in_fit(given, error, match):
    X, y = blobs()
    estimator = fwsr.FWSR(**given)
    with pytest.raises(error, match=match):
        estimator.fit(X, y)
    with pytest.raises(NotFittedError):
        estimator.transform(X)


def test_linear_kernels_are_not_replaced_in_silence():
    X, _ = blobs()
    for cls in fwsr.ESTIMATORS:
        method = METHODS[cls.method]
        if method["uses_rbf"]:
            instead = ("method='fwsr', refine='exchange'" if method["suits"] else
                       "degree=1, gamma=1, coef0=0")
            with pytest.raises(ValueError, match=instead):
                cls(3, kernel="linear").fit(X)
    same = fwsr.FWSR(3, kernel="polynomial", degree=1, gamma=1, coef0=0)
    assert picks_of(same, X) == picks_of(fwsr.FWSR(3, center="none"), X)


def test_how_many():
    X, y = blobs()
    assert len(fwsr.RRQR(np.int64(3)).fit(X).exemplar_indices_) == 3
    assert len(fwsr.KCenter(0.1, random_state=0).fit(X).exemplar_indices_) == 6
    counts = {
        2: [2, 2, 2],
        0.1: [2, 2, 2],
        "proportional:9": [3, 3, 3],
        "proportional": [10, 10, 10],
    }
    for n_exemplars, expected in counts.items():
        model = fwsr.KCenter(n_exemplars, per_class=True, random_state=0).fit(X, y)
        assert np.bincount(y[model.exemplar_indices_]).tolist() == expected
        assert model.classes_.tolist() == [0, 1, 2]
        assert (y[model.exemplar_indices_[model.labels_]] == y).all()
    shared = fwsr.KCenter(6, per_class="proportional", random_state=0).fit(X[:50], np.sort(y)[:50])
    assert np.bincount(np.sort(y)[:50][shared.exemplar_indices_]).tolist() == [3, 2, 1]
    named = fwsr.FWSR({2: 3, 0: 1}).fit(X, y)
    assert np.bincount(y[named.exemplar_indices_]).tolist() == [1, 0, 3]
    assert (named.labels_[y == 1] == -1).all()
    assert not hasattr(fwsr.FWSR(2).fit(X, y), "classes_")


def test_random_states():
    X, _ = blobs()

    def picks(state):
        return fwsr.RandomExemplars(5, random_state=state).fit(X).exemplar_indices_.tolist()

    by_seed = fwsr.select(X, 5, method="random", seed=3).exemplars.tolist()
    assert picks(3) == picks(np.int32(3)) == by_seed
    for make in (np.random.RandomState, np.random.default_rng):
        assert picks(make(1)) == picks(make(1))
        state = make(1)
        assert picks(state) != picks(state)  # it moves on, as everywhere in scikit-learn
    np.random.seed(0)
    first = picks(None)
    assert first != picks(None)
    np.random.seed(0)
    assert picks(None) == first
    for wrong in (-1, 2 ** 64, "seed"):
        with pytest.raises(ValueError):
            picks(wrong)


def test_tags_say_what_is_wanted():
    def tags(**given):
        return fwsr.KMedoids(**given).__sklearn_tags__()

    assert not tags().target_tags.required and tags().input_tags.sparse
    for given in ({"per_class": True}, {"n_exemplars": {0: 1}}, {"n_exemplars": "proportional"}):
        assert tags(**given).target_tags.required
    for given in ({"metric": "precomputed"}, {"kernel": "precomputed"}):
        assert tags(**given).input_tags.pairwise and not tags(**given).input_tags.sparse


# -------------------------------------------------------------------------------------------- fits


@every_estimator
def test_what_a_fit_tells(cls):
    X, _ = blobs()
    model = small(cls).fit(X)
    same = fwsr.select(X, 4, method=cls.method, seed=0)
    assert model.exemplar_indices_.tolist() == same.exemplars.tolist()
    np.testing.assert_array_equal(model.exemplars_, X[model.exemplar_indices_])
    np.testing.assert_array_equal(model.labels_, same.assignment)
    np.testing.assert_array_equal(model.weights_, np.bincount(model.labels_, minlength=4))
    np.testing.assert_array_equal(model.strength_, same.strength)
    assert model.status_ == same.status == "exemplars_reached"
    assert model.n_iter_ >= 1 and model.plan_.method == cls.method
    assert model.reconstruction_error_ == same.certificate.reconstruction_error
    assert model.sample_indices_ is model.exemplar_indices_
    assert len(model.objective_path_) == len(model.gap_path_)
    assert (len(model.objective_path_) > 0) == METHODS[cls.method]["solver"]
    np.testing.assert_array_equal(small(cls).fit_predict(X), model.labels_)


@every_estimator
def test_support(cls):
    X, _ = blobs()
    model = small(cls).fit(X)
    mask, sorted_, ordered = (model.get_support(), model.get_support(indices=True),
                              model.get_support(indices=True, ordered=True))
    assert mask.dtype == bool and mask.shape == (60,)
    assert np.flatnonzero(mask).tolist() == sorted_.tolist() == sorted(ordered.tolist())
    assert ordered.tolist() == model.exemplar_indices_.tolist()
    ordered[0] = -1
    assert model.exemplar_indices_[0] != -1
    with pytest.raises(ValueError, match="no order"):
        model.get_support(ordered=True)


@every_estimator
def test_before_fit(cls):
    X, _ = blobs()
    for ask in ("transform", "predict", "score"):
        with pytest.raises(NotFittedError):
            getattr(cls(), ask)(X)
    for ask in ("get_support", "get_feature_names_out"):
        with pytest.raises(NotFittedError):
            getattr(cls(), ask)()
    for name in ("sample_indices_", "medoid_indices_", "cluster_centers_", "inertia_"):
        assert not hasattr(cls(), name)


def test_a_second_fit_forgets_the_first():
    X, y = blobs()
    pd = pytest.importorskip("pandas")
    model = fwsr.FWSR(3, per_class=True).fit(pd.DataFrame(X, columns=list("abcde")), y)
    assert hasattr(model, "classes_") and hasattr(model, "feature_names_in_")
    model.set_params(per_class=False, center="none").fit(X[:20, :3])
    assert model.n_features_in_ == 3 and model.get_support().shape == (20,)
    assert not hasattr(model, "classes_") and not hasattr(model, "feature_names_in_")
    assert model.transform(X[:7, :3]).shape == (7, 3)


def test_a_fit_that_fails_leaves_nothing():
    X, y = blobs()

    def stop(progress):
        return progress.exemplars < 2

    def fail(progress):
        raise KeyboardInterrupt

    for given, data, error in (({"n_exemplars": 99}, X, ValueError),
                               ({"callback": stop}, X, fwsr.Interrupted),
                               ({"callback": fail}, X, KeyboardInterrupt),
                               ({}, np.where(X == X[3, 3], np.nan, X), ValueError)):
        model = fwsr.FWSR(4).fit(X, y)
        before = vars(fwsr.FWSR(4)).keys()
        with pytest.raises(error):
            model.set_params(**given).fit(data)
        assert vars(model).keys() == before
        with pytest.raises(NotFittedError):
            model.predict(X)
    model = fwsr.FWSR(4)
    with pytest.warns(ConvergenceWarning, match="asked for 4"):
        model.fit(np.repeat(X[:2], 5, axis=0))
    assert model.status_ != "exemplars_reached"


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_warnings_as_errors_leave_nothing():
    model = fwsr.FWSR(5)
    with pytest.raises(ConvergenceWarning):
        model.fit(np.repeat(blobs()[0][:2], 5, axis=0))
    with pytest.raises(NotFittedError):
        model.get_support()


@every_estimator
def test_wrong_number_of_features(cls):
    X, _ = blobs()
    model = small(cls).fit(X)
    for ask in (model.transform, model.predict, model.score):
        with pytest.raises(ValueError, match="X has 4 features, but .* is expecting 5"):
            ask(X[:, :4])


def test_settings_beside_the_run():
    X, _ = blobs()
    seen = []
    plain = fwsr.FWSR(4).fit(X)
    watched = fwsr.FWSR(4, n_jobs=2, memory="1G", callback=seen.append).fit(X)
    assert watched.exemplar_indices_.tolist() == plain.exemplar_indices_.tolist()
    assert [p.exemplars for p in seen][:3] == [1, 2, 3] and {p.wanted for p in seen} == {4}
    for q in (1, 2, "inf", np.inf):
        model = fwsr.FWSR(3, q=q, nonneg=q != 2).fit(X)
        assert model.transform(X).shape == (60, 3)
    without = fwsr.FWSR(4, certificate="none").fit(X)
    assert not hasattr(without, "reconstruction_error_")
    assert without.score(X) == pytest.approx(-plain.reconstruction_error_)


# -------------------------------------------------------------------------------------- containers


def test_exemplars_come_in_the_containers_given():
    X, y = blobs()
    chosen = fwsr.FWSR(4).fit(X).exemplar_indices_
    model = fwsr.FWSR(4)

    X_, y_ = model.fit_resample(X, y)
    np.testing.assert_array_equal(X_, X[chosen])
    np.testing.assert_array_equal(y_, y[chosen])
    assert model.fit_resample(X).shape == (4, 5)

    X_, y_ = model.fit_resample(X.tolist(), y.tolist())
    assert isinstance(X_, list) and X_ == X[chosen].tolist() and y_ == y[chosen].tolist()

    for make in (sp.csr_matrix, sp.csr_array):
        X_, _ = model.fit_resample(make(X), y)
        assert type(X_) is make and np.array_equal(X_.toarray(), X[chosen])

    X32 = X.astype(np.float32)
    assert model.fit_resample(X32).dtype == np.float32
    assert not np.shares_memory(model.exemplars_, X32)


def test_pandas():
    pd = pytest.importorskip("pandas")
    X, y = blobs()
    table = pd.DataFrame(X, columns=list("abcde"), index=[f"p{i}" for i in range(60)])
    labels = pd.Series(y, index=table.index, name="kind")
    model = fwsr.FWSR(4)
    X_, y_ = model.fit_resample(table, labels)
    pd.testing.assert_frame_equal(X_, table.iloc[model.exemplar_indices_])
    pd.testing.assert_series_equal(y_, labels.iloc[model.exemplar_indices_])
    assert model.feature_names_in_.tolist() == list("abcde") and model.n_features_in_ == 5
    with pytest.raises(ValueError, match="feature names"):
        model.transform(table[list("edcba")])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.transform(X)
    codes = model.set_output(transform="pandas").transform(table)
    assert codes.columns.tolist() == ["fwsr0", "fwsr1", "fwsr2", "fwsr3"]
    assert codes.index.tolist() == table.index.tolist()
    assert model.get_feature_names_out().tolist() == codes.columns.tolist()


def test_polars():
    pl = pytest.importorskip("polars")
    X, y = blobs()
    table = pl.DataFrame({name: X[:, i] for i, name in enumerate("abcde")})
    model = fwsr.FWSR(4)
    X_, y_ = model.fit_resample(table, pl.Series("kind", y))
    assert isinstance(X_, pl.DataFrame) and isinstance(y_, pl.Series)
    np.testing.assert_array_equal(X_.to_numpy(), X[model.exemplar_indices_])
    assert y_.to_list() == y[model.exemplar_indices_].tolist()
    assert model.feature_names_in_.tolist() == list("abcde")
    codes = model.set_output(transform="polars").transform(table)
    assert isinstance(codes, pl.DataFrame) and codes.columns == ["fwsr0", "fwsr1", "fwsr2", "fwsr3"]


def test_arrow_tables_of_lists():
    pa = pytest.importorskip("pyarrow")
    X, _ = blobs()
    table = pa.table({"embedding": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 5)})
    model = fwsr.FWSR(4).fit(table)
    assert model.n_features_in_ == 5 and not hasattr(model, "feature_names_in_")
    assert model.exemplars_.num_rows == 4
    np.testing.assert_allclose(model.transform(table), fwsr.FWSR(4).fit(X).transform(X))


def test_files(tmp_path):
    X, _ = blobs()
    path = tmp_path / "points.csv"
    names = "abcde"
    rows = [",".join(map(repr, row)) for row in X.tolist()]
    path.write_text("\n".join([",".join(names), *rows]))
    for given in (path, str(path), fwsr.read(path)):
        model = fwsr.FWSR(4).fit(given)
        np.testing.assert_allclose(model.exemplars_, X[model.exemplar_indices_])
        assert model.feature_names_in_.tolist() == list(names)
        assert model.transform(given).shape == (60, 4)  # and no warning about names
    other = tmp_path / "other.csv"
    other.write_text(path.read_text().replace("a,b,c,d,e", "a,b,c,e,d"))
    with pytest.raises(ValueError, match="those of fit, in their order"):
        model.predict(other)
    other.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(ValueError, match="those of fit, in their order"):
        model.predict(other)
    digits = fwsr.read("digits")
    model = fwsr.FWSR(2, per_class=True).fit(digits)  # with the labels of the file
    assert len(model.exemplar_indices_) == 20


# ----------------------------------------------------------------------------- processes, pipelines


@every_estimator
def test_pickles_are_small_and_whole(cls):
    X, _ = blobs(300, 40)
    model = small(cls, 3).fit(X)
    kept = pickle.dumps(model)
    assert len(kept) < X.nbytes / 2
    again = pickle.loads(kept)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.get_params() == model.get_params() and again.plan_ == model.plan_


def test_a_pickle_in_another_process(tmp_path):
    X, _ = blobs()
    model = fwsr.KFWSR(4).fit(X)
    (tmp_path / "model").write_bytes(pickle.dumps(model))
    np.save(tmp_path / "X.npy", X)
    code = ("import pickle, sys, numpy as np; folder = sys.argv[1]\n"
            "model = pickle.load(open(folder + '/model', 'rb'))\n"
            "np.save(folder + '/codes.npy', model.transform(np.load(folder + '/X.npy')))")
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "codes.npy"), model.transform(X))


def picks_of(estimator, X):
    return estimator.fit(X).exemplar_indices_.tolist()


def test_joblib():
    X, _ = blobs()
    models = [small(cls) for cls in fwsr.ESTIMATORS]
    alone = [picks_of(clone(m), X) for m in models]
    for backend in ("loky", "threading"):
        work = joblib.Parallel(n_jobs=2, backend=backend)
        assert work(joblib.delayed(picks_of)(clone(m), X) for m in models) == alone


def test_grid_search_over_a_pipeline():
    X, y = blobs(120)
    pipeline = make_pipeline(fwsr.FWSR(), LogisticRegression())
    grid = {"fwsr__n_exemplars": [2, 4], "fwsr__kernel": ["linear", "rbf"]}
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.8
    assert search.best_estimator_[0].exemplar_indices_.shape[0] in (2, 4)
    own = GridSearchCV(fwsr.RRQR(), {"n_exemplars": [1, 2, 5]}, cv=3).fit(X)
    assert own.best_params_ == {"n_exemplars": 5}  # by its own score


def test_grid_search_with_a_given_kernel():
    X, y = blobs(90)
    K = np.exp(-0.05 * cdist(X, X) ** 2)
    pipeline = make_pipeline(fwsr.FWSR(kernel="precomputed"), LogisticRegression())
    search = GridSearchCV(pipeline, {"fwsr__n_exemplars": [3, 6]}, cv=3).fit(K, y)
    assert search.best_score_ > 0.8
    D = cdist(X, X)
    search = GridSearchCV(fwsr.KMedoids(metric="precomputed", random_state=0),
                          {"n_exemplars": [1, 3]}, cv=3).fit(D)
    assert search.best_params_ == {"n_exemplars": 3}


# ---------------------------------------------------------------------------------------- k-medoids


@pytest.mark.parametrize("cls", [fwsr.KMedoids, fwsr.KMedoidsBatch])
@pytest.mark.parametrize("metric", ["euclidean", "squared", "manhattan", "cosine", "precomputed"])
def test_inertia_is_the_sum_of_distances(cls, metric):
    X, y = blobs()
    X = 1000 * X  # in the user's units, whatever the core works in
    name = {"squared": "sqeuclidean", "manhattan": "cityblock", "precomputed": "euclidean"}
    D = cdist(X, X, name.get(metric, metric))
    given = D if metric == "precomputed" else X
    for per_class in (False, True):
        model = cls(3, metric=metric, per_class=per_class, random_state=0).fit(given, y)
        own = D[np.arange(60), model.exemplar_indices_[model.labels_]]
        assert model.inertia_ == pytest.approx(own.sum(), rel=1e-9)
        assert model.medoid_indices_ is model.exemplar_indices_
        assert model.cluster_centers_ is model.exemplars_
        if not per_class:
            assert own.sum() == pytest.approx(D[:, model.exemplar_indices_].min(axis=1).sum())
    if metric == "euclidean":
        kernel = cls(3, kernel="rbf", gamma=1e-8, random_state=0).fit(X)
        K = np.exp(-1e-8 * cdist(X, X) ** 2)
        far = np.sqrt(np.maximum(0, 2 - 2 * K[:, kernel.exemplar_indices_]))
        assert kernel.inertia_ == pytest.approx(far.min(axis=1).sum(), rel=1e-7)
        assert cls(2, scale="standard", random_state=0).fit(X).inertia_ == pytest.approx(
            cls(2, random_state=0).fit(X / X.std(axis=0)).inertia_)


def test_alternating_medoids_are_the_best_of_their_clusters():
    X, _ = blobs()
    D = cdist(X, X)
    worse = 0
    for seed in range(20):
        model = fwsr.KMedoids(5, algorithm="alternating", random_state=seed).fit(X)
        assert (model.labels_ == D[model.exemplar_indices_].argmin(axis=0)).all()
        for place, medoid in enumerate(model.exemplar_indices_):
            own = np.flatnonzero(model.labels_ == place)
            sums = D[np.ix_(own, own)].sum(axis=0)
            assert D[medoid, own].sum() == pytest.approx(sums.min())
        worse += model.inertia_ > fwsr.KMedoids(5, random_state=seed).fit(X).inertia_ * (1 + 1e-9)
    assert worse > 0
    with pytest.raises(ValueError, match="fasterpam, alternating"):
        fwsr.KMedoids(5, algorithm="pam").fit(X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_inertia_of_classes_that_give_all_they_have():
    X, _ = blobs()
    y = np.repeat([0, 1], [3, 57])
    model = fwsr.KMedoids(5, per_class=True, random_state=0).fit(X, y)
    own = cdist(X, X)[np.arange(60), model.exemplar_indices_[model.labels_]]
    assert model.inertia_ == pytest.approx(own.sum())


def test_points_that_stay_in_their_file(tmp_path):
    X = np.random.default_rng(0).standard_normal((30000, 300), np.float32)
    np.save(tmp_path / "points.npy", X)
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    plain, model = fwsr.RRQR(3).fit(X), fwsr.RRQR(3, memory="32M").fit(mapped)
    assert model.plan_.data_bytes < X.nbytes / 2
    assert model.exemplar_indices_.tolist() == plain.exemplar_indices_.tolist()
    np.testing.assert_array_equal(model.exemplars_, X[model.exemplar_indices_])
    assert not isinstance(model.exemplars_, np.memmap)
    np.testing.assert_allclose(model.transform(mapped), plain.transform(X), atol=1e-12)
    assert len(pickle.dumps(model)) < X.nbytes / 10


def test_a_run_that_reads_from_the_file_holds_no_points(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "points.npy", rng.integers(0, 256, (200_000, 300), "u1"))
    held, alive = [], []
    as_data = fwsr._containers.as_data

    def remembered(X, memory=None):
        data = as_data(X, memory)
        held.append(weakref.ref(data))
        return data

    monkeypatch.setattr(fwsr._containers, "as_data", remembered)

    def look(progress):
        alive.append(held[0]() is not None)

    in_memory = fwsr.FWSR(3, callback=look).fit(tmp_path / "points.npy")
    assert all(alive)
    held.clear(), alive.clear()
    model = fwsr.FWSR(3, memory=62_000_000, callback=look).fit(tmp_path / "points.npy")
    assert alive and not any(alive)
    assert model.plan_.data_bytes < in_memory.plan_.data_bytes
    assert model.exemplar_indices_.tolist() == in_memory.exemplar_indices_.tolist()


def test_iterations_are_those_of_the_method():
    X, y = blobs()
    model = fwsr.KMedoids(20, random_state=0).fit(X)
    assert model.n_iter_ == model.selection_.facts["iterations"]
    model = fwsr.FWSR(3, nonneg=True).fit(X)
    assert model.n_iter_ == len(model.objective_path_) > 0
    assert fwsr.RRQR(3).fit(X).n_iter_ == 3
    per_class = fwsr.KMedoids(4, per_class=True, random_state=0).fit(X, y)
    assert per_class.n_iter_ == sum(s.facts["iterations"]
                                    for s in per_class.selection_.classes.values())


def test_counts_by_class_are_not_shared_out():
    X, y = blobs()
    with pytest.raises(ValueError, match="says already how many"):
        fwsr.FWSR({0: 3}, per_class="proportional").fit(X, y)


def test_labels_of_another_length_are_not_resampled():
    X, y = np.random.default_rng(0).normal(size=(20, 4)), np.arange(20) % 2
    model = fwsr.FWSR(3)
    for wrong in (y[:19], list(y[:5]), np.r_[y, y]):
        with pytest.raises(ValueError, match="X has 20 points, but y has"):
            model.fit_resample(X, wrong)
        assert not hasattr(model, "exemplar_indices_")
