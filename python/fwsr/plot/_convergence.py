"""How objective and gap fell."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .._pictures import (
    ACCENT,
    GREY,
    axes_in,
    label_ends,
    mark_growth,
    plain_log,
    selection_in,
    tidy,
    write_note,
)


def convergence(chosen: Any, *, ax: Axes | None = None) -> Figure:
    """How objective and gap fell, step by step, as fractions of the objective at the start.

    The least objective possible within the radius is between the objective and the objective less
    the gap. Where the radius was doubled, so that the run could go on, the gap is that of the new
    radius. Per class there is a pair of lines for every class.

    Parameters
    ----------
    chosen : Selection or fitted estimator
        Of FWSR, K-FWSR or exchange, which begins with their steps; other methods solve other
        problems and have none.
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> import fwsr
    >>> from fwsr import plot
    >>> model = fwsr.FWSR(50, alpha=20).fit(fwsr.read("digits").values)
    >>> figure = plot.convergence(model)
    """
    selection = selection_in(chosen)
    parts = [s for s in selection.classes.values() or [selection]
             if len(s.trace.get("f", ())) and s.f_at_zero > 0]
    if not parts:
        raise ValueError("there are no steps to show: only FWSR, K-FWSR and exchange have an "
                         "objective and a gap after each step")
    figure, ax = axes_in(ax, (5.2, 3.2))
    faint = 0.45 if len(parts) > 1 else 1.0
    ends: dict[str, tuple[float, float]] = {}
    for s in parts:
        steps = np.arange(1, len(s.trace["f"]) + 1)
        for name, colour, style in (("f", ACCENT, "-"), ("gap", GREY, "--")):
            share = np.asarray(s.trace[name]) / s.f_at_zero
            share = np.where(share > 0, share, np.nan)
            ax.plot(steps, share, color=colour, linestyle=style, alpha=faint,
                    linewidth=1.6 if len(parts) == 1 else 1.0)
            shown = np.flatnonzero(np.isfinite(share))
            if len(shown) and steps[shown[-1]] >= ends.get(name, (0.0, 0.0))[0]:
                ends[name] = float(steps[shown[-1]]), float(share[shown[-1]])
    ax.set_yscale("log")
    plain_log(ax)
    tidy(ax, "step", "fraction of the objective at the start")
    if len(parts) == 1:
        mark_growth(ax, np.asarray(parts[0].trace["beta"]))
    titles = {"f": ("objective", ACCENT), "gap": ("gap", GREY)}
    label_ends(ax, [(*ends[name], *titles[name]) for name in ends])
    if len(parts) > 1:
        write_note(ax, f"{len(parts)} classes, a pair of lines each")
    return figure
