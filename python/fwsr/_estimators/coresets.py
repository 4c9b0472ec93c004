"""Estimators of coresets: few points, each with what it counts for."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._base import KernelSelector
from .._documentation import documented
from ._random_state import RandomState
from ._weighted import Weighted


class _Important(KernelSelector):
    """Estimators whose exemplars count for something."""

    @property
    def importance_(self) -> np.ndarray | None:
        """What each exemplar counts for; None where ``refine`` exchanged them."""
        return self._fitted("selection_", "importance_").importance


@documented
@dataclass(eq=False, repr=False)
class Coreset(Weighted, _Important):
    """A coreset for k-means: points drawn by sensitivity, with weights that keep every cost.

    ``importance_`` are the weights: give them to ``KMeans.fit`` as ``sample_weight``.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> model = fwsr.Coreset(100, clusters=5, random_state=0).fit(X)
    >>> model.exemplars_.shape, model.importance_.shape
    ((100, 3), (100,))
    """

    _: dataclasses.KW_ONLY
    variant: str = "sensitivity"
    clusters: int = 0
    random_state: RandomState = None

    method: ClassVar[str] = "coreset"


@documented
@dataclass(eq=False, repr=False)
class FWCoreset(_Important):
    """Frank-Wolfe coresets: a convex hull that all points are near, or the ball that holds them.

    ``importance_`` says what each exemplar counts for in the points of the hull that are nearest to
    all points, or in the centre of the ball.

    Examples
    --------
    >>> import numpy as np, fwsr
    >>> X = np.random.default_rng(0).normal(size=(100, 30))
    >>> model = fwsr.FWCoreset(4).fit(X)
    >>> facts = model.selection_.facts
    >>> facts["radius_bound"] <= facts["radius"]
    True
    """

    _: dataclasses.KW_ONLY
    problem: str = "hull"
    tolerance: float = 1e-6

    method: ClassVar[str] = "fw-coreset"
