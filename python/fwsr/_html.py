"""Small tables for notebooks. Everything that is shown is text, whatever the data holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from . import _core

#: Lines of a selection that are shown.
_SHOWN = 10
#: Longer names are cut off: a table is to be looked at.
_LONGEST = 40


def selection(columns: Mapping[str, Sequence[Any]], caption: str) -> str:
    """The first exemplars."""
    first = zip(*(column[:_SHOWN] for column in columns.values()))
    rows = [[_number(cell) if isinstance(cell, float) else cell for cell in row] for row in first]
    more = len(columns["index"]) - _SHOWN
    return table(caption, list(columns), rows + ([["…", f"and {more} more"]] if more > 0 else []))


def comparison(methods: Sequence[Any], measures: Sequence[str]) -> str:
    """What the printed table says: means with their deviations, and a star for the best."""
    titles = {name: title for name, title, _, _ in _core.measures()}
    best = {name: _core.best_of(name, [m.mean(name) for m in methods]) for name in measures}
    rows = [[m.name, *(_measured(m, name) + (" *" if best[name][i] else "") for name in measures)]
            if m.trials else [m.name, f"{m.outcome.replace('_', ' ')}: {m.reason}"]
            for i, m in enumerate(methods)]
    return table("mean ± standard deviation over the runs; * marks the best of each column",
                 ["method", *(titles[name] for name in measures)], rows)


def _measured(method: Any, name: str) -> str:
    text = _core.measured_text(name, method.mean(name), method.deviation(name))
    return "" if text == "-" else text.replace("+-", "± ")


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"


def table(caption: str, header: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    """A table with a line of words under it; a row of two cells has its second across the rest."""
    lines = ["<table>", _row(header, "th", len(header))]
    lines += [_row(row, "td", len(header)) for row in rows]
    return "\n".join([*lines, "</table>", f"<p>{escape(caption)}</p>"])


def _row(cells: Sequence[Any], tag: str, width: int) -> str:
    across = width - len(cells) + 1
    out = []
    for i, cell in enumerate(cells):
        wide = across > 1 and i == len(cells) - 1
        left = ' style="text-align: left"' if wide or i == 0 else ""
        out.append(f"<{tag}{f' colspan={across}' if wide else ''}{left}>"
                   f"{escape(str(cell) if wide else _short(cell))}</{tag}>")
    return f"<tr>{''.join(out)}</tr>"


def _short(cell: Any) -> str:
    text = str(cell)
    return text if len(text) <= _LONGEST else text[:_LONGEST - 1] + "…"
