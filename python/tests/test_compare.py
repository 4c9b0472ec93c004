"""compare: every measure against its definition, and the table of the command line."""

import re

import numpy as np
import pytest

import fwsr
from fwsr import _core


@pytest.fixture(scope="module")
def y():
    return np.arange(240) % 5


@pytest.fixture(scope="module")
def X(y):
    rng = np.random.default_rng(3)
    return rng.normal(size=(240, 7)) + 2 * rng.normal(size=(5, 7))[y]


def squares(a, b):
    return ((a[:, None] - b[None]) ** 2).sum(-1)


def by_definition(X, y, chosen, lam, rho):
    """Every measure of the documentation, computed as it is written there."""
    E = X[chosen]
    projection = np.linalg.pinv(E) @ E
    far = np.sqrt(squares(X, E))
    between = squares(X, X)
    apart = np.sort(between[np.triu_indices(len(X), 1)])
    gamma = 1 / apart[len(apart) // 2]
    kernel = [np.exp(-gamma * squares(a, b)).mean() for a, b in ((X, X), (X, E), (E, E))]
    others = np.setdiff1d(np.arange(len(X)), chosen)
    codes = np.linalg.solve(E @ E.T + rho ** 2 * np.eye(len(E)), E @ X.T)
    return {
        "reconstruction_error": ((X - X @ projection) ** 2).sum() / (X ** 2).sum(),
        "boolean_objective": lam * len(E) + ((X.T - E.T @ codes) ** 2).sum()
        + rho ** 2 * (codes ** 2).sum(),
        "medoid_cost": far.min(1).sum(),
        "coverage_radius": far.min(1).max(),
        "mmd": np.sqrt(kernel[0] - 2 * kernel[1] + kernel[2]),
        "class_coverage": len(set(y[chosen])) / len(set(y)),
        "nearest_accuracy": (y[chosen][far.argmin(1)] == y)[others].mean(),
    }


def test_measures_are_what_the_documentation_says(X, y):
    table = fwsr.compare(X, 4, ["fwsr", "kmedoids", "k-center", "random"], y=y, repeats=2,
                         lambda_=0.5, rho=1.5)
    for row in table:
        for trial in row.trials:
            for name, value in by_definition(X, y, trial["exemplars"], 0.5, 1.5).items():
                assert trial[name] == pytest.approx(value, rel=1e-9), (row.name, name)
            assert trial["seconds"] > 0


def test_the_discrepancy_of_many_points_is_that_of_two_thousand():
    X = np.random.default_rng(1).normal(size=(5000, 3))
    chosen = fwsr.compare(X, 3, ["random"], repeats=1)[0].trials[0]
    some = X[np.arange(2000) * 5000 // 2000]
    E = X[chosen["exemplars"]]
    sample = squares(some, some)
    gamma = 1 / np.median(sample[np.triu_indices(2000, 1)])  # ours is that of a smaller sample
    value = np.sqrt(np.exp(-gamma * sample).mean() - 2 * np.exp(-gamma * squares(some, E)).mean()
                    + np.exp(-gamma * squares(E, E)).mean())
    assert chosen["mmd"] == pytest.approx(value, rel=0.02)


def test_memory_does_not_depend_on_the_order(X):
    names = ["fwsr", "k-fwsr", "kmedoids", "rrqr", "random"]
    there = {m.name: m.mean("peak_bytes") for m in fwsr.compare(X, 4, names, repeats=1, n_jobs=1)}
    back = {m.name: m.mean("peak_bytes")
            for m in fwsr.compare(X, 4, names[::-1], repeats=1, n_jobs=1)}
    assert not any(np.isnan(v) for v in there.values())
    for name in names:
        assert there[name] == pytest.approx(back[name], rel=0.01, abs=4096), name
    assert there["k-fwsr"] > 240 * 240 * 8 / 2 > there["random"]


def test_the_defaults_are_those_of_the_command_line(X):
    assert [m.name for m in fwsr.compare(X, 3, repeats=1)] == [
        "fwsr", "k-fwsr", "smrs", "kmedoids", "rrqr", "random"]
    assert [m.name for m in fwsr.compare(X, 3, "rrqr, random,rrqr", repeats=1)] == [
        "rrqr", "random"]
    every = [m.name for m in fwsr.compare(X[:40], 3, "all", repeats=1, time_limit=20)]
    assert every == list(fwsr.methods())
    K = X[:40] @ X[:40].T
    for one in fwsr.compare(K, 3, ["all", "fwsr:alpha=5"], kernel="precomputed", repeats=1,
                            time_limit=20):
        assert one.outcome in ("done", "too_slow"), one
    with pytest.raises(ValueError, match="no method ''"):
        fwsr.compare(X, 3, "fwsr,,random")


def test_the_table_has_deviations_stars_and_units(X, y):
    table = fwsr.compare(X, 4, ["fwsr", "random"], y=y, repeats=5)
    lines = str(table).splitlines()
    assert "+-" in lines[2] and "+-" not in lines[1]
    assert re.search(r"\d (bytes|[KM]iB)", lines[1])
    best = 1 + [m.name for m in table].index(table.best("medoid_cost"))
    cost = f"{table[best - 1].mean('medoid_cost'):.4g}"
    assert re.search(re.escape(cost) + r"( \+-\S+)? \*", lines[best])


def test_rounding_has_no_star():
    X = np.eye(6)[:, :3] + np.eye(6, 3, k=-3)
    table = fwsr.compare(X, 3, ["fwsr", "rrqr", "greedy-cssp"])
    assert all(m.mean("reconstruction_error") < 1e-15 for m in table)
    column = [line[:line.index("0") + 4] for line in str(table).splitlines()[1:]]
    assert all("*" not in cell for cell in column), str(table)
    assert table.best("reconstruction_error") == "fwsr"


def test_words_of_the_core():
    assert _core.words_for_seconds(9 * 86400) == "9 days"
    assert _core.best_of("mmd", [1e-9, 1e-12, 0.5]) == [True, True, False]
    with pytest.raises(ValueError, match="no measure"):
        _core.best_of("beauty", [1.0])
