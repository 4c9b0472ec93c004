"""What the pictures of :mod:`fwsr.plot` are made of: figures, colours, text, planes and images."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from . import _containers, _core, _labels, _read
from ._images import shape_of
from ._results import Selection

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

ACROSS = 4  # panels of a comparison in a line


def selection_in(chosen: Any) -> Selection:
    found = getattr(chosen, "selection_", getattr(chosen, "selection", chosen))
    if not isinstance(found, Selection):
        if hasattr(chosen, "fit"):
            raise ValueError(f"this {type(chosen).__name__} is not fitted; call fit first")
        raise TypeError("chosen must be a Selection or a fitted estimator of fwsr, got "
                        f"{type(chosen).__name__}")
    if len(found) == 0:
        raise ValueError("there are no exemplars to show")
    return found


def axes_in(ax: Axes | None, size: tuple[float, float]) -> tuple[Figure, Axes]:
    if ax is not None:
        return figure_of(ax), ax
    figure = Picture(figsize=size, dpi=120, layout="constrained")
    return figure, figure.add_subplot()


def figure_of(ax: Axes) -> Figure:
    figure = ax.figure
    return figure if isinstance(figure, Figure) else figure.figure  # a part of a figure knows it


def panels_in(ax: Any, count: int, methods: int) -> tuple[Figure, list[Axes]]:
    if ax is not None:
        panels = [ax] if isinstance(ax, Axes) else list(np.ravel(np.asarray(ax, dtype=object)))
        if len(panels) != count:
            raise ValueError(f"there are {count} measures and {len(panels)} axes; give as many")
        return figure_of(panels[0]), panels
    lines = math.ceil(count / ACROSS)
    figure = Picture(figsize=(1.2 + 1.7 * min(count, ACROSS), (0.75 + 0.24 * methods) * lines),
                     dpi=120, layout="constrained")
    grid = figure.subplots(lines, min(count, ACROSS), squeeze=False).ravel()
    for spare in grid[count:]:
        spare.set_axis_off()
    return figure, list(grid[:count])


def tidy(ax: Axes, x: str, y: str) -> None:
    ax.set_xlabel(x, fontsize=9, color=DARK)
    ax.set_ylabel(y, fontsize=9, color=DARK)
    ax.tick_params(labelsize=8, color=GREY, labelcolor=DARK)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set_color(GREY)


def plain_log(ax: Axes) -> None:
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


def write_note(ax: Axes, text: str) -> None:
    ax.set_title(text, loc="left", fontsize=8, color=GREY)


def mark_growth(ax: Axes, radius: np.ndarray) -> None:
    """Lines where the radius was enlarged, the first with a word."""
    grown = np.flatnonzero(radius[1:] > radius[:-1]) + 1.5  # between two steps, which count from 1
    for i, place in enumerate(grown):
        ax.axvline(place, color=LIGHT, linewidth=0.8, zorder=0)
        if i == 0:
            ax.annotate("radius doubled", (place, 1), xycoords=("data", "axes fraction"),
                        xytext=(-3, -2), textcoords="offset points", ha="right", va="top",
                        fontsize=7, color=GREY)


def label_ends(ax: Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
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


def classes_in_order(words: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """The classes, numbers before words and 2 before 10; for every word the index of its class."""
    def as_people_count(name: str) -> tuple[bool, int, str]:
        number = name.isdecimal() and len(name) < 19
        return not number, int(name) if number else 0, name

    names = sorted(set(words), key=as_people_count)
    position = {name: c for c, name in enumerate(names)}
    return names, np.array([position[word] for word in words], dtype=np.int64)


def class_style(c: int) -> tuple[str, str]:
    """Colour and marker of class number c: 21 colours in three shades, and a marker for each shade.

    Dots are too small for markers to tell them apart, so the colours differ as well.
    """
    shade = c // len(PALETTE)
    white, part = ((0.0, 1.0), (0.0, 0.62), (0.5, 0.5))[shade % 3]  # as it is, darker, lighter
    red, green, blue = (white + part * v for v in to_rgb(PALETTE[c % len(PALETTE)]))
    return to_hex((red, green, blue)), MARKERS[shade % len(MARKERS)]


def name_classes(ax: Axes, names: list[str], middles: np.ndarray, *, widen: bool) -> None:
    """Names in the middle of their classes where none covers another, else in a key.

    `widen`: the picture may grow to the right for it.
    """
    if len(names) <= _NAMED_IN_PLACE:
        outline = [withStroke(linewidth=2.5, foreground="white")]
        texts = [ax.text(x, y, short(name, 16), ha="center", va="center", fontsize=9,
                         fontweight="bold", color=DARK, zorder=4, path_effects=outline, **LITERAL)
                 for name, (x, y) in zip(names, middles) if np.isfinite(x)]
        ax.autoscale_view()
        boxes = [text.get_window_extent() for text in texts]
        if not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i]):
            return
        for text in texts:
            text.remove()
    _add_key(ax, names, widen)


#: Of more classes than these, people look names up in a key rather than hunt for them in the map.
_NAMED_IN_PLACE = 12
_KEY_LINES, _KEY_NAMES = 24, 72


def _add_key(ax: Axes, names: list[str], widen: bool) -> None:
    handles = []
    for c, name in enumerate(names[:_KEY_NAMES]):
        colour, marker = class_style(c)
        handles.append(Line2D([], [], linestyle="none", marker=marker, markersize=5, color=colour,
                              markeredgecolor=DARK, markeredgewidth=0.6, label=short(name, 24)))
    if (more := len(names) - _KEY_NAMES) > 0:
        handles.append(Line2D([], [], linestyle="none", label=f"and {more} more"))
    columns = math.ceil(len(handles) / _KEY_LINES)
    if widen:
        longest = max(len(str(handle.get_label())) for handle in handles)
        figure = figure_of(ax)
        width, height = figure.get_size_inches()
        figure.set_size_inches(width + columns * (0.35 + 0.068 * longest), height)
    key = ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0,
                    frameon=False, fontsize=8, labelcolor=DARK, handletextpad=0.2, ncols=columns,
                    columnspacing=1.0, labelspacing=0.35)
    for text in key.get_texts():
        text.set_parse_math(False)
        text.set_usetex(False)


def plane_of(rows: Any, exemplars: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


def images_of(X: Any, selection: Selection, shape: Any) -> tuple[np.ndarray, int]:
    """The exemplars' pixels, one image each, and the number of points there are."""
    if hasattr(X, "ndim") and X.ndim in (3, 4) and not sp.issparse(X):
        n = int(X.shape[0])
        require_rows(selection, n)
        if shape is not None and tuple(shape) != tuple(X.shape[1:]):
            raise ValueError(f"the images are of shape {tuple(X.shape[1:])}, not {tuple(shape)}")
        pixels, shape = np.asarray(_containers.take(X, selection.exemplars)), tuple(X.shape[1:])
    else:
        if isinstance(X, str) or hasattr(X, "__fspath__"):
            X = _read.read(X)
        n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        require_rows(selection, n)
        taken = _containers.as_data(_containers.take(X, selection.exemplars))
        pixels = taken.rows(np.arange(len(taken)))
        pixels = pixels.toarray() if sp.issparse(pixels) else pixels
        shape = shape_of(pixels.shape[1], shape)
    if not np.isfinite(pixels).all():
        raise ValueError("the exemplars contain NaN or infinity; fill in the values")
    images = pixels.reshape(len(pixels), *shape).astype(np.float64)
    return (images if len(shape) == 2 else as_colours(images)), n


