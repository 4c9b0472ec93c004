"""Exemplar selection: the k points that represent a data set.

>>> import numpy as np, fwsr
>>> X = np.random.default_rng(0).normal(size=(1000, 20)).astype(np.float32)
>>> chosen = fwsr.select(X, 10)
>>> len(chosen)
10

Estimators follow scikit-learn (:class:`Exchange`, :class:`FWSR`, ...); functions are for people who
want none (:func:`select`, :func:`plan`, :func:`sweep`, :func:`path`, :func:`compare`).
"""

from . import _limits, _with_cards

_limits.check_address_space()
_with_cards.take_core()

from . import _core
from ._base import ExemplarSelector
from ._comparison import ComparedMethod, Comparison
from ._data import Data
from ._estimators import (
    DS3,
    DSMRS,
    ESTIMATORS,
    FWSR,
    IPM,
    KDPP,
    KFWSR,
    KSVD,
    OMP,
    RRQR,
    SMRS,
    SSC,
    SSCOMP,
    Coreset,
    Exchange,
    FacilityLocation,
    FWCoreset,
    GreedyCSSP,
    Herding,
    KCenter,
    KernelSMRS,
    KMeansExemplars,
    KMedoids,
    KMedoidsBatch,
    Leverage,
    RandomExemplars,
    StrongRRQR,
    TwoStage,
)
from ._functions import compare, methods, path, plan, select, sweep
from ._progress import Progress
from ._read import read
from ._results import Certificate, Plan, Refinement, Selection
from ._run import Interrupted
from ._several import Path, Setting, Sweep

__version__: str = _core.version

__all__ = [
    "DS3",
    "DSMRS",
    "ESTIMATORS",
    "FWSR",
    "IPM",
    "KDPP",
    "KFWSR",
    "KSVD",
    "OMP",
    "RRQR",
    "SMRS",
    "SSC",
    "SSCOMP",
    "Certificate",
    "ComparedMethod",
    "Comparison",
    "Coreset",
    "Data",
    "Exchange",
    "ExemplarSelector",
    "FWCoreset",
    "FacilityLocation",
    "GreedyCSSP",
    "Herding",
    "Interrupted",
    "KCenter",
    "KMeansExemplars",
    "KMedoids",
    "KMedoidsBatch",
    "KernelSMRS",
    "Leverage",
    "Path",
    "Plan",
    "Progress",
    "RandomExemplars",
    "Refinement",
    "Selection",
    "Setting",
    "StrongRRQR",
    "Sweep",
    "TwoStage",
    "compare",
    "methods",
    "path",
    "plan",
    "read",
    "select",
    "sweep",
]
