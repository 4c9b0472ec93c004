"""What all estimators share: fitting, and everything that is asked of a fitted one."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _data
from ._data import Data
from ._progress import Progress, Watcher
from ._results import Selection
from ._run import Interrupted, Request, Run, tell


@dataclass(eq=False, repr=False)
class ExemplarSelector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The base of all estimators; it chooses nothing by itself.

    A subclass is a dataclass: its fields are the parameters, and those that are no fields of this
    class are given to the method named by ``method``.
    """

    n_exemplars: int | float | str | Mapping[Any, int] = 10
    _: dataclasses.KW_ONLY
    per_class: bool | str = False
    center: str | None = None
    scale: str = "none"
    fill: bool = False
    n_jobs: int | None = None
    memory: int | str | None = None
    verbose: int = 0
    callback: Callable[[Progress], Any] | None = None

    #: The name of the method in the table of the core.
    method: ClassVar[str] = ""

    # ----------------------------------------------------------------------------------------- fit

    def fit(self, X: Any, y: Any = None) -> ExemplarSelector:
        """Choose exemplars.

        Parameters
        ----------
        X : array-like, sparse matrix, table, :class:`fwsr.Data` or path
            The points, one a row; a square matrix where the kernel or the metric is
            ``"precomputed"``. Never changed; float32 and float64 rows and CSR matrices are used in
            place.
        y : array-like, optional
            Labels; needed for ``per_class``, else not looked at.

        Returns
        -------
        self
        """
        self._forget()
        try:
            data = _data.as_data(X, self.memory)
            self._remember_features(X, data, reset=True)
            run = Run.prepare(data, self._request(), self.n_exemplars, self.per_class, y,
                              self.n_jobs, self.memory)
            selection = run.select(Watcher(self.verbose, self.callback, type(self).__name__))
            if "interrupted" in {selection.status, *(s.status for s in selection.classes.values())}:
                raise Interrupted("the callback stopped the run; the estimator is not fitted")
            encoder = run.encoder(selection)
        except BaseException:
            self._forget()
            raise
        self._describe(selection, run, X)
        self._encoder = encoder
        tell(selection.warnings)
        return self

    def _request(self) -> Request:
        """The parameters as the core takes them."""
        skipped = {f.name for f in dataclasses.fields(ExemplarSelector)} - {"center", "scale", "fill"}
        given = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)
                 if f.name not in skipped | {"random_state"}}
        if given["center"] is None:
            del given["center"]
        return Request.of(self.method, given, self._seed())

    def _seed(self) -> int:
        state = getattr(self, "random_state", 0)
        if isinstance(state, numbers.Integral) and not isinstance(state, bool):
            if not 0 <= state < 2 ** 64:
                raise ValueError(f"random_state must be 0 or positive, got {state}")
            return int(state)
        if isinstance(state, np.random.Generator):
            return int(state.integers(2 ** 63))
        return int(check_random_state(state).randint(2 ** 31 - 1))

    def _describe(self, selection: Selection, run: Run, X: Any) -> None:
        self.selection_ = selection
        self.exemplar_indices_ = selection.exemplars
        self.exemplars_ = _data.take(run.original if isinstance(X, str) else X, selection.exemplars)
        self.weights_ = selection.weights
        self.strength_ = selection.strength
        self.labels_ = selection.assignment
        self.status_ = selection.status
        self.plan_ = selection.plan or {c: s.plan for c, s in selection.classes.items()}
        self.classes_ = run.classes.values if run.classes.counts else None
        parts = list(selection.classes.values()) or [selection]
        self.objective_path_ = np.concatenate([s.trace["f"] for s in parts])
        self.gap_path_ = np.concatenate([s.trace["gap"] for s in parts])
        self.n_iter_ = int(sum(max(len(s.trace["f"]), int(s.facts.get("iterations", 0)), len(s))
                               for s in parts))
        if selection.certificate is not None:
            self.reconstruction_error_ = selection.certificate.reconstruction_error

    def _forget(self) -> None:
        for name in [n for n in vars(self) if n.endswith("_") and not n.startswith("__")
                     and n not in {f.name for f in dataclasses.fields(self)}]:
            delattr(self, name)
        vars(self).pop("_encoder", None)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "exemplar_indices_")

    def _remember_features(self, X: Any, data: Data, reset: bool) -> None:
        """n_features_in_ and feature_names_in_, set or checked."""
        known = not isinstance(X, (str, Data)) and not hasattr(X, "__fspath__")
        validate_data(self, X if known and hasattr(X, "shape") else np.empty((1, data.shape[1])),
                      reset=reset, skip_check_array=True)
        if reset and data.columns is not None:
            self.feature_names_in_ = np.asarray(data.columns, dtype=object)

    # --------------------------------------------------------------------------- of a fitted estimator

    @property
    def sample_indices_(self) -> np.ndarray:
        """The same as ``exemplar_indices_``, by the name imbalanced-learn has for it."""
        try:
            return self.exemplar_indices_
        except AttributeError:
            raise AttributeError("sample_indices_ is there after fit") from None

    @property
    def _n_features_out(self) -> int:
        return len(self.exemplar_indices_)

    def _fresh(self, X: Any) -> Data:
        check_is_fitted(self)
        data = _data.as_data(X, self.memory)
        self._remember_features(X, data, reset=False)
        return data

    def transform(self, X: Any) -> np.ndarray:
        """Codes of points over the exemplars.

        Those of the run where it has a formula for them (FWSR with ``q=2`` and signs free, not per
        class); else the combination of the exemplars nearest to each point, by least squares.

        Returns
        -------
        ndarray of shape (n_points, n_exemplars)
        """
        return self._encoder_().codes(self._fresh(X))

    def predict(self, X: Any) -> np.ndarray:
        """For each point the place of the exemplar that represents it, in ``exemplar_indices_``.

        That with the largest code of the run where there is a formula for these; else the nearest.
        """
        return self._encoder_().represented_by(self._fresh(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the reconstruction error of the points by the exemplars: 0 at best, -1 at worst.

        For dissimilarities, which have no reconstruction: minus the mean dissimilarity from the
        nearest exemplar.
        """
        encoder, data = self._encoder_(), self._fresh(X)
        if encoder.given == "distance":
            return -float(np.mean(encoder.distance(data)))
        return -encoder.error(data)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and for each point the place of the exemplar that stands for it (``labels_``)."""
        return self.fit(X, y).labels_

    def fit_resample(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the exemplars and their labels, in the containers they came in.

        In pipelines of imbalanced-learn use :class:`fwsr.imbalanced.ExemplarSampler`: a pipeline
        takes no step that both transforms and resamples.

        Returns
        -------
        X_exemplars, y_exemplars
            In the order of choosing. Without y only the first.
        """
        self.fit(X, y)
        if y is None:
            return self.exemplars_
        return self.exemplars_, _data.take(y, self.exemplar_indices_)

    def get_support(self, indices: bool = False, ordered: bool = False) -> np.ndarray:
        """Which points are exemplars.

        Parameters
        ----------
        indices : bool
            Return their row numbers instead of a mask.
        ordered : bool
            With ``indices``: in the order of choosing instead of ascending.
        """
        check_is_fitted(self)
        if indices:
            return self.exemplar_indices_.copy() if ordered else np.sort(self.exemplar_indices_)
        mask = np.zeros(self._n_points, dtype=bool)
        mask[self.exemplar_indices_] = True
        return mask

    @property
    def _n_points(self) -> int:
        return len(self.labels_)

    def _encoder_(self) -> Any:
        check_is_fitted(self)
        return self._encoder

    # -------------------------------------------------------------------------------- scikit-learn's

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = "precomputed" in (getattr(self, "kernel", None),
                                                     getattr(self, "metric", None))
        tags.target_tags.required = False
        tags.non_deterministic = False
        return tags


@dataclass(eq=False, repr=False)
class KernelSelector(ExemplarSelector):
    """The base of estimators that work in the space of a kernel."""

    _: dataclasses.KW_ONLY
    kernel: str | Callable[..., Any] = "linear"
    gamma: float | None = None
    degree: int = 3
    coef0: float = 1.0
