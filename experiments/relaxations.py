"""The paper's boolean problem, Eq. (1), and the two convex ones below it, for small problems.

    boolean        min_T  lambda |T| + min_X ||A_T X - A||^2 + rho^2 ||X||^2
    reverse Huber  min_X  ||A X - A||^2 + sum_j h(||X^(j)||),
                   h(r) = 2 rho sqrt(lambda) r up to r = sqrt(lambda) / rho, then rho^2 r^2 + lambda
    group lasso    the same with h(r) = 2 rho sqrt(lambda) r for all r

Here A is d x n, one column a point, as in the paper.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np


def boolean(A: np.ndarray, lambda_: float, rho: float) -> float:
    """By trying all subsets: ridge regression of a on B leaves rho^2 a^T (B B^T + rho^2 I)^-1 a."""
    d, n = A.shape
    best = np.inf
    for size in range(n + 1):
        chosen = np.array(list(combinations(range(n), size)), dtype=int)
        B = np.moveaxis(A[:, chosen], 1, 0)  # subsets x d x size
        inverse = np.linalg.inv(B @ np.swapaxes(B, 1, 2) + rho**2 * np.eye(d))
        left = rho**2 * np.einsum("ij,sik,kj->s", A, inverse, A, optimize=True)
        best = min(best, lambda_ * size + float(left.min()))
    return best


def penalty(norms: np.ndarray, lambda_: float, rho: float, huber: bool) -> float:
    linear = 2 * rho * np.sqrt(lambda_) * norms
    if huber:
        linear = np.where(norms > np.sqrt(lambda_) / rho, rho**2 * norms**2 + lambda_, linear)
    return float(linear.sum())


def shrunk(norms: np.ndarray, step: float, lambda_: float, rho: float, huber: bool) -> np.ndarray:
    """argmin_r (r - norm)^2 / 2 + step h(r), for each norm."""
    r = np.maximum(norms - 2 * step * rho * np.sqrt(lambda_), 0)
    if huber:
        r = np.where(r > np.sqrt(lambda_) / rho, norms / (1 + 2 * step * rho**2), r)
    return r


def bound(A: np.ndarray, X: np.ndarray, lambda_: float, rho: float, huber: bool) -> float:
    """What the optimum is at least, by duality, from Y = 2 (A X - A)."""
    Y = 2 * (A @ X - A)
    slopes = np.linalg.norm(A.T @ Y, axis=1)
    flat = 2 * rho * np.sqrt(lambda_)  # h* is zero up to here
    if huber:
        conjugate = np.where(slopes > flat, slopes**2 / (4 * rho**2) - lambda_, 0).sum()
    else:
        Y *= min(1.0, flat / max(slopes.max(), 1e-300))
        conjugate = 0.0
    return float(-(Y**2).sum() / 4 - (Y * A).sum() - conjugate)


def convex(
    A: np.ndarray, lambda_: float, rho: float, huber: bool, tolerance: float = 1e-9,
    limit: int = 50_000,
) -> tuple[float, float]:
    """An upper and a lower bound of the optimum, by accelerated proximal steps with restarts."""
    n = A.shape[1]
    step = 1 / (2 * float(np.linalg.norm(A, 2)) ** 2)
    K = A.T @ A
    X = ahead = np.zeros((n, n))
    momentum, upper, lower = 1.0, np.inf, -np.inf
    for count in range(limit):
        moved = ahead - 2 * step * (K @ ahead - K)
        norms = np.linalg.norm(moved, axis=1)
        r = shrunk(norms, step, lambda_, rho, huber)
        new = moved * (r / np.maximum(norms, 1e-300))[:, None]
        if ((ahead - new) * (new - X)).sum() > 0:
            momentum = 1.0
        grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / grown * (new - X)
        X, momentum = new, grown
        if count % 20 == 19:
            rows = np.linalg.norm(X, axis=1)
            value = float(((A @ X - A) ** 2).sum()) + penalty(rows, lambda_, rho, huber)
            upper = min(upper, value)
            lower = max(lower, bound(A, X, lambda_, rho, huber))
            if upper - lower <= tolerance * upper:
                break
    return upper, lower
