"""All points in a plane, and the exemplars among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import _containers
from .._pictures import (
    DARK,
    LIGHT,
    axes_in,
    class_style,
    classes_in_order,
    name_classes,
    plane_of,
    require_rows,
    selection_in,
    tidy,
    words_of,
    write_note,
)


def map2d(
    X: Any,
    chosen: Any,
    y: Any = None,
    *,
    max_points: int = 20000,
    ax: Axes | None = None,
) -> Figure:
    """All points in the plane that shows most of them (PCA), and the exemplars among them.

    The area of an exemplar grows with the number of points it stands for.

    Parameters
    ----------
    X : array, sparse matrix, table, :class:`fwsr.Data` or path
        The points the exemplars were chosen from; for a precomputed kernel the points and not the
        matrix.
    chosen : Selection or fitted estimator
    y : sequence, optional
        A label for every point: a colour and its name, at the median of its points where there is
        room for all names, else in a key beside the map.
    max_points : int
        Of more than these, evenly spaced ones are used for the plane and shown; fewer when they
        have very many features. The picture says so.
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> import fwsr
    >>> from fwsr import plot
    >>> digits = fwsr.read("digits")
    >>> figure = plot.map2d(digits, fwsr.select(digits, 20), y=digits.labels)
    """
    selection = selection_in(chosen)
    data = _containers.as_data(X)
    n, d = data.shape
    require_rows(selection, n)
    if max_points < 2:
        raise ValueError(f"max_points must be at least 2, got {max_points}")
    words = words_of(y, n)
    per_row = d if data.values is None or not sp.issparse(data.values) else max(
        1, data.values.nnz // max(1, n))
    shown = np.unique(np.linspace(0, n - 1, min(n, max_points, max(1000, 50_000_000 // per_row)))
                      .round().astype(np.int64))
    position, marks, shares = plane_of(data.rows(shown), data.rows(selection.exemplars))
    own, (figure, ax) = ax is None, axes_in(ax, (5.2, 4.4))
    size = float(np.clip(8000 / len(shown), 1.5, 10))
    weights = np.nan_to_num(selection.weights)
    areas = 22 + 170 * weights / max(float(weights.max()), 1e-300)
    named = words is not None
    names, places = classes_in_order(words if words is not None else [""] * n)
    middles = np.full((len(names), 2), np.nan)
    for c in range(len(names)):
        members = position[places[shown] == c]
        of_class = np.flatnonzero(places[selection.exemplars] == c)
        of_class = of_class[np.argsort(-areas[of_class], kind="stable")]  # small ones on top
        colour, marker = class_style(c)
        ax.scatter(members[:, 0], members[:, 1], s=size, color=colour if named else LIGHT,
                   marker=marker, alpha=0.5 if named else 1, linewidths=0, rasterized=True)
        ax.scatter(marks[of_class, 0], marks[of_class, 1], s=areas[of_class], color=colour,
                   marker=marker, edgecolors=DARK if named else "white", linewidths=0.8, alpha=0.9,
                   zorder=3)
        if len(members):
            middles[c] = np.median(members, axis=0)
    if named:
        name_classes(ax, names, middles, widen=own)
    tidy(ax, *(f"component {i + 1}, {share:.0%} of the variance"
               for i, share in enumerate(shares)))
    ax.set_xticks([])
    ax.set_yticks([])
    some = "" if len(shown) == n else f"; {len(shown)} of these shown"
    if own or some:
        write_note(ax, f"{len(selection)} exemplars of {n} points{some}; the larger, the more "
                       "points it stands for")
    return figure
