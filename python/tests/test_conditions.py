"""Conditions from Python: the code of docs/conditions.md, and ways to say the same."""

from __future__ import annotations

import json
import pathlib
import pickle
import re

import numpy as np
import pytest

import fwsr

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "conditions.md"


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(200, 30))


def test_the_code_of_the_page_runs(X):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 8
    bits = np.random.default_rng(1)
    there = {"fwsr": fwsr, "np": np, "X": X, "X_archive": X[:100], "X_new": X[100:],
             "site": bits.choice(list("abcd"), size=200), "price": 1 + 9 * bits.random(200)}
    for block in blocks:
        exec(block, dict(there))


def test_indices_masks_and_ids_say_the_same(X):
    pd = pytest.importorskip("pandas")
    some = [5, 17, 60, 61, 90, 120]
    mask = np.zeros(200, dtype=bool)
    mask[some] = True
    table = pd.DataFrame(X, index=[f"p{i}" for i in range(200)])
    for name in ("candidates", "exclude"):
        first = fwsr.select(X, 3, method="fwsr", **{name: some})
        assert np.isin(first.exemplars, some).all() == (name == "candidates")
        for data, given in ((X, mask), (X, np.array(some)), (table, [f"p{i}" for i in some])):
            other = fwsr.select(data, 3, method="fwsr", **{name: given})
            assert other.exemplars.tolist() == first.exemplars.tolist()


def test_estimators_and_functions_agree(X):
    weight, cost = np.linspace(0, 2, 200), np.linspace(1, 3, 200)
    groups = np.arange(200) % 3
    model = fwsr.FWSR(6, at_most=2, at_least={1: 2}).fit(
        X, sample_weight=weight, exclude=[0, 1], include=[7], cost=cost, groups=groups)
    chosen = fwsr.select(X, 6, method="fwsr", sample_weight=weight, exclude=[0, 1], include=[7],
                         cost=cost, groups=groups, at_most=2, at_least={1: 2})
    assert model.exemplar_indices_.tolist() == chosen.exemplars.tolist()
    assert chosen.included.tolist() == [True] + [False] * 6
    assert np.bincount(groups[chosen.exemplars[1:]], minlength=3).tolist() == [2, 2, 2]
    assert model.transform(X).shape == (200, 7)
    np.testing.assert_allclose(chosen.weights.sum(), weight.sum())


def test_the_default_takes_conditions_as_an_estimator_and_as_a_function(X):
    weight, groups = np.linspace(0, 2, 200), np.arange(200) % 3
    model = fwsr.Exchange(6, at_most=2).fit(X, sample_weight=weight, exclude=[0, 1], include=[7],
                                            groups=groups)
    chosen = fwsr.select(X, 6, at_most=2, sample_weight=weight, exclude=[0, 1], include=[7],
                         groups=groups)
    assert model.exemplar_indices_.tolist() == chosen.exemplars.tolist()
    assert chosen.refinement.local_optimum
    assert chosen.included.tolist() == [True] + [False] * 6
    assert np.bincount(groups[chosen.exemplars[1:]], minlength=3).tolist() == [2, 2, 2]
    assert len(fwsr.Exchange(150, until_error=0.6).fit(X).exemplar_indices_) < 150


@pytest.mark.parametrize("name", ["represent", "include_points"])
def test_fit_says_where_another_set_belongs(X, name):
    with pytest.raises(TypeError, match=f"use fwsr.select\\(X, k, {name}=...\\)"):
        fwsr.Exchange(5).fit(X[:100], **{name: X[100:]})
    with pytest.raises(TypeError, match="FWSR.fit has no weights: it has sample_weight"):
        fwsr.FWSR(5).fit(X, weights=np.ones(200))


def test_an_update_of_an_update_includes_all(X):
    first = fwsr.select(X[:80], 4)
    second = first.update(X[80:140], 3)
    third = second.update(X[140:], 2)
    assert third.included.tolist() == [True] * 7 + [False] * 2
    assert third.plan.method == "exchange"
    points = np.concatenate([X[first.exemplars], X[80:140][second.exemplars[4:]]])
    same = fwsr.select(X[140:], 2, include_points=points, kernel="rbf", gamma=second.gamma)
    assert third.exemplars.tolist() == same.exemplars.tolist()


def test_ids_of_several_points_are_refused(X):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X, index=[f"p{i // 2}" for i in range(200)])
    with pytest.raises(ValueError, match="exclude names 'p3', which is the id of several points"):
        fwsr.select(table, 3, exclude=["p3"])


def test_codes_of_what_is_included_and_chosen_leave_what_the_certificate_says(X):
    weight = np.linspace(0.5, 2, 200)
    chosen = fwsr.select(X, 5, method="fwsr", center="none", include=[3, 50], sample_weight=weight,
                         codes=True)
    left = X - chosen.codes @ X[chosen.exemplars]
    assert np.isclose((weight * (left ** 2).sum(axis=1)).sum(), chosen.certificate.f)
    # What is included has taken all it can.
    np.testing.assert_allclose(left @ X[[3, 50]].T, 0, atol=1e-9)


def test_represent_the_same_set_is_the_plain_run(X):
    one, other = fwsr.select(X, 5, method="fwsr"), fwsr.select(X, 5, method="fwsr", represent=X)
    assert one.exemplars.tolist() == other.exemplars.tolist()
    assert one.certificate == other.certificate


