"""Exemplars of data that lives on the workers of a Dask cluster.

>>> import fwsr.dask
>>> fwsr.dask.FWSR(20).n_exemplars
20

Functions and estimators are those of :mod:`fwsr`, over arrays and tables of Dask; docs/machines.md
tells how they work, and what a lost worker costs.
"""

from __future__ import annotations

try:
    import dask as _dask  # noqa: F401
    import distributed as _distributed  # noqa: F401
except ImportError as e:
    raise ImportError("fwsr.dask needs Dask, which is not here; pip install 'fwsr[dask]'") from e

from ._estimators import FWSR, KFWSR, Exchange
from ._leader import LostPoints
from ._select import Selection, select, sweep

__all__ = ["Exchange", "FWSR", "KFWSR", "LostPoints", "Selection", "select", "sweep"]
