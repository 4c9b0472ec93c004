"""Whether points are those of Dask, and whether there is a cluster to choose from them on."""

from __future__ import annotations

import sys
from typing import Any

from ._numbers import is_from


def is_collection(X: Any) -> bool:
    """Whether `X` is an array or a table of Dask."""
    return is_from(X, "dask") or is_from(X, "dask_expr")


def has_cluster(X: Any) -> bool:
    """Whether there is a client for a collection of Dask."""
    if not is_collection(X) or "distributed" not in sys.modules:
        return False
    from distributed import get_client

    try:
        get_client()
    except ValueError:
        return False
    return True
