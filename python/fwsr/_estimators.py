"""One estimator for each method: a dataclass whose fields are the method's settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ._base import ExemplarSelector, KernelSelector
from ._documentation import documented

RandomState = int | np.random.RandomState | np.random.Generator | None


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


@documented
@dataclass(eq=False, repr=False)
class RandomExemplars(KernelSelector):
    """Points drawn uniformly, without replacement: what every other method has to beat.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> len(fwsr.RandomExemplars(5, random_state=0).fit(X).exemplar_indices_)
    5
    """

    _: dataclasses.KW_ONLY
    random_state: RandomState = None

    method: ClassVar[str] = "random"


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
class OMP(KernelSelector):
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
class GreedyCSSP(KernelSelector):
    """Greedy column subset selection: the point that lowers the error of projection most.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> len(fwsr.GreedyCSSP(5).fit(X).exemplar_indices_)
    5
    """

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


@dataclass(eq=False, repr=False)
class _Medoids(KernelSelector):
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
        """The sum of the distances, in the metric, of the points from those of ``labels_``."""
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
class KMeansExemplars(ExemplarSelector):
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


ESTIMATORS: tuple[type[ExemplarSelector], ...] = (
    FWSR, KFWSR, RandomExemplars, RRQR, StrongRRQR, OMP, Leverage, TwoStage, GreedyCSSP, KDPP, IPM,
    KMedoids, KMedoidsBatch, KMeansExemplars, FacilityLocation, Herding, SMRS, KernelSMRS, DS3,
    DSMRS, KCenter,
)
