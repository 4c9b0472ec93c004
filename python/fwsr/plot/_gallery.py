"""Exemplars as images."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .._pictures import (
    DARK,
    GREY,
    LIGHT,
    LITERAL,
    amount,
    axes_in,
    images_of,
    lines_of,
    selection_in,
    short,
    words_of,
    write_note,
)


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
