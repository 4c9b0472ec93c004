"""One style for all figures: lines with bands, saved as small SVG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

#: One colour and one mark for a method, in every figure.
STYLES: dict[str, tuple[str, str]] = {
    "fwsr": ("#d62728", "o"),
    "k-fwsr": ("#ff7f0e", "s"),
    "smrs": ("#1f77b4", "^"),
    "rrqr": ("#2ca02c", "v"),
    "kmedoids": ("#9467bd", "D"),
    "kmedoids, alternating": ("#8c564b", "d"),
    "random": ("#7f7f7f", "x"),
    "all": ("#000000", ""),
}
_OTHERS = ["#17becf", "#bcbd22", "#e377c2", "#393b79", "#637939", "#8c6d31"]


def style_of(name: str) -> dict[str, Any]:
    if name not in STYLES:
        colour = _OTHERS[sum(map(ord, name)) % len(_OTHERS)]
        return {"color": colour, "marker": "."}
    colour, marker = STYLES[name]
    return {"color": colour, "marker": marker or None}


def new(width: float = 7.0, height: float = 4.0, columns: int = 1) -> tuple[Any, Any]:
    """A figure and its axes (an array of them when there are several)."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams["svg.hashsalt"] = "fwsr"  # the same picture gives the same file
    made = Figure(figsize=(width, height), layout="constrained")
    return made, made.subplots(1, columns)


def band(axes: Any, x: Sequence[float], runs: Any, name: str, sigmas: float) -> None:
    """The mean of the runs (runs x len(x)) as a line, and a band of so many deviations."""
    runs = np.asarray(runs, dtype=float)
    mean, spread = runs.mean(axis=0), sigmas * runs.std(axis=0)
    style = style_of(name)
    axes.plot(x, mean, label=name, markersize=4, linewidth=1.4, **style)
    axes.fill_between(x, mean - spread, mean + spread, color=style["color"], alpha=0.12, lw=0)


def save(made: Any, folder: Path, name: str) -> None:
    for axes in made.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25, linewidth=0.5)
    folder.mkdir(parents=True, exist_ok=True)
    made.savefig(folder / f"{name}.svg", metadata={"Date": None})
