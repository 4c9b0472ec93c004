"""The optima that the study of the paper's smaller claims compares."""

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from experiments import relaxations


def problem(seed):
    random = np.random.default_rng(seed)
    A = random.normal(size=(3, 5))
    return A, 10 ** random.uniform(-1, 1), 10 ** random.uniform(-1, 0.5)


@pytest.mark.parametrize("seed", range(5))
def test_boolean_optimum_is_that_of_ridge_regression_on_the_best_subset(seed):
    A, lambda_, rho = problem(seed)
    values = []
    for u in product([0, 1], repeat=5):
        B = A * np.array(u)
        X = np.linalg.solve(B.T @ B + rho**2 * np.eye(5), B.T @ A)
        values.append(lambda_ * sum(u) + ((B @ X - A) ** 2).sum() + rho**2 * (X**2).sum())
    assert relaxations.boolean(A, lambda_, rho) == pytest.approx(min(values))


@pytest.mark.parametrize("huber", [True, False])
def test_shrinking_minimises(huber):
    r = np.linspace(0, 8, 801)
    for norm, step in product([0.1, 1.0, 2.5, 7.0], [0.1, 0.6]):
        h = np.array([relaxations.penalty(r[i : i + 1], 2.0, 0.8, huber) for i in range(len(r))])
        best = r[np.argmin((r - norm) ** 2 / 2 + step * h)]
        found = relaxations.shrunk(np.array([norm]), step, 2.0, 0.8, huber)[0]
        assert found == pytest.approx(best, abs=0.02)


@pytest.mark.parametrize("huber", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_no_codes_are_better_than_the_bound_and_the_bounds_meet(seed, huber):
    A, lambda_, rho = problem(seed)
    upper, lower = relaxations.convex(A, lambda_, rho, huber)
    assert abs(upper - lower) <= 1e-8 * upper
    random = np.random.default_rng(seed)
    for scale in (0.01, 0.1, 1):
        for X in (np.eye(5), np.zeros((5, 5))):
            X = X + scale * random.normal(size=X.shape)
            rows = np.linalg.norm(X, axis=1)
            value = ((A @ X - A) ** 2).sum() + relaxations.penalty(rows, lambda_, rho, huber)
            assert value >= lower * (1 - 1e-12)
            assert relaxations.bound(A, X, lambda_, rho, huber) <= upper * (1 + 1e-12)
