"""Estimators by distances: points that are near all others."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._base import KernelSelector
from .._documentation import documented
from ._random_state import RandomState
from ._weighted import Weighted


@dataclass(eq=False, repr=False)
class _Medoids(Weighted, KernelSelector):
    """What both kinds of k-medoids have."""

    _: dataclasses.KW_ONLY
    metric: str = "euclidean"
    init: str = "random"
    restarts: int = 1
    max_iterations: int = 100
    random_state: RandomState = None

    @property
    def medoid_indices_(self) -> np.ndarray:
        """The same as ``exemplar_indices_``."""
        return self._fitted("exemplar_indices_", "medoid_indices_")

    @property
    def cluster_centers_(self) -> Any:
        """The same as ``exemplars_``."""
        return self._fitted("exemplars_", "cluster_centers_")

    @property
    def inertia_(self) -> float:
        """The sum of the distances, in the metric, of the points from those of ``labels_``, each
        times its weight."""
        selection = self._fitted("selection_", "inertia_")
        # A class that gives all its points has no cost, and says nothing about it.
        parts = list(selection.classes.values()) or [selection]
        return float(sum(s.facts.get("cost", 0.0) for s in parts))


@documented
@dataclass(eq=False, repr=False)
class KMedoids(_Medoids):
    """k-medoids by FasterPAM: the least sum of distances from the nearest exemplar.

    ``algorithm="alternating"`` is the plain algorithm instead: points to their nearest medoid, then
    the best medoid of each cluster, in turns. Also has ``medoid_indices_``, ``cluster_centers_``
    and ``inertia_``, by which other packages call the exemplars and that sum.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = fwsr.KMedoids(4, random_state=0).fit(X)
    >>> int(model.weights_.sum())
    100
    """

    _: dataclasses.KW_ONLY
    algorithm: str = "fasterpam"

    method: ClassVar[str] = "kmedoids"


@documented
@dataclass(eq=False, repr=False)
class KMedoidsBatch(_Medoids):
    """k-medoids with the sum of distances estimated on a random batch, for many points.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> len(fwsr.KMedoidsBatch(4, random_state=0).fit(X).exemplar_indices_)
    4
    """

    _: dataclasses.KW_ONLY
    batch: int = 0

    method: ClassVar[str] = "kmedoids-batch"


@documented
@dataclass(eq=False, repr=False)
class KMeansExemplars(Weighted):
    """The point nearest to each centre of k-means.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> len(fwsr.KMeansExemplars(4, random_state=0).fit(X).exemplar_indices_)
    4
    """

    _: dataclasses.KW_ONLY
    restarts: int = 1
    max_iterations: int = 300
    tolerance: float = 1e-4
    random_state: RandomState = None

    method: ClassVar[str] = "kmeans"


@documented
@dataclass(eq=False, repr=False)
class FacilityLocation(KernelSelector):
    """Facility location: every point near an exemplar, by the greedy rule with a queue.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> len(fwsr.FacilityLocation(4).fit(X).exemplar_indices_)
    4
    """

    _: dataclasses.KW_ONLY
    metric: str = "squared"
    hold: int = 15000

    method: ClassVar[str] = "facility"


@documented
@dataclass(eq=False, repr=False)
class Herding(KernelSelector):
    """Kernel herding: the mean of the exemplars near the mean of all points, in a kernel's space.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> len(fwsr.Herding(4).fit(X).exemplar_indices_)
    4
    """

    _: dataclasses.KW_ONLY
    kernel: str | Callable[..., Any] = "rbf"
    rule: str = "herding"

    method: ClassVar[str] = "herding"


@documented
@dataclass(eq=False, repr=False)
class KCenter(KernelSelector):
    """Farthest-first traversal: the point farthest from all taken so far, time and again.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> len(fwsr.KCenter(4).fit(X).exemplar_indices_)
    4
    """

    _: dataclasses.KW_ONLY
    metric: str = "euclidean"
    first: str = "central"
    random_state: RandomState = None

    method: ClassVar[str] = "k-center"
