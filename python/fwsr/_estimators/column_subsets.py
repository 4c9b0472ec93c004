"""Estimators of column subset selection: points whose span is near all others."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from .._base import ExemplarSelector, KernelSelector
from .._documentation import documented
from ._random_state import RandomState
from ._weighted import Weighted


@documented
@dataclass(eq=False, repr=False)
class RRQR(KernelSelector):
    """Column-pivoted QR: the point farthest from the span of those before, time and again.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.diag([3.0, 1.0, 2.0])
    >>> fwsr.RRQR(2).fit(X).exemplar_indices_.tolist()
    [0, 2]
    """

    method: ClassVar[str] = "rrqr"


@documented
@dataclass(eq=False, repr=False)
class StrongRRQR(KernelSelector):
    """Strong rank-revealing QR: pivoted QR, then swaps that enlarge the volume of the exemplars.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> len(fwsr.StrongRRQR(5).fit(X).exemplar_indices_)
    5
    """

    _: dataclasses.KW_ONLY
    f: float = 2.0

    method: ClassVar[str] = "strong-rrqr"


@documented
@dataclass(eq=False, repr=False)
class OMP(Weighted, KernelSelector):
    """Simultaneous orthogonal matching pursuit: the point most correlated with all residuals.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> len(fwsr.OMP(5).fit(X).exemplar_indices_)
    5
    """

    _: dataclasses.KW_ONLY
    normalize: bool = False
    mu: float = 0.0
    rank: int = 0

    method: ClassVar[str] = "omp"


@documented
@dataclass(eq=False, repr=False)
class Leverage(KernelSelector):
    """Leverage scores: the points that the leading singular vectors lean on most.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> len(fwsr.Leverage(5).fit(X).exemplar_indices_)
    5
    """

    _: dataclasses.KW_ONLY
    rank: int = 0
    sampling: str = "top"
    random_state: RandomState = None

    method: ClassVar[str] = "leverage"


@documented
@dataclass(eq=False, repr=False)
class TwoStage(KernelSelector):
    """Two-stage column subset selection: draws by leverage scores, then strong QR.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> len(fwsr.TwoStage(5, random_state=0).fit(X).exemplar_indices_)
    5
    """

    _: dataclasses.KW_ONLY
    oversampling: float = 4.0
    restarts: int = 10
    random_state: RandomState = None

    method: ClassVar[str] = "two-stage"


@documented
@dataclass(eq=False, repr=False)
class GreedyCSSP(Weighted, KernelSelector):
    """Greedy column subset selection: the point that lowers the error of projection most.

    With a ridge ``mu`` the point that lowers ``min_X ||A - A_T X||^2 + mu ||X||^2`` most, which is
    what ``refine="exchange"`` makes less afterwards.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> len(fwsr.GreedyCSSP(5).fit(X).exemplar_indices_)
    5
    >>> model = fwsr.GreedyCSSP(5, mu=0.1, kernel="rbf", rank=40, refine="exchange").fit(X)
    >>> model.selection_.kernel_rank, model.selection_.refinement.local_optimum
    (40, True)
    """

    _: dataclasses.KW_ONLY
    mu: float = 0.0
    rank: int = 0

    method: ClassVar[str] = "greedy-cssp"


@documented
@dataclass(eq=False, repr=False)
class KDPP(KernelSelector):
    """The greedy maximum of a k-DPP: points as different as can be, in the space of a kernel.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> len(fwsr.KDPP(5).fit(X).exemplar_indices_)
    5
    """

    _: dataclasses.KW_ONLY
    kernel: str | Callable[..., Any] = "rbf"

    method: ClassVar[str] = "kdpp"


@documented
@dataclass(eq=False, repr=False)
class IPM(ExemplarSelector):
    """Iterative projection and matching: the point best aligned with what is left.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> len(fwsr.IPM(5).fit(X).exemplar_indices_)
    5
    """

    method: ClassVar[str] = "ipm"
