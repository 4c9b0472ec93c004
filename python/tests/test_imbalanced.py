"""ExemplarSampler in imbalanced-learn's world."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

import fwsr

pytest.importorskip("imblearn")

from fwsr.imbalanced import ExemplarSampler
from imblearn.pipeline import make_pipeline
from imblearn.utils.estimator_checks import parametrize_with_checks

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@parametrize_with_checks([ExemplarSampler(sampling_strategy="auto"),
                          ExemplarSampler(fwsr.KCenter(), sampling_strategy="auto")])
def test_imbalanced_learn_check(estimator, check):
    check(estimator)


def unequal(d=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(["a", "b", "c"], [60, 25, 15]))
    X = rng.normal(size=(100, d)) + (y == "a")[:, None] + 2 * (y == "b")[:, None]
    return X, y


def test_by_itself_it_gives_what_the_selector_gives():
    X, y = unequal()
    for selector in (None, fwsr.FWSR(3, per_class=True), fwsr.RRQR(5),
                     fwsr.KCenter({"a": 4, "c": 2})):
        sampler = ExemplarSampler(selector)
        X_fewer, y_fewer = sampler.fit_resample(X, y)
        own = clone(selector) if selector is not None else fwsr.FWSR(10, per_class=True)
        X_own, y_own = own.fit_resample(X, y)
        np.testing.assert_array_equal(X_fewer, X_own)
        np.testing.assert_array_equal(y_fewer, y_own)
        assert sampler.sampling_strategy_ == dict(Counter(y_own.tolist()))
        assert sampler.selector_.exemplar_indices_ is sampler.sample_indices_
        assert selector is None or not hasattr(selector, "selection_")


@pytest.mark.parametrize("strategy, counts", [
    ("auto", {"a": 15, "b": 15, "c": 15}),
    ("not minority", {"a": 15, "b": 15, "c": 15}),
    ("majority", {"a": 15, "b": 25, "c": 15}),
    ("all", {"a": 15, "b": 15, "c": 15}),
    ({"a": 20}, {"a": 20, "b": 25, "c": 15}),
    ({"a": 60, "b": 7}, {"a": 60, "b": 7, "c": 15}),
    (lambda y: {"b": 5}, {"a": 60, "b": 5, "c": 15}),
])
@pytest.mark.parametrize("features", [1, 6])  # with 1 the selector finds none, and fills up
def test_counts_are_those_of_the_strategy(strategy, counts, features):
    X, y = unequal(features)
    sampler = ExemplarSampler(fwsr.FWSR(99, alpha=5), sampling_strategy=strategy)
    X_fewer, y_fewer = sampler.fit_resample(X, y)
    assert Counter(y_fewer.tolist()) == counts
    chosen = sampler.sample_indices_
    assert len(set(chosen.tolist())) == len(chosen)
    np.testing.assert_array_equal(X[chosen], X_fewer)
    np.testing.assert_array_equal(y[chosen], y_fewer)
    assert (y_fewer == np.sort(y_fewer)).all()


def test_each_class_is_represented_by_itself():
    X, y = unequal()
    sampler = ExemplarSampler(fwsr.FWSR(alpha=5), sampling_strategy={"a": 4})
    sampler.fit_resample(X, y)
    members = np.flatnonzero(y == "a")
    alone = members[fwsr.FWSR(4, alpha=5).fit(X[members]).exemplar_indices_]
    assert sampler.sample_indices_[:4].tolist() == alone.tolist()


def test_a_ratio_for_two_classes():
    X, y = unequal()
    X, y = X[y != "c"], (y[y != "c"] == "b").astype(int)
    _, y_fewer = ExemplarSampler(fwsr.OMP(fill=True), sampling_strategy=0.5).fit_resample(X, y)
    assert np.bincount(y_fewer).tolist() == [50, 25]


def test_nothing_to_reduce():
    X, y = unequal()
    sampler = ExemplarSampler(sampling_strategy={"a": 60})
    X_same, _ = sampler.fit_resample(X, y)
    assert len(X_same) == len(X) and sampler.selector_ is None


def test_containers():
    pd = pytest.importorskip("pandas")
    X, y = unequal()
    table = pd.DataFrame(X, columns=list("uvwxyz"), index=np.arange(100) + 1000)
    labels = pd.Series(y, index=table.index, name="kind")
    for strategy in (None, "auto"):
        sampler = ExemplarSampler(sampling_strategy=strategy)
        X_fewer, y_fewer = sampler.fit_resample(table, labels)
        assert X_fewer.index.tolist() == (sampler.sample_indices_ + 1000).tolist()
        pd.testing.assert_frame_equal(X_fewer, table.loc[X_fewer.index])
        pd.testing.assert_series_equal(y_fewer, labels.loc[X_fewer.index])
        assert sampler.feature_names_in_.tolist() == list("uvwxyz")
        sparse, _ = sampler.fit_resample(sp.csr_matrix(X), y)
        assert sparse.format == "csr" and sparse.shape == X_fewer.shape
        as_list, _ = sampler.fit_resample(X.tolist(), y.tolist())
        assert isinstance(as_list, list)


def test_in_a_pipeline_and_a_search():
    X, y = unequal()
    sampler = ExemplarSampler(fwsr.FWSR(), sampling_strategy="auto")
    pipeline = make_pipeline(StandardScaler(), sampler, LogisticRegression())
    assert pipeline.fit(X, y).score(X, y) > 0.8
    grid = {"exemplarsampler__selector__alpha": [1, 10],
            "exemplarsampler__selector": [fwsr.FWSR(), fwsr.FWSR(scale="standard")]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_[1].selector_.alpha in (1, 10)
    with pytest.raises(TypeError, match="fit_resample"):
        make_pipeline(fwsr.FWSR(), LogisticRegression()).fit(X, y)


def test_what_it_refuses():
    X, y = unequal()
    with pytest.raises(ValueError, match="precomputed"):
        ExemplarSampler(fwsr.FWSR(kernel="precomputed")).fit_resample(X @ X.T, y)
    with pytest.raises(ValueError, match="selector"):
        ExemplarSampler(LogisticRegression()).fit_resample(X, y)
    with pytest.raises(ValueError, match="inconsistent"):
        ExemplarSampler().fit_resample(X, y[:-1])
    with pytest.raises(ValueError, match="NaN"):
        ExemplarSampler().fit_resample(np.where(X == X[3, 1], np.nan, X), y)


def test_without_imbalanced_learn_it_says_what_to_install():
    code = ("import sys; sys.modules['imblearn'] = None\n"
            "import fwsr\n"
            "try: import fwsr.imbalanced\n"
            "except ImportError as e: print(e)")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install imbalanced-learn" in run.stdout
