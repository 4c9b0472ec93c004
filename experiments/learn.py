"""Classifiers trained on exemplars, every setting of theirs at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.metrics import f1_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from .data import Split


def classifier(name: str, setting: float) -> Any:
    """svm or mnb; neighbours vote in _neighbours."""
    if name == "svm":
        return LinearSVC(C=setting, class_weight="balanced", random_state=0)
    return MultinomialNB(alpha=setting)


def scores(
    split: Split,
    rows: np.ndarray,
    name: str,
    grid: Sequence[float],
    weights: np.ndarray | None = None,
) -> dict[str, float]:
    """Accuracy (or F1) on the test points, for each setting of a classifier trained on these."""
    if name == "knn":
        if weights is not None:
            raise ValueError("neighbours vote without weights; leave weights out")
        return _neighbours(split, rows, grid)
    X, X_test = split.X[rows], split.X_test
    if name == "svm":
        X, X_test = _turned(X, X_test)
    more = {} if weights is None else {"sample_weight": weights}
    found = {}
    for setting in grid:
        model = classifier(name, setting).fit(X, split.y[rows], **more)
        found[f"{setting:g}"] = judge(split, model.predict(X_test))
    return found


def _neighbours(split: Split, rows: np.ndarray, grid: Sequence[float]) -> dict[str, float]:
    """The vote of the nearest 1, 2, ... is KNeighborsClassifier's; distances are computed once."""
    counts = [int(n) for n in grid if n <= len(rows)]
    model = KNeighborsClassifier(max(counts)).fit(split.X[rows], split.y[rows])
    near = split.y[rows][model.kneighbors(split.X_test, return_distance=False)]
    found = {}
    for n in counts:
        votes = np.stack([(near[:, :n] == label).sum(axis=1) for label in model.classes_], axis=1)
        found[str(n)] = judge(split, model.classes_[votes.argmax(axis=1)])
    return found


def judge(split: Split, predicted: np.ndarray) -> float:
    if split.f1:
        return float(f1_score(split.y_test, predicted))
    return float(np.mean(predicted == split.y_test))


def training_seconds(split: Split, rows: np.ndarray, name: str, setting: float) -> float:
    start = time.perf_counter()
    classifier(name, setting).fit(split.X[rows], split.y[rows])
    return time.perf_counter() - start


def _turned(X: Any, X_test: Any) -> tuple[Any, Any]:
    """Both in an orthonormal basis of the training points' span, when that has fewer columns.

    A linear machine sees inner products with training points only, so that its answer is the same;
    with fewer points than features it is found several times faster.
    """
    if scipy.sparse.issparse(X) or X.shape[0] >= X.shape[1]:
        return X, X_test
    basis, _ = np.linalg.qr(X.T.astype(np.float64))
    return X @ basis, X_test @ basis
