"""Estimators over arrays and tables of Dask."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import _estimators as local
from .._base import ExemplarSelector
from .._clusters import is_collection
from .._documentation import documented
from .._estimators.frank_wolfe import Conditional
from .._progress import Watcher
from .._run import Interrupted, tell
from ._lazy import codes, represented_by
from ._select import Selection, _refuse_classes, running

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(eq=False, repr=False)
class OnDask(Conditional):
    """What the estimators here have in common.

    Their second base, after the one whose defaults they have.
    """

    _: dataclasses.KW_ONLY
    client: Any = None
    timeout: float = 60.0

    def _of_the_run(self) -> set[str]:
        return super()._of_the_run() | {"client", "timeout"}

    def _fit(self, X: Any, y: Any, conditions: Mapping[str, Any]) -> Self:
        self._forget()
        try:
            _refuse_classes(self.n_exemplars, self.per_class)
            if self.memory is not None:
                raise ValueError("memory is that of one machine; on a cluster Dask limits what its "
                                 "workers take (memory_limit)")
            request = self._request()
            request.conditions.update(conditions)
            request.seed = self._seed()
            with running(X, request, self.n_exemplars, client=self.client, timeout=self.timeout,
                         n_jobs=self.n_jobs, name="n_exemplars") as run:
                selection = run.select(
                    Watcher(self.verbose, self.callback, type(self).__name__), False)
                if selection.status == "interrupted":
                    raise Interrupted("the callback stopped the run; the estimator is not fitted")
                self.n_features_in_ = run.data.shape[1]
                columns = run.data.columns
                if columns is not None and all(isinstance(name, str) for name in columns):
                    self.feature_names_in_ = np.asarray(columns, dtype=object)
                self._describe(selection, run, X)  # type: ignore[arg-type]
            self.exemplars_ = selection.points
            tell(selection.warnings)
        except BaseException:  # also Ctrl-C, and warnings that are made errors
            self._forget()
            raise
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        return codes(X, self._encoder) if is_collection(X) else super().transform(X)

    def predict(self, X: Any) -> Any:
        check_is_fitted(self)
        return represented_by(X, self._encoder) if is_collection(X) else super().predict(X)

    def score(self, X: Any, y: Any = None) -> float:
        check_is_fitted(self)
        if is_collection(X):
            raise ValueError("score takes points in memory; of the points fitted it is "
                             "-reconstruction_error_")
        return super().score(X)

    def to_local(self) -> ExemplarSelector:
        """The same estimator without Dask: :class:`fwsr.FWSR` for :class:`fwsr.dask.FWSR`.

        Fitted as this one is; ``labels_`` are computed. It needs no cluster, and can be pickled.
        """
        check_is_fitted(self)
        kind = getattr(local, type(self).__name__)
        own = {f.name for f in dataclasses.fields(kind)}
        there = kind(**{name: value for name, value in self.get_params().items() if name in own})
        for name, value in vars(self).items():
            if name not in own and name not in ("client", "timeout"):
                setattr(there, name, value)
        assert isinstance(self.selection_, Selection)
        there.selection_ = self.selection_.to_local()
        there.labels_ = there.selection_.assignment
        return there


@documented
@dataclass(eq=False, repr=False)
class FWSR(local.FWSR, OnDask):
    """:class:`fwsr.FWSR` over arrays and tables of Dask.

    ``labels_``, ``transform`` and ``predict`` are lazy, with the chunks and the index of X;
    ``exemplars_`` are rows in memory. ``client`` and ``timeout`` are those of
    :func:`fwsr.dask.select`.

    Examples
    --------
    >>> import fwsr.dask
    >>> fwsr.dask.FWSR(20, alpha=5).alpha
    5
    """


@documented
@dataclass(eq=False, repr=False)
class KFWSR(local.KFWSR, OnDask):
    """:class:`fwsr.KFWSR` over arrays and tables of Dask; see :class:`fwsr.dask.FWSR`.

    Examples
    --------
    >>> import fwsr.dask
    >>> fwsr.dask.KFWSR(20, rank=512).kernel
    'rbf'
    """


@documented
@dataclass(eq=False, repr=False)
class Exchange(local.Exchange, OnDask):
    """:class:`fwsr.Exchange` over arrays and tables of Dask; see :class:`fwsr.dask.FWSR`.

    Examples
    --------
    >>> import fwsr.dask
    >>> fwsr.dask.Exchange(20).kernel
    'auto'
    """
