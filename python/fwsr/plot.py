"""Pictures of exemplars, with matplotlib: ``from fwsr import plot``.

Every function draws into a figure of its own, or into the ``ax`` it is given, and returns the
figure. Its own figures are unknown to pyplot: nothing stays open, no setting changes. Notebooks
show them, ``figure.savefig("picture.png")`` writes them, and ``figure.axes[0]`` is where to change
them. For a window, draw into an axes of pyplot: ``ax=plt.subplots()[1]``, then ``plt.show()``.
Text that comes from the data is shown as it is, dollar signs included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _core, _data
from ._results import Comparison, Path

try:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    from ._pictures import (
        ACCENT,
        ACROSS,
        DARK,
        GREY,
        LIGHT,
        LITERAL,
        PALETTE,
        STYLES,
        amount,
        axes_in,
        class_style,
        classes_in_order,
        images_of,
        label_ends,
        lines_of,
        mark_growth,
        measured,
        name_classes,
        panels_in,
        plain_log,
        plane_of,
        require_rows,
        selection_in,
        short,
        tidy,
        words_of,
        write_note,
    )
except ImportError as e:
    raise ImportError("fwsr.plot draws with matplotlib, which is not here; "
                      "pip install 'fwsr[plot]'") from e

__all__ = ["comparison", "convergence", "error_path", "gallery", "map2d"]


def gallery(
    X: Any,
    chosen: Any,
    shape: tuple[int, ...] | None = None,
    labels: Any = None,
    columns: int = 10,
    *,
    cmap: str = "gray",
    ax: Axes | None = None,
) -> Figure:
    """The exemplars as images, in the order of choosing, and how many points each stands for.

    Parameters
    ----------
    X : array, table, :class:`fwsr.Data` or path
        The points the exemplars were chosen from: rows of pixels, or images of shape
        (n, height, width) or (n, height, width, 3).
    chosen : Selection or fitted estimator
        Per class: a new line for each class, with its name.
    shape : tuple, optional
        (height, width), or (height, width, 3) and 4 for colours. Not needed for square images.
    labels : sequence, optional
        A word for every point of ``X``, such as ``y``; shown under the exemplars, above the number
        of points each stands for.
    columns : int
        Images in a line, at most.
    cmap : str
        Colours of images without any: ``"gray"``, or ``"gray_r"`` for ink on paper. The darkest and
        the brightest value of all images shown are its ends.
    ax : Axes, optional
        Where to draw.

    Examples
    --------
    >>> import fwsr
    >>> from fwsr import plot
    >>> digits = fwsr.read("digits")
    >>> chosen = fwsr.select(digits, 20)
    >>> figure = plot.gallery(digits, chosen, labels=digits.labels, cmap="gray_r")
    >>> figure.savefig("digits.png")  # doctest: +SKIP
    """
    selection = selection_in(chosen)
    if columns < 1:
        raise ValueError(f"columns must be at least 1, got {columns}")
    images, n = images_of(X, selection, shape)
    words = words_of(labels, n)
    lines = lines_of(selection, columns)
    height, width = images.shape[1:3]
    across = max(len(places) for _, places in lines)
    side = max(height, width)
    step_x = max(1.15 * width, 1.1 * side)  # captions of narrow images need room
    step_y = 1.15 * height + (0.34 if words is None else 0.54) * side
    inches = 0.62 / side
    beside = 0.7 if selection.classes else 0.2  # room for names of classes
    own, (figure, ax) = ax is None, axes_in(ax, (
        max(3.6, inches * step_x * (across + beside)), inches * step_y * len(lines) + 0.35))
    low, high = float(images.min()), float(images.max())
    for line, (name, places) in enumerate(lines):
        top = line * step_y
        if name:
            ax.text(-0.25 * width, top + height / 2, short(name, 16), ha="right", va="center",
                    fontsize=9, color=DARK, **LITERAL)
        for column, place in enumerate(places):
            left = column * step_x
            ax.imshow(images[place], cmap=cmap, vmin=low, vmax=high, interpolation="nearest",
                      extent=(left, left + width, top + height, top))
            ax.add_patch(Rectangle((left, top), width, height, fill=False, edgecolor=LIGHT,
                                   linewidth=0.5))
            caption = amount(selection.weights[place])
            if words is not None:
                caption = f"{short(words[int(selection.exemplars[place])], 10)}\n{caption}"
            ax.text(left + width / 2, top + height * 1.04, caption, ha="center", va="top",
                    fontsize=7, color=GREY, **LITERAL)
    ax.set_xlim(-0.1 * width, across * step_x)
    ax.set_ylim(len(lines) * step_y, -0.1 * height)
    ax.set_axis_off()
    ax.set_anchor("NW")
    if own:
        under = "how many points" if words is None else "its label, and how many points"
        write_note(ax, f"{len(selection)} of {n} points; under each, {under} it stands for")
    return figure


def convergence(chosen: Any, *, ax: Axes | None = None) -> Figure:
    """How objective and gap fell, step by step, as fractions of the objective at the start.

    The least objective possible within the radius is between the objective and the objective less
    the gap. Where the radius was doubled, so that the run could go on, the gap is that of the new
    radius. Per class there is a pair of lines for every class.

    Parameters
    ----------
    chosen : Selection or fitted estimator
        Of FWSR or K-FWSR; other methods solve other problems and have no such steps.
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
        raise ValueError("there are no steps to show: only FWSR and K-FWSR have an objective and a "
                         "gap after each step")
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
    >>> figure = plot.error_path(fwsr.path(X, 30), random=drawn)
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
    data = _data.as_data(X)
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
    taken, known = table.measures, {name: (title, less) for name, title, less in _core.measures()}
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
