"""Pictures of exemplars, with matplotlib: ``from fwsr import plot``.

Every function draws into a figure of its own, or into the ``ax`` it is given, and returns the
figure. Its own figures are unknown to pyplot: nothing stays open, no setting changes. Notebooks
show them, ``figure.savefig("picture.png")`` writes them, and ``figure.axes[0]`` is where to change
them. For a window, draw into an axes of pyplot: ``ax=plt.subplots()[1]``, then ``plt.show()``.
Text that comes from the data is shown as it is, dollar signs included.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _core, _data
from ._results import Comparison, Path, Selection

try:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke
except ImportError as e:
    raise ImportError("fwsr.plot draws with matplotlib, which is not here; "
                      "pip install 'fwsr[plot]'") from e

__all__ = ["comparison", "convergence", "error_path", "gallery", "map2d"]

ACCENT = "#0072b2"
DARK, GREY, LIGHT = "#222222", "#777777", "#c9c9c9"
#: Okabe and Ito's colours, which people who see few colours can tell apart.
PALETTE = (ACCENT, "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999")
#: Where the colours begin again.
STYLES, MARKERS = ("-", "--", "-.", ":"), ("o", "^", "s", "D")
#: Text from the data: no mathematics between dollar signs, no TeX.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}


class Picture(Figure):
    """A figure that notebooks show without pyplot."""

    def _repr_png_(self) -> bytes:
        png = io.BytesIO()
        self.savefig(png, format="png")
        return png.getvalue()


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
        A word for every point of ``X``, such as ``y``; shown under the exemplars.
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
    selection = _selection(chosen)
    if columns < 1:
        raise ValueError(f"columns must be at least 1, got {columns}")
    images, n = _images(X, selection, shape)
    words = _words(labels, n)
    lines = _lines(selection, columns)
    height, width = images.shape[1:3]
    across = max(len(places) for _, places in lines)
    step_x, step_y = 1.15 * width, 1.15 * height + 0.34 * max(height, width)
    inches = 0.62 / max(height, width)
    beside = 0.7 if selection.classes else 0.2  # room for names of classes
    own, (figure, ax) = ax is None, _place(ax, (
        max(3.6, inches * step_x * (across + beside)), inches * step_y * len(lines) + 0.35))
    low, high = float(images.min()), float(images.max())
    for line, (name, places) in enumerate(lines):
        top = line * step_y
        if name:
            ax.text(-0.25 * width, top + height / 2, _short(name, 16), ha="right", va="center",
                    fontsize=9, color=DARK, **LITERAL)
        for column, place in enumerate(places):
            left = column * step_x
            ax.imshow(images[place], cmap=cmap, vmin=low, vmax=high, interpolation="nearest",
                      extent=(left, left + width, top + height, top))
            ax.add_patch(Rectangle((left, top), width, height, fill=False, edgecolor=LIGHT,
                                   linewidth=0.5))
            caption = _amount(selection.weights[place])
            if words is not None:
                caption = f"{_short(words[int(selection.exemplars[place])], 12)}: {caption}"
            ax.text(left + width / 2, top + height * 1.04, caption, ha="center", va="top",
                    fontsize=7, color=GREY, **LITERAL)
    ax.set_xlim(-0.1 * width, across * step_x)
    ax.set_ylim(len(lines) * step_y, -0.1 * height)
    ax.set_axis_off()
    ax.set_anchor("NW")
    if own:
        _note(ax, f"{len(selection)} of {n} points; under each, how many it stands for")
    return figure


def convergence(chosen: Any, *, ax: Axes | None = None) -> Figure:
    """How objective and gap fell, step by step, as parts of the objective at the start.

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
    selection = _selection(chosen)
    parts = [s for s in selection.classes.values() or [selection]
             if len(s.trace.get("f", ())) and s.f_at_zero > 0]
    if not parts:
        raise ValueError("there are no steps to show: only FWSR and K-FWSR have an objective and a "
                         "gap after each step")
    figure, ax = _place(ax, (5.2, 3.2))
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
    _plain_log(ax)
    _tidy(ax, "step", "part of the objective at the start")
    if len(parts) == 1:
        _mark_growth(ax, np.asarray(parts[0].trace["beta"]))
    titles = {"f": ("objective", ACCENT), "gap": ("gap", GREY)}
    _label_ends(ax, [(*ends[name], *titles[name]) for name in ends])
    if len(parts) > 1:
        _note(ax, f"{len(parts)} classes, a pair of lines each")
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
        From :func:`fwsr.path`; several by their names.
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
    paths = dict(path) if isinstance(path, Mapping) else {"": path}
    drawn = [random] if isinstance(random, Path) else list(random or [])
    for one in [*paths.values(), *drawn]:
        if not isinstance(one, Path):
            raise TypeError(f"error_path shows what fwsr.path returns, got {type(one).__name__}")
    if not paths:
        raise ValueError("there is no path to show: the dictionary is empty")
    figure, ax = _place(ax, (5.2, 3.2))
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
            ends.append((float(k[-1]), float(one.error[-1]), _short(name, 24), colour))
        elif drawn:
            ends.append((float(k[-1]), float(one.error[-1]), "chosen", colour))
    ax.set_ylim(bottom=0)
    _tidy(ax, "number of exemplars", "reconstruction error")
    _label_ends(ax, ends)
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
        A label for every point: a colour and, at the median of its points, its name.
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
    selection = _selection(chosen)
    data = _data.as_data(X)
    n, d = data.shape
    _require_rows(selection, n)
    if max_points < 2:
        raise ValueError(f"max_points must be at least 2, got {max_points}")
    words = _words(y, n)
    per_row = d if data.values is None or not sp.issparse(data.values) else max(
        1, data.values.nnz // max(1, n))
    shown = np.unique(np.linspace(0, n - 1, min(n, max_points, max(1000, 50_000_000 // per_row)))
                      .round().astype(np.int64))
    position, marks, shares = _plane(data.rows(shown), data.rows(selection.exemplars))
    own, (figure, ax) = ax is None, _place(ax, (5.2, 4.4))
    size = float(np.clip(8000 / len(shown), 1.5, 10))
    weights = np.nan_to_num(selection.weights)
    areas = 22 + 170 * weights / max(float(weights.max()), 1e-300)
    named = words is not None
    names, places = np.unique(words if words is not None else [""] * n, return_inverse=True)
    for c, name in enumerate(names):
        members = position[places[shown] == c]
        of_class = np.flatnonzero(places[selection.exemplars] == c)
        of_class = of_class[np.argsort(-areas[of_class], kind="stable")]  # small ones on top
        colour, marker = PALETTE[c % len(PALETTE)], MARKERS[c // len(PALETTE) % len(MARKERS)]
        ax.scatter(members[:, 0], members[:, 1], s=size, color=colour if named else LIGHT,
                   marker=marker, alpha=0.4 if named else 1, linewidths=0, rasterized=True)
        ax.scatter(marks[of_class, 0], marks[of_class, 1], s=areas[of_class], color=colour,
                   marker=marker, edgecolors=DARK if named else "white", linewidths=0.8, alpha=0.9,
                   zorder=3)
        if named and len(members):
            x, middle = np.median(members, axis=0)
            ax.text(x, middle, _short(name, 16), ha="center", va="center", fontsize=9,
                    fontweight="bold", color=DARK, zorder=4,
                    path_effects=[withStroke(linewidth=2.5, foreground="white")], **LITERAL)
    _tidy(ax, *(f"component {i + 1}, {share:.0%} of the variance" for i, share in
                enumerate(shares)))
    ax.set_xticks([])
    ax.set_yticks([])
    some = "" if len(shown) == n else f"; {len(shown)} of these shown"
    if own or some:
        _note(ax, f"{len(selection)} exemplars, area by weight, of {n} points{some}")
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
    figure, panels = _panels(ax, len(measures), len(table))
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
                panel.annotate(_measured(name, value), (value + deviation, row), xytext=(3, 0),
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
        first = i % _ACROSS == 0 or ax is not None
        panel.set_yticks(rows, [_short(m.name, 30) for m in table] if first else [], fontsize=8,
                         color=DARK, **LITERAL)
        if first:
            for row, m in enumerate(table):
                if not m.trials:
                    most = 28 * (1 if ax is not None else min(_ACROSS, len(measures)))
                    note = panel.text(0.02 * panel.get_xlim()[1], row, _short(m.reason, most),
                                      va="center", fontsize=7, color=GREY, **LITERAL,
                                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
                    note.set_in_layout(False)
                    panel.set_zorder(1)  # the note runs across the panels to the right
    return figure


# ------------------------------------------------------------------------------------------- parts

_ACROSS = 4  # panels of a comparison in a line


def _selection(chosen: Any) -> Selection:
    found = getattr(chosen, "selection_", getattr(chosen, "selection", chosen))
    if not isinstance(found, Selection):
        if hasattr(chosen, "fit"):
            raise ValueError(f"this {type(chosen).__name__} is not fitted; call fit first")
        raise TypeError("chosen must be a Selection or a fitted estimator of fwsr, got "
                        f"{type(chosen).__name__}")
    if len(found) == 0:
        raise ValueError("there are no exemplars to show")
    return found


def _place(ax: Axes | None, size: tuple[float, float]) -> tuple[Figure, Axes]:
    if ax is not None:
        return _figure_of(ax), ax
    figure = Picture(figsize=size, dpi=120, layout="constrained")
    return figure, figure.add_subplot()


def _figure_of(ax: Axes) -> Figure:
    figure = ax.figure
    return figure if isinstance(figure, Figure) else figure.figure  # a part of a figure knows it


def _panels(ax: Any, count: int, methods: int) -> tuple[Figure, list[Axes]]:
    if ax is not None:
        panels = [ax] if isinstance(ax, Axes) else list(np.ravel(np.asarray(ax, dtype=object)))
        if len(panels) != count:
            raise ValueError(f"there are {count} measures and {len(panels)} axes; give as many")
        return _figure_of(panels[0]), panels
    lines = math.ceil(count / _ACROSS)
    figure = Picture(figsize=(1.2 + 1.7 * min(count, _ACROSS), (0.75 + 0.24 * methods) * lines),
                     dpi=120, layout="constrained")
    grid = figure.subplots(lines, min(count, _ACROSS), squeeze=False).ravel()
    for spare in grid[count:]:
        spare.set_axis_off()
    return figure, list(grid[:count])


def _tidy(ax: Axes, x: str, y: str) -> None:
    ax.set_xlabel(x, fontsize=9, color=DARK)
    ax.set_ylabel(y, fontsize=9, color=DARK)
    ax.tick_params(labelsize=8, color=GREY, labelcolor=DARK)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set_color(GREY)


def _plain_log(ax: Axes) -> None:
    """Decades where there are some; else numbers as people write them."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    low, high = ax.get_ylim()
    if low > 0 and high / low < 50:
        ax.yaxis.set_minor_formatter(FuncFormatter(
            lambda v, _: f"{v:g}" if f"{v:.0e}"[0] in "25" else ""))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
        ax.tick_params(which="minor", labelsize=8, color=GREY, labelcolor=DARK)
    else:
        ax.yaxis.set_minor_formatter(NullFormatter())


def _note(ax: Axes, text: str) -> None:
    ax.set_title(text, loc="left", fontsize=8, color=GREY)


def _mark_growth(ax: Axes, radius: np.ndarray) -> None:
    """Lines where the radius was enlarged, the first with a word."""
    grown = np.flatnonzero(radius[1:] > radius[:-1]) + 1.5  # between two steps, which count from 1
    for i, place in enumerate(grown):
        ax.axvline(place, color=LIGHT, linewidth=0.8, zorder=0)
        if i == 0:
            ax.annotate("radius doubled", (place, 1), xycoords=("data", "axes fraction"),
                        xytext=(-3, -2), textcoords="offset points", ha="right", va="top",
                        fontsize=7, color=GREY)


def _label_ends(ax: Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Names of lines at their right ends, at least a line of text apart."""
    ax.autoscale_view()
    right = float(ax.dataLim.x1)
    ax.set_xlim(ax.get_xlim()[0], right if right > ax.get_xlim()[0] else None)
    ax.set_ylim(ax.get_ylim())
    ends = sorted(ends, key=lambda end: end[1])
    heights = [float(ax.transData.transform(end[:2])[1]) * 72 / ax.figure.dpi for end in ends]
    bottom = float(ax.transAxes.transform((0, 0))[1]) * 72 / ax.figure.dpi
    labels, lowest = list(heights), min([bottom + 5, *heights])
    for _ in range(20 * len(labels)):
        labels[:1] = [max(h, lowest) for h in labels[:1]]
        for i in range(1, len(labels)):
            short = max(0.0, 12 - (labels[i] - labels[i - 1]))
            labels[i - 1], labels[i] = labels[i - 1] - short / 2, labels[i] + short / 2
    for (x, y, text, colour), height, label in zip(ends, heights, labels):
        ax.annotate(text, (x, y), xytext=(5, label - height), textcoords="offset points",
                    va="center", fontsize=8, color=colour, annotation_clip=False, **LITERAL)


def _plane(rows: Any, exemplars: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of rows and of exemplars in the plane of largest variance, and its two shares."""
    values = rows.data if sp.issparse(rows) else rows
    if not np.isfinite(values).all():
        raise ValueError("X contains NaN or infinity; remove these points or fill in the values")
    if sp.issparse(rows) and min(rows.shape) > 3:
        from sklearn.decomposition import PCA

        pca = PCA(2, svd_solver="arpack", random_state=0).fit(rows)
        shares = np.nan_to_num(pca.explained_variance_ratio_)
        return pca.transform(rows), pca.transform(exemplars), shares
    from sklearn.utils.extmath import randomized_svd

    dense = [m.toarray() if sp.issparse(m) else np.asarray(m) for m in (rows, exemplars)]
    mean = dense[0].mean(axis=0, dtype=np.float64).astype(dense[0].dtype)
    centred = dense[0] - mean
    _, values, axes = randomized_svd(centred, 2, random_state=0)
    total = float(np.square(centred, dtype=np.float64).sum())
    shares, directions = np.zeros(2), np.zeros((2, centred.shape[1]), dtype=centred.dtype)
    directions[:len(axes)] = axes
    if total > 0:
        shares[:len(values)] = np.square(values, dtype=np.float64) / total
    return centred @ directions.T, (dense[1] - mean) @ directions.T, shares


def _images(X: Any, selection: Selection, shape: Any) -> tuple[np.ndarray, int]:
    """The exemplars' pixels, one image each, and the number of points there are."""
    if hasattr(X, "ndim") and X.ndim in (3, 4) and not sp.issparse(X):
        n = int(X.shape[0])
        _require_rows(selection, n)
        if shape is not None and tuple(shape) != tuple(X.shape[1:]):
            raise ValueError(f"the images are of shape {tuple(X.shape[1:])}, not {tuple(shape)}")
        pixels, shape = np.asarray(_data.take(X, selection.exemplars)), tuple(X.shape[1:])
    else:
        if isinstance(X, str) or hasattr(X, "__fspath__"):
            X = _data.read(X)
        n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        _require_rows(selection, n)
        pixels = _data.as_data(_data.take(X, selection.exemplars)).values
        pixels = pixels.toarray() if sp.issparse(pixels) else pixels
        shape = _shape_of(pixels.shape[1], shape)
    if not np.isfinite(pixels).all():
        raise ValueError("the exemplars contain NaN or infinity; fill in the values")
    images = pixels.reshape(len(pixels), *shape).astype(np.float64)
    return (images if len(shape) == 2 else _as_colours(images)), n


def _shape_of(d: int, given: Any) -> tuple[int, ...]:
    if given is None:
        for pixels, colours in ((d, ()), (d // 3, (3,))):
            side = math.isqrt(pixels)
            if side * side * math.prod(colours) == d:
                return (side, side, *colours)
        raise ValueError(f"{d} pixels are no square image; give shape=(height, width)")
    shape = tuple(int(s) for s in given)
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] not in (3, 4)):
        raise ValueError(f"shape is (height, width) or (height, width, 3) and 4, got {shape}")
    if math.prod(shape) != d:
        raise ValueError(f"an image of shape {shape} has {math.prod(shape)} values, the points "
                         f"have {d}")
    return shape


def _as_colours(images: np.ndarray) -> np.ndarray:
    """Into 0 to 1: as they are, of 255, or between the least and the largest."""
    if images.shape[-1] not in (3, 4):
        raise ValueError("colours have 3 or 4 channels, last of all; these have "
                         f"{images.shape[-1]}")
    low, high = float(images.min()), float(images.max())
    if low >= 0 and high <= 255:
        return images / (255 if high > 1 else 1)
    return (images - low) / max(high - low, 1e-300)


def _lines(selection: Selection, columns: int) -> list[tuple[str, list[int]]]:
    """Places of the exemplars line by line; per class with the name before its first line."""
    groups, start = [], 0
    for name, part in (selection.classes or {"": selection}).items():
        groups.append((name, list(range(start, start + len(part)))))
        start += len(part)
    return [(name if first == 0 else "", places[first:first + columns])
            for name, places in groups for first in range(0, len(places), columns)]


def _require_rows(selection: Selection, n: int) -> None:
    fitted = n if selection.assignment is None else len(selection.assignment)
    if fitted != n or int(selection.exemplars.max()) >= n:
        raise ValueError(f"the exemplars were chosen from other points: X has {n}, there were "
                         f"{max(fitted, int(selection.exemplars.max()) + 1)}; give the same X")


def _words(labels: Any, n: int) -> list[str] | None:
    if labels is None:
        return None
    labels = np.asarray(labels)
    if labels.ndim != 1 or len(labels) != n:
        raise ValueError(f"there must be one label for each of {n} points, got shape "
                         f"{labels.shape}")
    return [_data.class_name(v) for v in labels]


def _short(text: Any, most: int) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= most else line[:most - 1] + "…"


def _amount(weight: float) -> str:
    return "" if not np.isfinite(weight) else f"{weight:.0f}" if weight >= 10 else f"{weight:.3g}"


def _measured(name: str, value: float) -> str:
    if name == "peak_bytes":
        return str(_core.format_bytes(value))
    return f"{value:.3g}" if value < 1000 else f"{float(f'{value:.3g}'):,.0f}"
