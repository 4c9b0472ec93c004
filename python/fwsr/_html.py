"""Small tables for notebooks. Everything that is shown is text, whatever the data holds."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

#: Longer names are cut off: a table is to be looked at.
_LONGEST = 40


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
