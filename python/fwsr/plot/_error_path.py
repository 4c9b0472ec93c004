"""Reconstruction error against the number of exemplars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .._pictures import GREY, LIGHT, PALETTE, STYLES, axes_in, label_ends, short, tidy
from .._several import Path


def error_path(
    path: Path | Mapping[str, Path],
    *,
    random: Path | Sequence[Path] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Reconstruction error against the number of exemplars.

    Parameters
    ----------
    path : Path or dict
        From :func:`fwsr.path`; several by their names. Of one that was chosen per class, a line for
        each class.
    random : Path or sequence of Path, optional
        Of ``method="random"``, as a baseline: the mean, and a band from the least to the largest.
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> import fwsr
    >>> from fwsr import plot
    >>> X = fwsr.read("digits").values
    >>> drawn = [fwsr.path(X, 30, method="random", seed=s, center="point") for s in range(5)]
    >>> figure = plot.error_path(fwsr.path(X, 30, method="fwsr"), random=drawn)
    """
    paths = dict(path) if isinstance(path, Mapping) else getattr(path, "classes", {}) or {"": path}
    drawn = [random] if isinstance(random, Path) else list(random or [])
    for one in [*paths.values(), *drawn]:
        if not isinstance(one, Path):
            raise TypeError(f"error_path shows what fwsr.path returns, got {type(one).__name__}")
    if not paths:
        raise ValueError("there is no path to show: the dictionary is empty")
    figure, ax = axes_in(ax, (5.2, 3.2))
    ends = []
    if drawn:
        length = min(len(one.error) for one in drawn)
        errors = np.array([one.error[:length] for one in drawn])
        k, mean = np.arange(1, length + 1), errors.mean(axis=0)
        if len(drawn) > 1:
            ax.fill_between(k, errors.min(axis=0), errors.max(axis=0), color=LIGHT, alpha=0.5,
                            linewidth=0)
        ax.plot(k, mean, color=GREY, linewidth=1.2)
        name = "random" if len(drawn) == 1 else f"random, {len(drawn)} draws"
        ends.append((float(length), float(mean[-1]), name, GREY))
    for i, (name, one) in enumerate(paths.items()):
        colour, style = PALETTE[i % len(PALETTE)], STYLES[i // len(PALETTE) % len(STYLES)]
        k = np.arange(1, len(one.error) + 1)
        ax.plot(k, one.error, color=colour, linestyle=style, linewidth=1.6)
        if name:
            ends.append((float(k[-1]), float(one.error[-1]), short(name, 24), colour))
        elif drawn:
            ends.append((float(k[-1]), float(one.error[-1]), "chosen", colour))
    ax.set_ylim(bottom=0)
    tidy(ax, "number of exemplars", "reconstruction error")
    label_ends(ax, ends)
    return figure
