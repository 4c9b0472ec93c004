"""Estimators of the Frank-Wolfe solver: the method of the paper."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from .._base import KernelSelector
from .._documentation import documented

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(eq=False, repr=False)
class Conditional(KernelSelector):
    """Estimators that choose under conditions."""

    _: dataclasses.KW_ONLY
    budget: float | None = None
    until_error: float | None = None
    time_limit: float | None = None
    at_least: int | Mapping[Any, int] | None = None
    at_most: int | Mapping[Any, int] | None = None
    device: str | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, candidates: Any = None,
            exclude: Any = None, include: Any = None, cost: Any = None,
            groups: Any = None, **others: Any) -> Self:
        """Choose exemplars.

        Parameters
        ----------
        X : array-like, sparse matrix, table, :class:`fwsr.Data` or path
            The points, one a row; a square matrix where the kernel is ``"precomputed"``. Never
            changed; float32 and float64 rows and CSR matrices are used in place.
        y : array-like, optional
            Labels; needed for ``per_class``, else not looked at.
        sample_weight : array-like, optional
            What each point counts where it is represented, 0 or more: 2 is the same as two points.
            Whom to choose is not asked of it.
        candidates, exclude : array-like, optional
            Choose only among these points, or never these; indices, a mask or ids. All points are
            represented.
        include : array-like, optional
            Points that are exemplars already. They come first, are marked in
            ``selection_.included``, and ``n_exemplars`` counts the new ones.
        cost : array-like, optional
            What each point costs as an exemplar, for ``budget``.
        groups : array-like, optional
            The group of each point, for ``at_least`` and ``at_most``.

        Returns
        -------
        self
        """
        for name in others:
            refused = ("another set has no place in an estimator, whose labels_ and codes are "
                       f"those of X; use fwsr.select(X, k, {name}=...)"
                       if name in ("represent", "include_points") else
                       "it has sample_weight, candidates, exclude, include, cost and groups")
            raise TypeError(f"{type(self).__name__}.fit has no {name}: {refused}")
        return self._fit(X, y, {
            "sample_weight": sample_weight, "candidates": candidates, "exclude": exclude,
            "include": include, "cost": cost, "groups": groups})


@documented
@dataclass(eq=False, repr=False)
class FWSR(Conditional):
    """Exemplars by the greedy Frank-Wolfe algorithm: the method of the paper.

    Every step takes the point that helps most to represent all others. With the same ``alpha`` or
    ``beta`` the answer for fewer exemplars is the beginning of the answer for more; by default the
    radius grows with their number. With a kernel other than linear this is K-FWSR.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> import fwsr
    >>> X, y = load_digits(return_X_y=True)
    >>> model = fwsr.FWSR(20, alpha=5).fit(X)
    >>> model.exemplar_indices_.shape, model.status_
    ((20,), 'exemplars_reached')
    >>> model.transform(X).shape
    (1797, 20)
    >>> per_class = fwsr.FWSR(2, per_class=True).fit(X, y)
    >>> y[per_class.exemplar_indices_].tolist()
    [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9]
    """

    _: dataclasses.KW_ONLY
    alpha: float | str | None = "auto"
    beta: float | None = None
    eta: float = 0.0
    eta_relative: bool = False
    q: float | str = 2
    nonneg: bool = False
    rank: int = 0
    when_converged: str = "grow"
    delta: float = 1e-8
    delta_absolute: bool = False
    max_iterations: int | None = None
    lambda_: float | None = None
    rho: float | None = None
    certificate: str = "full"
    precise: bool = False

    method: ClassVar[str] = "fwsr"


@documented
@dataclass(eq=False, repr=False)
class Exchange(Conditional):
    """What suits people who give only the number of exemplars: the default of :func:`fwsr.select`.

    Frank-Wolfe selection, with the rbf kernel for dense points and the linear one for sparse ones,
    then exchanges of one exemplar for one other point until none represents the points better;
    with dense points each exemplar then moves to the middle of the points that it stands for.
    With many points a factor takes the place of the kernel.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> import fwsr
    >>> X, y = load_digits(return_X_y=True)
    >>> model = fwsr.Exchange(20).fit(X)
    >>> model.selection_.refinement.local_optimum
    True
    >>> bool((y[model.exemplar_indices_][model.predict(X)] == y).mean() > 0.7)
    True
    """

    _: dataclasses.KW_ONLY
    kernel: str | Callable[..., Any] = "auto"
    refine: str = "auto"
    rank: int = 0
    lambda_: float | None = None
    rho: float | None = None
    certificate: str = "full"

    method: ClassVar[str] = "exchange"


@documented
@dataclass(eq=False, repr=False)
class KFWSR(FWSR):
    """FWSR in the space of a kernel, rbf unless another is named.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> fwsr.KFWSR(5).fit(X).exemplar_indices_.shape
    (5,)
    """

    _: dataclasses.KW_ONLY
    kernel: str | Callable[..., Any] = "rbf"

    method: ClassVar[str] = "k-fwsr"
