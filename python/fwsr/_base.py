"""What all estimators share: fitting, and everything that is asked of a fitted one."""

from __future__ import annotations

import dataclasses
import numbers
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _containers
from ._cards import CardData, to_host
from ._data import Data
from ._encoder import Encoder
from ._progress import Progress, Watcher
from ._results import Selection
from ._run import Interrupted, Request, Run, seed_of, tell

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(eq=False, repr=False)
class ExemplarSelector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The base of all estimators; it chooses nothing by itself.

    A subclass is a dataclass: its fields are the parameters, and those that are no fields of this
    class are given to the method named by ``method``.

    Parameters
    ----------
    n_exemplars, per_class, center, scale, fill, refine, ridge, refine_rounds, n_jobs, memory, \
verbose, callback
        Those of every estimator; :class:`fwsr.FWSR` explains them.

    Examples
    --------
    >>> import fwsr
    >>> all(issubclass(estimator, fwsr.ExemplarSelector) for estimator in fwsr.ESTIMATORS)
    True
    """

    n_exemplars: int | float | str | Mapping[Any, int] = 10
    _: dataclasses.KW_ONLY
    per_class: bool | str = False
    center: str | None = None
    scale: str = "none"
    fill: bool = False
    refine: str = "none"
    ridge: float = 0.1
    refine_rounds: int = 0
    n_jobs: int | None = None
    memory: int | str | None = None
    verbose: int = 0
    callback: Callable[[Progress], Any] | None = None

    #: The name of the method in the table of the core.
    method: ClassVar[str] = ""

    # ----------------------------------------------------------------------------------------- fit

    def fit(self, X: Any, y: Any = None) -> Self:
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
        return self._fit(X, y, {})

    def _fit(self, X: Any, y: Any, conditions: Mapping[str, Any]) -> Self:
        self._forget()
        try:
            request = self._request()
            request.conditions.update(conditions)
            request.seed = self._seed()
            # Nothing but the run holds the points: it may let go of them and read their file.
            run = Run.prepare(X, request, self.n_exemplars, self.per_class, y, self.n_jobs,
                              self.memory)
            self._remember_features(X, run.original)
            selection = run.select(Watcher(self.verbose, self.callback, type(self).__name__))
            if "interrupted" in {selection.status, *(s.status for s in selection.classes.values())}:
                raise Interrupted("the callback stopped the run; the estimator is not fitted")
            self._describe(selection, run, X)
            tell(selection.warnings)
        except BaseException:  # also Ctrl-C, and warnings that are made errors
            self._forget()
            raise
        return self

    def _request(self) -> Request:
        """The parameters as the core takes them, without a seed."""
        own = self._of_the_run()
        given = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)
                 if f.name not in own}
        if given["center"] is None:
            del given["center"]
        return Request.of(self.method, given)

    def _of_the_run(self) -> set[str]:
        """Parameters that are no options of the method."""
        return {"n_exemplars", "per_class", "n_jobs", "memory", "verbose", "callback",
                "random_state"}

    def _seed(self) -> int:
        state = getattr(self, "random_state", 0)
        if isinstance(state, numbers.Integral) and not isinstance(state, bool):
            return seed_of(int(state), "random_state")
        if isinstance(state, np.random.Generator):
            return int(state.integers(2 ** 63))
        return int(check_random_state(state).randint(2 ** 31 - 1))

    def _describe(self, selection: Selection, run: Run, X: Any) -> None:
        self.selection_ = selection
        self.exemplar_indices_ = selection.exemplars
        self.exemplars_ = _containers.take(run.original if _is_path(X) else X, selection.exemplars)
        self.weights_ = selection.weights
        self.strength_ = selection.strength
        self.labels_ = (np.full(len(run.data), -1) if selection.assignment is None
                        else selection.assignment)
        self.status_ = selection.status
        self.plan_ = selection.plan or {c: s.plan for c, s in selection.classes.items()}
        if run.classes.counts:
            self.classes_ = run.classes.values
        parts = list(selection.classes.values()) or [selection]
        self.objective_path_ = np.concatenate([s.trace["f"] for s in parts])
        self.gap_path_ = np.concatenate([s.trace["gap"] for s in parts])
        self.n_iter_ = int(sum(s.facts.get("iterations", len(s.trace["f"]) or len(s))
                               for s in parts))
        if selection.certificate is not None:
            self.reconstruction_error_ = selection.certificate.reconstruction_error
        self._encoder = run.encoder(selection)

    def _forget(self) -> None:
        """Back to what it was before fit."""
        parameters = {f.name for f in dataclasses.fields(self)}
        for name in [n for n in vars(self) if n.endswith("_") and n not in parameters]:
            delattr(self, name)
        self.__dict__.pop("_encoder", None)

    def __sklearn_is_fitted__(self) -> bool:
        return "_encoder" in vars(self)

    def _remember_features(self, X: Any, data: Data) -> None:
        """n_features_in_ and feature_names_in_."""
        if data.columns is not None:
            self.n_features_in_ = data.shape[1]
            self.feature_names_in_ = np.asarray(data.columns, dtype=object)
        else:
            validate_data(self, _names_of(X, data), skip_check_array=True)

    def _check_features(self, X: Any, data: Data) -> None:
        if data.columns is None or not hasattr(self, "feature_names_in_"):
            validate_data(self, _names_of(X, data), reset=False, skip_check_array=True)
        elif list(self.feature_names_in_) != list(data.columns):
            raise ValueError(f"the features must be those of fit, in their order: "
                             f"{_few(self.feature_names_in_)}; here they are {_few(data.columns)}")

    # ------------------------------------------------------------------------ of a fitted estimator

    @property
    def sample_indices_(self) -> np.ndarray:
        """The same as ``exemplar_indices_``, by the name imbalanced-learn has for it."""
        return self._fitted("exemplar_indices_", "sample_indices_")

    def _fitted(self, name: str, alias: str) -> Any:
        """An attribute that fit sets, by another name."""
        if name not in vars(self):
            raise AttributeError(f"{alias} is there after fit")
        return vars(self)[name]

    @property
    def _n_features_out(self) -> int:
        return len(self.exemplar_indices_)

    def _fresh(self, X: Any) -> tuple[Encoder, Data]:
        check_is_fitted(self)
        data = _containers.as_data(X, self.memory)
        if isinstance(data, CardData):
            data = _containers.as_data(to_host(X))
        self._check_features(X, data)
        return self._encoder, data

    def transform(self, X: Any) -> np.ndarray:
        """Codes of points over the exemplars: their new features.

        Exchange, and FWSR and KFWSR with ``q=2`` and without ``nonneg``, not per class: the codes
        of the run, of new points by the formula that gave those of the old. All others: the
        combination of the exemplars nearest to the point, by least squares, which may be negative,
        also with ``nonneg``. Per class with a width that each class found for itself
        (``gamma=None``), that is in the space of the mean width (1 where no class found one).
        Exemplars added by ``fill`` have codes of 0. With ``metric="precomputed"``, where there are
        no codes: the dissimilarities from the exemplars.

        Parameters
        ----------
        X : array-like, sparse matrix, table, :class:`fwsr.Data` or path
            Points with the features of ``fit``; with ``"precomputed"`` the kernel or the
            dissimilarities between them and the points fitted, one row each.

        Returns
        -------
        ndarray of shape (n_points, n_exemplars)
        """
        encoder, data = self._fresh(X)
        return encoder.codes(data)

    def predict(self, X: Any) -> np.ndarray:
        """For each point the position of the exemplar that represents it, in ``exemplar_indices_``.

        That is the nearest one, as in ``labels_``, which may differ per class, where it stays
        within the class, and of copies of an exemplar that are exemplars, too.

        Parameters
        ----------
        X : array-like, sparse matrix, table, :class:`fwsr.Data` or path
            As for ``transform``.

        Returns
        -------
        ndarray of int64
        """
        encoder, data = self._fresh(X)
        return encoder.represented_by(data)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the reconstruction error of the points by the exemplars: 0 at best, -1 at worst.

        With ``metric="precomputed"``, where there is no reconstruction: minus the mean
        dissimilarity from the nearest exemplar. With ``kernel="precomputed"`` only of the points
        fitted: the error needs the norms of the points, and the kernel between others and these has
        none.

        Parameters
        ----------
        X : array-like, sparse matrix, table, :class:`fwsr.Data` or path
            As for ``transform``.
        y : ignored

        Returns
        -------
        float
        """
        encoder, data = self._fresh(X)
        return -encoder.mean_distance(data) if encoder.given == "distance" else -encoder.error(data)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and for each point the position of its exemplar (``labels_``).

        Parameters
        ----------
        X, y
            As for ``fit``.

        Returns
        -------
        ndarray of int64
        """
        return self.fit(X, y).labels_

    def fit_resample(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the exemplars and their labels, in the containers they came in.

        In pipelines of imbalanced-learn use :class:`fwsr.imbalanced.ExemplarSampler`: a pipeline
        takes no step that both transforms and resamples.

        Parameters
        ----------
        X, y
            As for ``fit``.

        Returns
        -------
        X_exemplars, y_exemplars
            In the order of choosing. Without y only the first.
        """
        self.fit(X, y)
        if y is None:
            return self.exemplars_
        points, labels = len(self.labels_), y.shape[0] if hasattr(y, "shape") else len(y)
        if points != labels:
            self._forget()
            raise ValueError(f"X has {points} points, but y has {labels} labels")
        return self.exemplars_, _containers.take(y, self.exemplar_indices_)

    def get_support(self, indices: bool = False, ordered: bool = False) -> np.ndarray:
        """Which points are exemplars.

        Parameters
        ----------
        indices : bool
            Return their indices instead of a mask.
        ordered : bool
            With ``indices``: in the order of choosing instead of ascending.

        Returns
        -------
        ndarray of bool or int64
        """
        check_is_fitted(self)
        if ordered and not indices:
            raise ValueError("a mask has no order; ordered=True goes with indices=True")
        if indices:
            return self.exemplar_indices_.copy() if ordered else np.sort(self.exemplar_indices_)
        mask = np.zeros(len(self.labels_), dtype=bool)
        mask[self.exemplar_indices_] = True
        return mask

    # ------------------------------------------------------------------------------- scikit-learn's

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        pairwise = "precomputed" in (getattr(self, "kernel", None), getattr(self, "metric", None))
        tags.input_tags.pairwise = pairwise
        tags.input_tags.sparse = not pairwise
        tags.target_tags.required = bool(self.per_class) or isinstance(self.n_exemplars,
                                                                       (str, Mapping))
        return tags


@dataclass(eq=False, repr=False)
class KernelSelector(ExemplarSelector):
    """The base of estimators that work in the space of a kernel."""

    _: dataclasses.KW_ONLY
    kernel: str | Callable[..., Any] = "linear"
    gamma: float | None = None
    degree: int = 3
    coef0: float = 1.0


def _is_path(X: Any) -> bool:
    return isinstance(X, (str, os.PathLike))


def _names_of(X: Any, data: Data) -> Any:
    """What scikit-learn may ask for names and number of the features.

    `X` itself, unless that is no table or array, or one of fewer columns, which hold lists.
    """
    as_it_is = getattr(X, "shape", None) == data.shape and not isinstance(X, Data)
    return X if as_it_is else np.empty((1, data.shape[1]))


def _few(names: Any) -> str:
    return ", ".join(map(str, names[:10])) + (", ..." if len(names) > 10 else "")
