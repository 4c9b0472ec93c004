"""Exemplars as a step of imbalanced-learn's pipelines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, validate_data

from . import _containers
from ._base import ExemplarSelector
from ._estimators import FWSR

try:
    from imblearn.under_sampling.base import BaseUnderSampler
    from imblearn.utils import check_target_type
except ImportError as e:
    raise ImportError("fwsr.imbalanced needs imbalanced-learn; pip install imbalanced-learn, or "
                      "fwsr[imbalanced]") from e

__all__ = ["ExemplarSampler"]


class ExemplarSampler(BaseUnderSampler):  # type: ignore[misc]
    """Under-sampling by exemplars: of each class the points that represent it.

    The estimators themselves cannot stand in a pipeline of imbalanced-learn, which takes no step
    that both transforms and resamples; this wraps any of them.

    Parameters
    ----------
    selector : estimator of fwsr, default=None
        What chooses; None is ``FWSR(10, per_class=True)``. A clone of it is fitted.
    sampling_strategy : None, float, str, dict or callable, default=None
        None: as many exemplars as the selector's own ``n_exemplars`` and ``per_class`` say. Else as
        imbalanced-learn has it, such as ``"auto"``, ``"majority"``, ``0.5`` or
        ``{"cat": 20}``: each class to be reduced gives as many exemplars as the strategy says,
        chosen within the class, and all points of the other classes stay. The selector's
        ``n_exemplars``, ``per_class`` and ``fill`` are then not looked at: points are filled in
        (``fill=True``) where the selector finds fewer than that, so that the counts are exact.

    Attributes
    ----------
    sample_indices_ : ndarray of int64
        Rows of the points that stay, class after class (not per class: in the order of choosing).
    sampling_strategy_ : dict
        How many points each class gives that is reduced; with ``sampling_strategy=None`` how many
        exemplars each class gave.
    selector_ : estimator of fwsr or None
        The clone that was fitted; None when no class had to be reduced.
    n_features_in_, feature_names_in_
        Of ``X``; names where it has them.

    Examples
    --------
    >>> import numpy as np
    >>> from fwsr.imbalanced import ExemplarSampler
    >>> X = np.random.default_rng(0).normal(size=(100, 30))
    >>> y = np.repeat([0, 1], [80, 20])
    >>> X_fewer, y_fewer = ExemplarSampler(sampling_strategy="auto").fit_resample(X, y)
    >>> np.bincount(y_fewer)
    array([20, 20])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": [ExemplarSelector, None],
        "sampling_strategy": [*BaseUnderSampler._parameter_constraints["sampling_strategy"], None],
    }

    def __init__(
        self,
        selector: ExemplarSelector | None = None,
        *,
        sampling_strategy: None | float | str | Mapping[Any, int] | Callable[..., Any] = None,
    ):
        super().__init__(sampling_strategy=sampling_strategy)
        self.selector = selector

    def _check_X_y(self, X: Any, y: Any) -> tuple[Any, Any, bool]:
        """Tables stay tables, so that they keep their index."""
        y, binarize_y = check_target_type(y, indicate_one_vs_all=True)
        if not hasattr(X, "iloc"):
            X = check_array(X, accept_sparse=["csr", "csc"])
        check_consistent_length(X, y)
        validate_data(self, X, reset=True, skip_check_array=True)
        return X, y, binarize_y

    def _fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        selector = FWSR(10, per_class=True) if self.selector is None else clone(self.selector)
        if selector.__sklearn_tags__().input_tags.pairwise:
            raise ValueError("ExemplarSampler chooses among points; this selector wants a "
                             "precomputed matrix: give it a kernel or a metric by name")
        labels = np.asarray(y).ravel()
        if self.sampling_strategy is None:
            self.selector_ = selector.fit(X, labels)
            self.sample_indices_ = selector.exemplar_indices_
            classes, counts = np.unique(labels[self.sample_indices_], return_counts=True)
            self.sampling_strategy_ = dict(zip(classes.tolist(), counts.tolist()))
        else:
            self.sample_indices_ = self._reduced(selector, X, labels)
        return _containers.take(X, self.sample_indices_), _containers.take(y, self.sample_indices_)

    def _reduced(self, selector: ExemplarSelector, X: Any, labels: np.ndarray) -> np.ndarray:
        """Exemplars of the classes that the strategy names, and all points of the others."""
        wanted = {c: int(k) for c, k in self.sampling_strategy_.items()
                  if k < np.count_nonzero(labels == c)}
        self.selector_ = None
        if wanted:
            selector.set_params(n_exemplars=wanted, per_class=True, fill=True)
            self.selector_ = selector.fit(X, labels)
        parts = []
        for c in np.unique(labels):
            members = np.flatnonzero(labels == c)
            if c in wanted and self.selector_ is not None:
                chosen = self.selector_.exemplar_indices_
                members = chosen[labels[chosen] == c]
            parts.append(members)
        return np.concatenate(parts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.sampler_tags.sample_indices = True
        return tags
