"""One estimator for each method, a file for each family: dataclasses whose fields are settings."""

from __future__ import annotations

from .._base import ExemplarSelector
from .baseline import RandomExemplars
from .clustering import FacilityLocation, Herding, KCenter, KMeansExemplars, KMedoids, KMedoidsBatch
from .column_subsets import IPM, KDPP, OMP, RRQR, GreedyCSSP, Leverage, StrongRRQR, TwoStage
from .coresets import Coreset, FWCoreset
from .frank_wolfe import FWSR, KFWSR, Exchange
from .sparse_codes import DS3, DSMRS, SMRS, KernelSMRS
from .subspaces import KSVD, SSC, SSCOMP

__all__ = [
    "Coreset",
    "DS3",
    "DSMRS",
    "ESTIMATORS",
    "Exchange",
    "FWCoreset",
    "FWSR",
    "FacilityLocation",
    "GreedyCSSP",
    "Herding",
    "IPM",
    "KCenter",
    "KDPP",
    "KFWSR",
    "KMeansExemplars",
    "KMedoids",
    "KMedoidsBatch",
    "KSVD",
    "KernelSMRS",
    "Leverage",
    "OMP",
    "RRQR",
    "RandomExemplars",
    "SMRS",
    "SSC",
    "SSCOMP",
    "StrongRRQR",
    "TwoStage",
]

ESTIMATORS: tuple[type[ExemplarSelector], ...] = (
    Exchange, FWSR, KFWSR, RandomExemplars, RRQR, StrongRRQR, OMP, Leverage, TwoStage, GreedyCSSP,
    KDPP, IPM, KMedoids, KMedoidsBatch, KMeansExemplars, FacilityLocation, Herding, SMRS,
    KernelSMRS, DS3, DSMRS, KCenter, Coreset, FWCoreset, SSC, SSCOMP, KSVD,
)
