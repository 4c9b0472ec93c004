"""What is asked of every point: computed by Dask, chunk by chunk, when it is wanted."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _containers
from .._encoder import Encoder


def represented_by(X: Any, encoder: Encoder) -> Any:
    """For each point the place of its exemplar: one number a row, with the chunks of `X`."""
    if not hasattr(X, "map_partitions"):
        return X.map_blocks(_represented_by, encoder, drop_axis=1, dtype=np.int64,
                            meta=np.empty(0, dtype=np.int64))
    import pandas as pd

    return X.map_partitions(_table_represented_by, encoder, meta=pd.Series(dtype=np.int64))


def codes(X: Any, encoder: Encoder) -> Any:
    """The codes of each point over the exemplars."""
    k = len(encoder.gram)
    if not hasattr(X, "map_partitions"):
        return X.map_blocks(_codes, encoder, chunks=(X.chunks[0], (k,)), dtype=np.float64,
                            meta=np.empty((0, 0)))
    import pandas as pd

    meta = pd.DataFrame(np.empty((0, k)))
    return X.map_partitions(_table_codes, encoder, meta=meta)


def _represented_by(chunk: Any, encoder: Encoder) -> np.ndarray:
    if not chunk.shape[0]:
        return np.empty(0, dtype=np.int64)
    return encoder.represented_by(_containers.as_data(chunk))


def _codes(chunk: Any, encoder: Encoder) -> np.ndarray:
    if not chunk.shape[0]:
        return np.empty((0, len(encoder.gram)))
    return encoder.codes(_containers.as_data(chunk))


def _table_represented_by(part: Any, encoder: Encoder) -> Any:
    import pandas as pd

    return pd.Series(_represented_by(part, encoder), index=part.index)


def _table_codes(part: Any, encoder: Encoder) -> Any:
    import pandas as pd

    return pd.DataFrame(_codes(part, encoder), index=part.index)
