"""Estimators by sparse codes of every point: over other points, or over atoms that are learnt."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._base import ExemplarSelector
from .._documentation import documented
from ._random_state import RandomState


class _Clustered(ExemplarSelector):
    """Estimators that find clusters where they are asked for."""

    @property
    def clusters_(self) -> np.ndarray | None:
        """For each point the number of its cluster; None where ``clusters`` is 0."""
        return self._fitted("selection_", "clusters_").clusters


@documented
@dataclass(eq=False, repr=False)
class SSC(_Clustered):
    """Sparse subspace clustering: every point by few others, as a convex program.

    The exemplars are the points that others use most, or with ``clusters`` those of each cluster;
    ``clusters_`` is then the cluster of every point.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(30, 3)) @ rng.normal(size=(3, 20)) for _ in range(3)])
    >>> model = fwsr.SSC(6, clusters=3).fit(X)
    >>> [len(set(model.clusters_[30 * c:30 * c + 30])) for c in range(3)]
    [1, 1, 1]
    """

    _: dataclasses.KW_ONLY
    alpha: float = 20.0
    affine: bool = False
    tolerance: float = 1e-4
    max_iterations: int = 100
    clusters: int = 0

    method: ClassVar[str] = "ssc"


@documented
@dataclass(eq=False, repr=False)
class SSCOMP(_Clustered):
    """Sparse subspace clustering by orthogonal matching pursuit: greedily, for many points.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(30, 3)) @ rng.normal(size=(3, 20)) for _ in range(3)])
    >>> model = fwsr.SSCOMP(6, clusters=3).fit(X)
    >>> [len(set(model.clusters_[30 * c:30 * c + 30])) for c in range(3)]
    [1, 1, 1]
    """

    _: dataclasses.KW_ONLY
    sparsity: int = 5
    tolerance: float = 1e-3
    clusters: int = 0

    method: ClassVar[str] = "ssc-omp"


@documented
@dataclass(eq=False, repr=False)
class KSVD(ExemplarSelector):
    """K-SVD: the point nearest to each atom of a dictionary that gives all points sparse codes.

    The atoms and the codes over them are those of :func:`fwsr.select` with ``codes=True``.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> len(fwsr.KSVD(6, sparsity=2, random_state=0).fit(X).exemplar_indices_)
    6
    >>> chosen = fwsr.select(X, 6, method="ksvd", sparsity=2, codes=True)
    >>> chosen.codes.shape, chosen.atoms.shape
    ((60, 6), (6, 8))
    """

    _: dataclasses.KW_ONLY
    sparsity: int = 5
    max_iterations: int = 50
    tolerance: float = 1e-3
    random_state: RandomState = None

    method: ClassVar[str] = "ksvd"
