"""Estimators of the Frank-Wolfe solver: the method of the paper."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from .._base import KernelSelector
from .._documentation import documented


@documented
@dataclass(eq=False, repr=False)
class FWSR(KernelSelector):
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