def as_colours(images: np.ndarray) -> np.ndarray:
    """Into 0 to 1: as they are, of 255, or between the least and the largest."""
    if images.shape[-1] not in (3, 4):
        raise ValueError("colours have 3 or 4 channels, last of all; these have "
                         f"{images.shape[-1]}")
    low, high = float(images.min()), float(images.max())
    if low >= 0 and high <= 255:
        return images / (255 if high > 1 else 1)
    return (images - low) / max(high - low, 1e-300)


def lines_of(selection: Selection, columns: int) -> list[tuple[str, list[int]]]:
    """Places of the exemplars line by line; per class with the name before its first line."""
    groups, start = [], 0
    for name, part in (selection.classes or {"": selection}).items():
        groups.append((name, list(range(start, start + len(part)))))
        start += len(part)
    return [(name if first == 0 else "", places[first:first + columns])
            for name, places in groups for first in range(0, len(places), columns)]


def require_rows(selection: Selection, n: int) -> None:
    fitted = n if selection.assignment is None else len(selection.assignment)
    if fitted != n or int(selection.exemplars.max()) >= n:
        raise ValueError(f"the exemplars were chosen from other points: X has {n}, there were "
                         f"{max(fitted, int(selection.exemplars.max()) + 1)}; give the same X")


def words_of(labels: Any, n: int) -> list[str] | None:
    if labels is None:
        return None
    labels = np.asarray(labels)
    if labels.ndim != 1 or len(labels) != n:
        raise ValueError(f"there must be one label for each of {n} points, got shape "
                         f"{labels.shape}")
    return [_labels.class_name(v) for v in labels]


def short(text: Any, most: int) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= most else line[:most - 1] + "…"


def amount(weight: float) -> str:
    if not np.isfinite(weight):
        return ""
    number = f"{weight:.0f}" if weight >= 10 else f"{weight:.3g}"
    return f"{number} point" + ("" if number == "1" else "s")


def measured(name: str, value: float) -> str:
    if name == "peak_bytes":
        return str(_core.format_bytes(value))
    return f"{value:.3g}" if value < 1000 else f"{float(f'{value:.3g}'):,.0f}"
