"""Methods side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import _core
from .._comparison import Comparison
from .._pictures import ACCENT, ACROSS, DARK, GREY, LIGHT, LITERAL, measured, panels_in, short


def comparison(
    table: Comparison,
    measures: Sequence[str] | None = None,
    *,
    ax: Sequence[Axes] | Axes | None = None,
) -> Figure:
    """Methods side by side: a panel of bars for every measure.

    Bars are means over the repeats, with the standard deviation as a line; the best is coloured and
    its number bold. A method without an answer has its reason in place of bars.

    Parameters
    ----------
    table : Comparison
        From :func:`fwsr.compare`.
    measures : sequence of str, optional
        Which, in order; all that were taken when not given.
    ax : Axes or sequence of Axes, optional
        Where to draw, one for each measure.

    Examples
    --------
    >>> import fwsr
    >>> from fwsr import plot
    >>> table = fwsr.compare(fwsr.read("digits").values, 10, ["fwsr", "random"], repeats=5)
    >>> figure = plot.comparison(table, ["reconstruction_error", "medoid_cost"])
    """
    if not isinstance(table, Comparison):
        raise TypeError(f"comparison shows what fwsr.compare returns, got {type(table).__name__}")
    taken = table.measures
    known = {name: (title, less) for name, title, less, _ in _core.measures()}
    measures = taken if measures is None else list(measures)
    for name in measures:
        if name not in known:
            raise ValueError(f"there is no measure '{name}'; there are {', '.join(known)}")
        if name not in taken:
            raise ValueError(f"'{name}' was not measured; there are {', '.join(taken) or 'none'}")
    if not measures:
        raise ValueError("no method has an answer; there is nothing to draw")
    figure, panels = panels_in(ax, len(measures), len(table))
    rows = np.arange(len(table))
    for i, (name, panel) in enumerate(zip(measures, panels)):
        means = np.array([m.mean(name) for m in table])
        spread = np.array([m.deviation(name) for m in table])
        best = np.nanmin(means) if known[name][1] else np.nanmax(means)
        panel.barh(rows, np.nan_to_num(means), height=0.62,
                   color=[ACCENT if v == best else LIGHT for v in means])
        varied = spread > 0
        panel.errorbar(means[varied], rows[varied], xerr=spread[varied], fmt="none", ecolor=DARK,
                       elinewidth=1)
        for row, (value, deviation) in enumerate(zip(means, spread)):
            if np.isfinite(value):
                panel.annotate(measured(name, value), (value + deviation, row), xytext=(3, 0),
                               textcoords="offset points", va="center", fontsize=7,
                               color=DARK, fontweight="bold" if value == best else "normal")
        highest = float(np.nanmax(means + spread))
        panel.set_xlim(0, 1.45 * highest if highest > 0 else 1)
        panel.set_ylim(len(table) - 0.4, -0.6)
        panel.set_xticks([])
        panel.tick_params(length=0)
        panel.patch.set_visible(False)
        for side in ("top", "right", "bottom"):
            panel.spines[side].set_visible(False)
        panel.spines["left"].set_color(GREY)
        panel.set_title(f"{known[name][0]}\n", loc="left", fontsize=9, color=DARK)
        panel.annotate("less is better" if known[name][1] else "more is better", (0, 1),
                       xycoords="axes fraction", xytext=(0, 6), textcoords="offset points",
                       fontsize=7, color=GREY)
        first = i % ACROSS == 0 or ax is not None
        panel.set_yticks(rows, [short(m.name, 30) for m in table] if first else [], fontsize=8,
                         color=DARK, **LITERAL)
        if first:
            for row, m in enumerate(table):
                if not m.trials:
                    most = 28 * (1 if ax is not None else min(ACROSS, len(measures)))
                    note = panel.text(0.02 * panel.get_xlim()[1], row, short(m.reason, most),
                                      va="center", fontsize=7, color=GREY, **LITERAL,
                                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
                    note.set_in_layout(False)
                    panel.set_zorder(1)  # the note runs across the panels to the right
    return figure