def test_represent_another_set_is_weights_of_zero(X):
    chosen = fwsr.select(X[:100], 5, method="fwsr", represent=X[100:])
    same = fwsr.select(X, 5, method="fwsr", candidates=np.arange(100),
                       sample_weight=np.repeat([0.0, 1.0], 100))
    assert chosen.exemplars.tolist() == same.exemplars.tolist()
    assert chosen.weights.sum() == 100


def test_update_includes_what_was_chosen(X):
    old = fwsr.select(X[:100], 4, method="k-fwsr", gamma=0.02)
    both = old.update(X[100:], 3)
    same = fwsr.select(X[100:], 3, method="k-fwsr", gamma=0.02, include_points=X[old.exemplars])
    assert both.exemplars.tolist() == same.exemplars.tolist()
    assert both.exemplars[:4].tolist() == [100, 101, 102, 103]


@pytest.mark.parametrize(("given", "words"), [
    ({"exclude": [200]}, "exclude names point 200, but the points are 0 to 199"),
    ({"candidates": [True] * 3}, "candidates as a mask must have one entry for each of 200"),
    ({"sample_weight": [1, 2]}, "sample_weight must have one number for each of 200 points"),
    ({"sample_weight": -np.ones(200)}, "the weight of point 0 is -1"),
    ({"cost": np.zeros(200)}, "the cost of point 0 is 0"),
    ({"at_most": 2}, "give the groups, too"),
    ({"include": [1, 1]}, "point 1 is to be included twice"),
    ({"groups": np.zeros(200), "at_least": 6}, "at least 6 exemplars together"),
])
def test_what_cannot_be_done_is_refused(X, given, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        fwsr.select(X, 5, method="fwsr", **given)


def test_other_methods_refuse_what_they_do_not_take(X):
    with pytest.raises(ValueError, match="herding does not choose under the condition candidates"):
        fwsr.select(X, 5, method="herding", exclude=[1])
    for method in ("omp", "greedy-cssp", "k-center", "rrqr", "random"):
        first = fwsr.select(X, 5, method=method).exemplars
        other = fwsr.select(X, 5, method=method, exclude=first).exemplars
        assert not set(first) & set(other)


def test_a_selection_says_under_which_conditions_it_was_made(X):
    assert fwsr.select(X, 3).conditions is None
    labels = np.arange(200) % 4
    chosen = fwsr.select(X, 5, method="fwsr", sample_weight=np.linspace(0, 2, 200),
                         exclude=[0, 1, 2], include=np.arange(200) == 7, groups=labels,
                         at_most={0: 2, 1: 3}, at_least=1)
    assert chosen.conditions == {
        "given": {"sample_weight": "200 numbers", "exclude": "3 points", "include": "1 point",
                  "groups": "200 labels", "at_most": "0=2,1=3", "at_least": "1"},
        "points": 200, "represented": 0, "included": 1, "candidates": 196,
        "weight": pytest.approx(200), "groups": 4}
    assert pickle.loads(pickle.dumps(chosen)).conditions == chosen.conditions
    assert json.loads(chosen.to_json())["conditions"] == chosen.conditions
    other = fwsr.select(X[:120], 3, represent=X[120:], include_points=X[:4]).conditions
    assert other["given"] == {"represent": "80 points", "include_points": "4 points"}
    assert (other["points"], other["represented"], other["included"]) == (120, 80, 4)
    assert (other["candidates"], other["weight"]) == (120, 80)
    by_class = fwsr.select(X, 2, y=labels, per_class=True, exclude=[0])
    assert by_class.conditions["candidates"] == 199
    model = fwsr.KMedoids(3, random_state=0).fit(X, sample_weight=np.full(200, 0.5))
    assert model.selection_.conditions["weight"] == 100


@pytest.mark.parametrize("cls", [fwsr.KMedoids, fwsr.KMedoidsBatch, fwsr.KMeansExemplars, fwsr.OMP,
                                 fwsr.GreedyCSSP])
def test_estimators_of_weighted_points_agree_with_functions(X, cls):
    weight = np.random.default_rng(3).integers(0, 4, size=200).astype(float)
    model = cls(6).fit(X, sample_weight=weight)
    if hasattr(cls, "random_state"):
        model = cls(6, random_state=4).fit(X, sample_weight=weight)
    chosen = fwsr.select(X, 6, method=cls.method, seed=4, sample_weight=weight)
    assert model.exemplar_indices_.tolist() == chosen.exemplars.tolist()
    np.testing.assert_allclose(model.weights_.sum(), weight.sum())
    if hasattr(model, "inertia_"):
        far = np.linalg.norm(X - X[chosen.exemplars][model.labels_], axis=1)
        np.testing.assert_allclose(model.inertia_, weight @ far, rtol=1e-6)
    with pytest.raises(ValueError, match="weight of point 0 is -1"):
        cls(6).fit(X, sample_weight=np.r_[-1.0, np.ones(199)])


def test_a_point_is_not_included_and_excluded(X):
    with pytest.raises(ValueError, match="point 5 is in include and in exclude"):
        fwsr.select(X, 3, include=[4, 5], exclude=[5, 6])


def test_k_beside_an_error_to_reach_is_a_limit(X):
    assert len(fwsr.select(X, 1000, method="fwsr", until_error=0.5)) < 200
    with pytest.raises(ValueError, match="more than n_samples"):
        fwsr.select(X, 1000, method="fwsr")
