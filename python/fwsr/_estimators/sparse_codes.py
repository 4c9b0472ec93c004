"""Estimators by convex programs: points that represent all others, with few used rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from .._base import ExemplarSelector, KernelSelector
from .._documentation import documented


@documented
@dataclass(eq=False, repr=False)
class SMRS(ExemplarSelector):
    """Sparse modelling of representatives: points that represent each other, with few used rows.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> len(fwsr.SMRS(4).fit(X).exemplar_indices_)
    4
    """

    _: dataclasses.KW_ONLY
    alpha: float = 20.0
    affine: bool = True
    tolerance: float = 1e-4
    max_iterations: int = 10000
    remove_duplicates: bool = False
    closeness: float = 0.05

    method: ClassVar[str] = "smrs"


@documented
@dataclass(eq=False, repr=False)
class KernelSMRS(KernelSelector):
    """SMRS in the space of a kernel, rbf unless another is named.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> len(fwsr.KernelSMRS(4).fit(X).exemplar_indices_)
    4
    """

    _: dataclasses.KW_ONLY
    kernel: str | Callable[..., Any] = "rbf"
    alpha: float = 20.0
    affine: bool = True
    tolerance: float = 1e-4
    max_iterations: int = 10000
    remove_duplicates: bool = False
    closeness: float = 0.05

    method: ClassVar[str] = "kernel-smrs"


@documented
@dataclass(eq=False, repr=False)
class DS3(KernelSelector):
    """Dissimilarity-based sparse subset selection, as a convex program.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> len(fwsr.DS3(4).fit(X).exemplar_indices_)
    4
    """

    _: dataclasses.KW_ONLY
    alpha: float = 0.0
    p: str = "inf"
    tolerance: float = 1e-3
    max_iterations: int = 10000
    metric: str = "euclidean"

    method: ClassVar[str] = "ds3"


@documented
@dataclass(eq=False, repr=False)
class DSMRS(KernelSelector):
    """Decremental SMRS: again and again on the points of the largest rows, until k are left.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> len(fwsr.DSMRS(4).fit(X).exemplar_indices_)
    4
    """

    _: dataclasses.KW_ONLY
    alpha: float = 20.0
    affine: bool = True
    tolerance: float = 1e-4
    max_iterations: int = 10000
    keep: float = 0.5

    method: ClassVar[str] = "dsmrs"
