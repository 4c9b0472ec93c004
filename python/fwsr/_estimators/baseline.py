"""The estimator that draws at random."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from .._base import KernelSelector
from .._documentation import documented
from ._random_state import RandomState


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
    rank: int = 0
    random_state: RandomState = None

    method: ClassVar[str] = "random"
